package l0

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"knowledged/document"
)

// syntheticChunks gives the document a head chunk and five passages of some 600 characters. Words follow a Zipf
// distribution, as those of real text do.
func syntheticChunks(p Put, rnd *rand.Rand, words []string, zipf *rand.Zipf) []document.Chunk {
	chunks := []document.Chunk{{
		ID:   fmt.Sprintf("%032x", rnd.Uint64()),
		Head: &document.Head{Title: p.Names.Title, Keywords: p.Names.Keywords, Summary: "本文介绍" + p.Names.Title, Headings: []string{"背景", "排查步骤", "配置"}},
	}}
	for i := range 5 {
		var b strings.Builder
		for b.Len() < 1400 {
			b.WriteString(words[zipf.Uint64()])
			if rnd.IntN(8) == 0 {
				b.WriteString("，")
			}
		}
		chunks = append(chunks, document.Chunk{ID: fmt.Sprintf("%032x", rnd.Uint64()), Breadcrumb: p.Names.Title + " > 排查步骤 " + fmt.Sprint(i), Text: b.String()})
	}
	return chunks
}

func syntheticIndex(tb testing.TB, documents int) *Index {
	x, err := Open(tb.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { x.Close() })
	rnd := rand.New(rand.NewPCG(5, 6))
	han := []rune("的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严")
	words := make([]string, 30000)
	for i := range words {
		if i%3 == 0 {
			words[i] = fmt.Sprintf(" w%s%d ", string(rune('a'+i%26)), i)
			continue
		}
		words[i] = string([]rune{han[rnd.IntN(len(han))], han[rnd.IntN(len(han))]})
	}
	zipf := rand.NewZipf(rnd, 1.2, 4, uint64(len(words)-1))
	puts := syntheticPuts(documents)
	for i := 0; i < len(puts); i += 200 {
		part := puts[i:min(i+200, len(puts))]
		for j := range part {
			part[j].Chunks = syntheticChunks(part[j], rnd, words, zipf)
		}
		if err := x.Apply(Batch{Put: part}); err != nil {
			tb.Fatal(err)
		}
		for j := range part {
			part[j].Chunks = nil
		}
	}
	return x
}

func BenchmarkSearch(b *testing.B) {
	start := time.Now()
	x := syntheticIndex(b, 10000)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.Logf("indexed in %v, heap from system %d MB", time.Since(start).Round(time.Millisecond), m.HeapSys>>20)
	queries := map[string]string{
		"2chars": "支付", "6chars": "支付网关超时", "20chars": "支付网关超时以后应该如何排查与处理这个问题",
		"identifier": "ERR_TIMEOUT", "english": "why does the payment gateway return a timeout",
		"common": "的一是在不了有和人这中大为上", "8000chars": strings.Repeat("支付网关超时以后应该如何排查与处理这个问题 w1 w2 ", 320),
	}
	for name, q := range queries {
		b.Run(name, func(b *testing.B) {
			times := make([]time.Duration, 0, b.N)
			for b.Loop() {
				start := time.Now()
				if _, err := x.Search(context.Background(), q, SearchOptions{K: 100}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
