package lookup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"knowledged/document"

	"pgregory.net/rapid"
)

func chunkOf(path string, n int, text, cosine, soft float64) candidate {
	return candidate{
		id: fmt.Sprintf("%s#%d", path, n), path: path, text: text, bm25: 10 * text, cosine: cosine, soft: soft,
		inText: text > 0, inL1: cosine > 0, why: -1,
	}
}

func paths(list []fused) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.path)
	}
	return out
}

// SPEC 2.8: cosine + 1.5 × BM25/I + 0.75 × soft, one entry a document, by its best chunk: each measure's best over the chunks
// counts .7, the best sum in one chunk .3.
func TestScoreFusion_2_8(t *testing.T) {
	f := Fusion{}.withDefaults()
	list := f.fuse(nil, []candidate{
		chunkOf("a", 1, 0.4, 0.3, 0.2), chunkOf("a", 2, 0.1, 0.5, 0.5),
		chunkOf("b", 1, 0, 0.9, 0.4), chunkOf("c", 1, 0.5, 0, 0),
	}, false)
	wantList(t, "order", paths(list), []string{"a", "b", "c"})
	if a := list[0]; math.Abs(a.score-0.7*(0.5+1.5*0.4+0.75*0.5)-0.3*(0.3+1.5*0.4+0.75*0.2)) > 1e-9 || a.best.id != "a#1" || a.ranks != (Ranks{Fulltext: 2, Semantic: 2}) {
		t.Errorf("a: %+v best %+v", a, a.best)
	}
	if b := list[1]; b.ranks != (Ranks{Semantic: 1}) {
		t.Errorf("b: %+v", b.ranks)
	}
	if c := list[2]; c.ranks != (Ranks{Fulltext: 1}) || math.Abs(c.parts.Fulltext-0.75) > 1e-9 {
		t.Errorf("c: %+v", c)
	}
}

func TestRRF_2_8(t *testing.T) {
	f := Fusion{Method: FusionRRF}.withDefaults()
	exact := []exactMatch{{path: "c", strength: 0.1}}
	list := f.fuse(exact, []candidate{chunkOf("a", 1, 0.4, 0.3, 0), chunkOf("b", 1, 0.3, 0.9, 0), chunkOf("c", 1, 0.1, 0.1, 0)}, false)
	wantList(t, "order", paths(list), []string{"c", "a", "b"}) // a and b are level: by path
	if got, want := list[0].score, 1/61.+2/63.; math.Abs(got-want) > 1e-12 {
		t.Errorf("score %v, want %v", got, want)
	}
	f.RRF = RRF{K: 60, Fulltext: 1}
	list = f.fuse(exact, []candidate{chunkOf("a", 1, 0.4, 0.3, 0), chunkOf("b", 1, 0.3, 0.9, 0)}, false)
	wantList(t, "full text alone", paths(list), []string{"a", "b", "c"})
}

// A head chunk stands for its document only where no passage comes near it: a passage says where to look.
func TestPassageBeforeHead(t *testing.T) {
	f := Fusion{}.withDefaults()
	head := chunkOf("a", 0, 0.4, 0.5, 0)
	head.head = true
	for _, tt := range []struct {
		cosine float64
		best   string
	}{{0.3, "a#1"}, {0.1, "a#0"}} {
		if got := f.fuse(nil, []candidate{head, chunkOf("a", 1, 0.4, tt.cosine, 0)}, false)[0].best.id; got != tt.best {
			t.Errorf("passage of cosine %v: best %s, want %s", tt.cosine, got, tt.best)
		}
	}
}

// Fusion never costs an exact hit (SPEC 2.8, 2.4): a name that covers the query leads; one that many share only helps.
func TestExactMatchInFusion(t *testing.T) {
	f := Fusion{}.withDefaults()
	chunks := []candidate{chunkOf("near", 1, 0.9, 0.9, 0.9), chunkOf("named", 1, 0.2, 0.1, 0.1), chunkOf("far", 1, 0.1, 0.1, 0.1)}
	wantList(t, "leads", paths(f.fuse([]exactMatch{{path: "named", strength: 1, cover: 1}}, chunks, false)), []string{"named", "near", "far"})
	wantList(t, "helps", paths(f.fuse([]exactMatch{{path: "far", strength: 0.4, cover: 0.4}}, chunks, false)), []string{"near", "named", "far"})
	wantList(t, "name only", paths(f.fuse([]exactMatch{{path: "unseen", strength: 0.6, cover: 0.6}}, chunks, false)), []string{"unseen", "near", "named", "far"})
	// Shared by many, yet the whole query: no lower than full text alone puts it.
	chunks = append(chunks, chunkOf("other", 1, 0.19, 0.9, 0.9))
	list := f.fuse([]exactMatch{{path: "named", strength: 0.2, cover: 1}}, chunks, false)
	wantList(t, "keeps its rank", paths(list), []string{"near", "named", "other", "far"})
}

// Properties of any fusion: no document twice, none lost, a full order that the order of the input does not change, and
// exact matches that cover the query never below where full text puts them.
func TestFusionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fusion{Method: rapid.SampledFrom([]string{FusionScore, FusionRRF}).Draw(t, "method")}.withDefaults()
		unit := rapid.Float64Range(0, 1)
		var chunks []candidate
		want := map[string]bool{}
		for i := range rapid.IntRange(0, 30).Draw(t, "chunks") {
			p := fmt.Sprintf("d%d", rapid.IntRange(0, 9).Draw(t, "doc"))
			chunks = append(chunks, chunkOf(p, i, unit.Draw(t, "text"), unit.Draw(t, "cosine"), unit.Draw(t, "soft")))
			want[p] = true
		}
		var exact []exactMatch
		for i := range rapid.IntRange(0, 5).Draw(t, "exact") {
			cover := unit.Draw(t, "cover")
			exact = append(exact, exactMatch{path: fmt.Sprintf("d%d", 2*i), cover: cover, strength: cover * unit.Draw(t, "rarity")})
			want[exact[i].path] = true
		}
		list := f.fuse(exact, chunks, false)
		seen := map[string]bool{}
		for i, d := range list {
			if seen[d.path] || !want[d.path] {
				t.Fatalf("%s twice or from nowhere", d.path)
			}
			seen[d.path] = true
			if d.cover >= leadStrength && d.ranks.Fulltext > 0 && i+1 > d.ranks.Fulltext {
				t.Fatalf("%s is %d, full text had it at %d", d.path, i+1, d.ranks.Fulltext)
			}
		}
		if len(seen) != len(want) {
			t.Fatalf("%d documents of %d", len(seen), len(want))
		}
		shuffled := slices.Clone(chunks)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := paths(f.fuse(exact, shuffled, false)); !slices.Equal(again, paths(list)) {
			t.Fatalf("order depends on the input's: %v, %v", paths(list), again)
		}
		topK := rapid.IntRange(1, MaxTopK).Draw(t, "topK")
		chosen := choose(list, topK)
		if len(chosen) != min(topK, len(list)) {
			t.Fatalf("chose %d of %d for topK %d", len(chosen), len(list), topK)
		}
		listed := 0
		for _, d := range chosen {
			if d.ranks.Exact > 0 {
				listed++
			}
		}
		if topK >= wholeList && listed < min(topK, len(exact)) {
			t.Fatalf("%d exact matches listed of %d at topK %d", listed, len(exact), topK)
		}
	})
}

// What a match is worth: its share of the query, less for names that several documents share.
func TestWeighMatches(t *testing.T) {
	contains := func(path string, names ...string) exactMatch {
		m := exactMatch{path: path}
		for _, n := range names {
			m.names = append(m.names, document.MatchedName{Name: n, Kind: "keyword", How: "query_contains_name"})
		}
		return m
	}
	part := func(path, name string) exactMatch {
		return exactMatch{path: path, names: []document.MatchedName{{Name: name, Kind: "keyword", How: "name_contains_query"}}}
	}
	for _, tt := range []struct {
		name, query     string
		matches         []exactMatch
		cover, strength float64 // of the first
	}{
		{"the query itself", "ERR_TIMEOUT", []exactMatch{contains("a", "err_timeout")}, 1, 1},
		{"full width", "ＥＲＲ＿ＴＩＭＥＯＵＴ", []exactMatch{contains("a", "err_timeout")}, 1, 1},
		{"a blank between scripts", "MySQL 主从", []exactMatch{contains("a", "MySQL主从")}, 1, 1},
		{"marks around a name", "如何解决支付手册", []exactMatch{contains("a", "《支付手册》")}, 1, 1},
		{"neither punctuation nor question words count", "如何解决缓存穿透？", []exactMatch{contains("a", "缓存穿透")}, 1, 1},
		{"an ideograph counts for two letters", "redis 雪崩", []exactMatch{contains("a", "redis")}, 5. / 9, 5. / 9},
		{"overlapping names count once", "支付网关", []exactMatch{contains("a", "支付", "支付网关", "网关")}, 1, 1},
		{"two names", "redis 雪崩 原理", []exactMatch{contains("a", "redis", "雪崩")}, 9. / 13, 9. / 13},
		{"shared by four", "redis", []exactMatch{contains("a", "redis"), contains("b", "redis"), contains("c", "Redis"), contains("d", "“redis”")}, 1, 0.5},
		{"part of a name", "timeout", []exactMatch{part("a", "ERR_TIMEOUT")}, 1, 1},
		{"part of many names", "支付", []exactMatch{
			part("a", "支付网关"), part("b", "支付宝"), part("c", "支付单"), part("d", "支付"),
			part("e", "支付1"), part("f", "支付2"), part("g", "支付3"), part("h", "支付4"), part("i", "支付5"),
		}, 1, 1. / 3},
		{"keyword and title alike are one document", "redis", []exactMatch{contains("a", "redis", "Redis")}, 1, 1},
		{"a name of punctuation", "/", []exactMatch{contains("a", "/")}, 1, 1},
		{"C++", "C++", []exactMatch{contains("a", "c++")}, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			weighMatches(tt.query, tt.matches)
			if m := tt.matches[0]; math.Abs(m.cover-tt.cover) > 0.01 || math.Abs(m.strength-tt.strength) > 0.01 {
				t.Errorf("cover %.3f, strength %.3f; want %.3f, %.3f", m.cover, m.strength, tt.cover, tt.strength)
			}
		})
	}
}

func BenchmarkFuse(b *testing.B) {
	f := Fusion{}.withDefaults()
	r := rand.New(rand.NewPCG(1, 2))
	var chunks []candidate
	for i := range 360 {
		chunks = append(chunks, chunkOf(fmt.Sprintf("dir/document-%d.md", r.IntN(120)), i, r.Float64(), r.Float64(), r.Float64()))
	}
	exact := []exactMatch{{path: "dir/document-3.md", cover: 1, strength: 0.5}, {path: "dir/document-7.md", cover: 0.2, strength: 0.1}}
	b.ReportAllocs()
	for b.Loop() {
		f.fuse(exact, chunks, false)
	}
}
