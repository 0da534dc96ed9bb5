package embedding

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// naiveMatches is how well each piece of the query is matched in a passage, and how important it is.
func naiveMatches(b *Builtin, query string, p Passage) (matches, weights []float64) {
	var s scratch
	row := func(id int32) []float64 {
		out := make([]float64, b.model.dims)
		for d, v := range b.model.row(id) {
			out[d] = float64(b.model.scale[id]) * float64(int8(v))
		}
		return out
	}
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	seen := map[int32]bool{}
	for _, text := range []string{p.Breadcrumb, p.Text} {
		for _, id := range b.model.tokenize(text, &s) {
			seen[id] = true
		}
	}
	for _, id := range b.model.tokenize(query, &s) {
		q := row(id)
		w := math.Sqrt(dot(q, q))
		best := 0.0
		for other := range seen {
			r := row(other)
			best = max(best, (dot(q, r)/(w*math.Sqrt(dot(r, r)))-chance)/(1-chance))
		}
		matches, weights = append(matches, best), append(weights, w)
	}
	return matches, weights
}

// naiveSoft is the formula word for word, each occurrence of a piece by itself.
func naiveSoft(b *Builtin, query string, passages []Passage) []float64 {
	out := make([]float64, len(passages))
	matches := make([][]float64, len(passages))
	var weights []float64
	for i, p := range passages {
		matches[i], weights = naiveMatches(b, query, p)
	}
	n := float64(len(passages))
	total := 0.0
	for k := range weights {
		with := 0.0
		for i := range passages {
			with += matches[i][k]
		}
		weights[k] *= math.Log(1 + (n-with+0.5)/(with+0.5))
		total += weights[k]
	}
	for i := range out {
		for k, w := range weights {
			out[i] += w * matches[i][k] / total
		}
	}
	return out
}

func TestSoftIsTheFormula(t *testing.T) {
	b := builtin(t)
	var passages []Passage
	for i, l := range parityLines(t) {
		passages = append(passages, Passage{Breadcrumb: fmt.Sprintf("运维 > node %d", i%7), Text: l.Text})
	}
	passages = append(passages, Passage{}, Passage{Text: "😀"})
	for _, q := range []string{"连接超时怎么办", "how do I restart the restart service", "timeout", "a b c d e 连接"} {
		want := naiveSoft(b, q, passages)
		for range 2 { // the second time from the cache
			got := b.Soft(q, passages)
			for i, p := range passages {
				if math.Abs(got[i]-want[i]) > 1e-5 {
					t.Errorf("%q on %q: %v, want %v", q, p.Text, got[i], want[i])
				}
			}
		}
	}
}

// A word that all passages have does not decide between them; one that few have does.
func TestSoftWeighsByRarity(t *testing.T) {
	b := builtin(t)
	passages := []Passage{{Text: "gateway timeout"}, {Text: "gateway certificate"}}
	for range 20 {
		passages = append(passages, Passage{Text: "the gateway and its plugins"})
	}
	got := b.Soft("gateway certificate", passages)
	if got[1] < 2*got[2] || got[1] < 2*got[0] || got[1] > 1 {
		t.Errorf("scores %v", got[:3])
	}
}

func TestSoftOrders(t *testing.T) {
	b := builtin(t)
	got := b.Soft("支付超时", []Passage{
		{Text: "天气很好，我们去公园。"},
		{Breadcrumb: "支付网关 > 错误", Text: "交易超时后请重试。"},
		{Text: "payment gateway timeout"},
	})
	if !(got[1] > got[0] && got[2] > got[0]) {
		t.Errorf("scores %v", got)
	}
}

func TestSoftOfNothing(t *testing.T) {
	b := builtin(t)
	if got := b.Soft("", []Passage{{Text: "x"}}); len(got) != 1 || got[0] != 0 {
		t.Errorf("empty query: %v", got)
	}
	if got := b.Soft("timeout", nil); len(got) != 0 {
		t.Errorf("no passages: %v", got)
	}
}

// A pasted log costs no more than maxSoftPieces allows.
func TestSoftBoundsLongQueries(t *testing.T) {
	b := builtin(t)
	var long strings.Builder
	for _, l := range parityLines(t) {
		long.WriteString(l.Text)
	}
	pieces := b.queryPieces(strings.Repeat(long.String(), 20))
	if len(pieces) != maxSoftPieces {
		t.Fatalf("%d pieces", len(pieces))
	}
	for i := 1; i < len(pieces); i++ {
		if pieces[i].weight > pieces[i-1].weight {
			t.Fatalf("piece %d is heavier than the one before", i)
		}
	}
}

// Rows too long for the packed lanes are rounded, not wrapped around.
func TestSoftPackedLanesOfExtremeRows(t *testing.T) {
	image := tinyModel(t, []string{"甲", "乙", "丙", "丁"}, 256)
	rows := image[len(image)-4*256:]
	for d := range 256 {
		for piece, v := range []int8{127, -128, 127, int8(127 * (1 - 2*(d%2)))} {
			rows[piece*256+d] = byte(v)
		}
	}
	b, err := newBuiltin(image)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"甲", "乙", "丁", "甲乙丙丁"} {
		for _, p := range []string{"甲", "乙", "丁"} {
			got, want := b.Soft(q, []Passage{{Text: p}})[0], naiveSoft(b, q, []Passage{{Text: p}})[0]
			if math.Abs(got-want) > 0.01 {
				t.Errorf("%s on %s: %v, want %v", q, p, got, want)
			}
		}
	}
}

func TestPieceCacheIsBounded(t *testing.T) {
	b := builtin(t)
	c := &b.soft.pieces
	c.limit = 100_000
	old := Passage{Text: "kept in use 始终"}
	for i := range 5_000 {
		b.Soft("x", []Passage{{Text: fmt.Sprintf("entry %d 超时 timeout of the gateway in region %d", i, i%100)}, old})
		if c.bytes > c.limit+1000 || len(c.young)+len(c.old) > 2500 {
			t.Fatalf("after %d: %d bytes, %d + %d entries", i, c.bytes, len(c.young), len(c.old))
		}
	}
	if len(c.old) == 0 {
		t.Fatal("no generation was dropped")
	}
}

// samplePassages are n texts of some 800 characters; words follow the model's vocabulary with Zipf's frequencies, as in
// documentation, so that 90 of them hold some thousands of distinct pieces.
func samplePassages(m *model, n int) []Passage {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 20, uint64(m.pieces-1))
	byFrequency := make([]int32, m.pieces)
	for i := range byFrequency {
		byFrequency[i] = int32(i)
	}
	slices.SortFunc(byFrequency, func(a, b int32) int { return cmp.Compare(m.logProb[b], m.logProb[a]) })
	out := make([]Passage, n)
	for i := range out {
		var sb strings.Builder
		for count := 0; count < 800; {
			piece := string(m.piece(byFrequency[zipf.Uint64()]))
			piece = strings.ReplaceAll(piece, wordStart, " ")
			sb.WriteString(piece)
			count += utf8.RuneCountInString(piece)
		}
		out[i] = Passage{Breadcrumb: "手册 > 安装", Text: sb.String()}
	}
	return out
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := NewBuiltin(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	m := builtin(b)
	for _, bc := range []struct{ name, text string }{
		{"query", "支付网关连接超时怎么办 how to retry"},
		{"chunk800", samplePassages(m.model, 1)[0].Text},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.EmbedQuery(b.Context(), bc.text)
			}
		})
	}
}

func BenchmarkSoft(b *testing.B) {
	m := builtin(b)
	passages := samplePassages(m.model, 90)
	query := "支付网关连接超时怎么办 how to retry"
	distinct := make(map[int32]bool)
	for _, p := range passages {
		for _, id := range m.model.tokenize(p.Text, &scratch{}) {
			distinct[id] = true
		}
	}
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Soft(query, passages)
		}
		b.ReportMetric(float64(len(distinct)), "pieces")
	})
	b.Run("cold", func(b *testing.B) {
		start := time.Now()
		for i := 0; b.Loop(); i++ {
			for k := range passages {
				passages[k].Breadcrumb = fmt.Sprint(start, i)
			}
			m.Soft(query, passages)
		}
	})
}
