package embedded

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"knowledged/embedding"
	"knowledged/l1"
)

// Words that the sentences below are made of, in both languages of the model.
var (
	subjects = []string{
		"支付网关", "订单服务", "用户中心", "消息队列", "数据库主库", "缓存集群", "负载均衡", "配置中心", "日志平台", "定时任务",
		"The payment gateway", "The order service", "The message queue", "The primary database", "The cache cluster", "The load balancer", "The backup job", "The deploy pipeline", "The log collector", "The scheduler",
	}
	events = []string{
		"连接超时", "返回 502 错误", "磁盘写满", "证书过期", "内存泄漏", "主从延迟过高", "重复扣款", "启动失败", "无法解析域名", "拒绝访问",
		"times out", "returns HTTP 502", "runs out of disk space", "has an expired certificate", "leaks memory", "lags behind its replica", "loses messages", "fails to start", "cannot resolve a name", "denies access",
	}
	causes = []string{
		"在晚高峰流量突增时", "升级到新版本之后", "网络抖动期间", "修改配置之后", "迁移机房时", "跨区域调用时", "批量导入数据时", "当线程池耗尽时",
		"after an upgrade", "under heavy load at night", "when the network flaps", "after a change of configuration", "while importing data", "when the thread pool is exhausted", "during a fail-over", "with large uploads",
	}
	remedies = []string{
		"请先重启服务并检查监控告警。", "扩容节点并清理历史日志。", "回滚到上一个版本。", "联系运维更新证书。", "检查防火墙规则与安全组。", "调大超时时间和重试次数。", "重建索引并校验数据。", "将流量切换到备用集群。",
		"Restart it and look at the alerts.", "Add nodes and remove old logs.", "Roll back to the last release.", "Renew the certificate.", "Check the firewall rules.", "Raise the timeout and the number of retries.", "Rebuild the index and verify the data.", "Send the traffic to the standby cluster.",
	}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// passage is a made-up piece of a runbook: a few sentences on one subject, with a number as real ones have.
func passage(r *rand.Rand) embedding.Passage {
	subject, event := pick(r, subjects), pick(r, events)
	var text strings.Builder
	for range 2 + r.IntN(4) {
		fmt.Fprintf(&text, "%s %s，%s %s\n", subject, event, pick(r, causes), pick(r, remedies))
		if r.IntN(2) == 0 {
			subject = pick(r, subjects)
		}
		event = pick(r, events)
	}
	fmt.Fprintf(&text, "ERR_%04d", r.IntN(10000))
	return embedding.Passage{Breadcrumb: subject + " > " + pick(r, events), Text: text.String()}
}

// TestRecall compares what Search finds with an exact search over the model's own float32 vectors. Passages that score as
// high as the tenth count as found: made-up texts are often equally near.
func TestRecall(t *testing.T) {
	m, err := embedding.NewBuiltin()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	passages := make([]embedding.Passage, 6_000)
	for i := range passages {
		passages[i] = passage(r)
	}
	vectors, err := m.EmbedPassages(context.Background(), passages)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, t.TempDir(), m.Name(), m.Dimensions())
	byID := make(map[string][]float32)
	rows := make([]l1.Row, len(vectors))
	for i, v := range vectors {
		rows[i] = l1.Row{ID: fmt.Sprint(i), Vector: v, Category: []string{"api", "domain"}[i%2]}
		byID[rows[i].ID] = v
	}
	for batch := range slices.Chunk(rows, 500) {
		if err := s.Upsert(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if s.table.centre == nil {
		t.Fatal("the index is large, yet it has no signs")
	}
	for _, category := range []string{"", "domain"} {
		const queries, k = 40, 10
		found := 0
		for range queries {
			q, err := m.EmbedQuery(t.Context(), pick(r, subjects)+pick(r, events)+"怎么办")
			if err != nil {
				t.Fatal(err)
			}
			var exact []float32
			for i, v := range vectors {
				if category == "" || rows[i].Category == category {
					exact = append(exact, dot32(q, v))
				}
			}
			slices.SortFunc(exact, func(a, b float32) int { return cmp.Compare(b, a) })
			hits, err := s.Search(t.Context(), q, k, category)
			if err != nil || len(hits) != k {
				t.Fatalf("%d hits, %v", len(hits), err)
			}
			for _, h := range hits {
				score := dot32(q, byID[h.ID])
				if score >= exact[k-1]-1e-6 {
					found++
				}
				if d := h.Score - float64(score); d > 0.01 || d < -0.01 {
					t.Errorf("hit %s scores %v, exactly %v", h.ID, h.Score, score)
				}
			}
		}
		recall := float64(found) / (queries * k)
		t.Logf("category %q: recall@%d %.4f", category, k, recall)
		if recall < 0.98 {
			t.Errorf("category %q: recall@%d is %.4f, want .98", category, k, recall)
		}
	}
}

func dot32(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func BenchmarkSearch20k(b *testing.B) {
	s, _ := open(b, b.TempDir(), "m", 256)
	for i := 0; i < 20_000; i += 500 {
		fill(b, s, i, i+500)
	}
	queries := make([][]float32, 64)
	for i := range queries {
		queries[i] = vector(100_000+i, 256)
	}
	for _, category := range []string{"", "api"} {
		b.Run("category="+category, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if hits, err := s.Search(b.Context(), queries[i%len(queries)], 90, category); err != nil || len(hits) != 90 {
					b.Fatalf("%d hits, %v", len(hits), err)
				}
			}
			b.ReportMetric(float64(s.Bytes())/20_000, "memory-B/row")
		})
	}
}

func BenchmarkOpen20k(b *testing.B) {
	dir := b.TempDir()
	s, _ := open(b, dir, "m", 256)
	for i := 0; i < 20_000; i += 500 {
		fill(b, s, i, i+500)
	}
	s.Close()
	for b.Loop() {
		s, _ := open(b, dir, "m", 256)
		s.Close()
	}
}
