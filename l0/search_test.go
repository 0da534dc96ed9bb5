package l0

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"knowledged/document"
)

// SPEC 2.3: title > keywords/aliases > summary > headings > body; equal scores in a fixed order.
func TestSearch_2_3_FieldOrder(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{
		passage("5-body", "timeout"),
		{Path: "4", Chunks: []document.Chunk{{ID: "4-breadcrumb", Breadcrumb: "timeout", Text: "other words"}}},
		withHead("3-summary", document.Head{Title: "other", Keywords: []string{"other"}, Summary: "timeout"}),
		withHead("2-alias", document.Head{Title: "other", Keywords: []string{"other"}, Aliases: []string{"timeout"}, Summary: "s"}),
		withHead("2-keyword", document.Head{Title: "other", Keywords: []string{"other", "timeout"}, Summary: "s"}),
		withHead("1-title", document.Head{Title: "timeout", Keywords: []string{"other"}, Summary: "s"}),
	}})
	want := []string{"1-title", "2-alias", "2-keyword", "3-summary", "4-breadcrumb", "5-body"}
	if got := search(t, x, "Timeout"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !slices.IsSortedFunc(weights[:], func(a, b float32) int { return int(b*10) - int(a*10) }) {
		t.Errorf("weights out of order: %v", weights)
	}
}

func TestSearch_2_3_TiesByID(t *testing.T) {
	x := openIndex(t, t.TempDir())
	for _, id := range []string{"d", "b", "a", "e", "c"} { // in segments of their own
		apply(t, x, Batch{Put: []Put{passage(id, "缓存穿透")}})
	}
	for k := 1; k <= 6; k++ {
		r, err := x.Search(context.Background(), "缓存穿透", SearchOptions{K: k})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range r.Hits {
			if want := string(rune('a' + i)); h.ChunkID != want || h.Score != r.Hits[0].Score {
				t.Errorf("K %d: hit %d is %v, want %s", k, i, h, want)
			}
		}
		if len(r.Hits) != min(k, 5) {
			t.Errorf("K %d: %d hits", k, len(r.Hits))
		}
	}
}

func caseIndex(t *testing.T) *Index {
	x := openIndex(t, t.TempDir())
	var puts []Put
	for path, n := range caseNames {
		p := withHead(path, document.Head{Title: n.Title, Keywords: n.Keywords, Summary: "s", Headings: []string{"H"}})
		p.Chunks = append(p.Chunks, document.Chunk{ID: path + "-1", Breadcrumb: n.Title + " > H", Text: "body"})
		puts = append(puts, p)
	}
	puts = append(puts, withHead("cafe", document.Head{Title: "cafe\u0301 menu", Keywords: []string{"カ\u3099イト\u3099"}}),
		withHead("trad", document.Head{Title: "快取穿透解決方案", Keywords: []string{"資料庫"}}))
	apply(t, x, Batch{Put: puts})
	return x
}

// The kinds of the black-box search and text cases: the first hit for each query.
func TestSearch_2_8_Cases(t *testing.T) {
	x := caseIndex(t)
	tests := map[string]string{
		"C++": "cpp", "C#": "cs", "C": "c", "c 语言": "c", ".NET": "net", "node.js": "node", "NODE": "node",
		"E11000": "mongo", "e11000 duplicate key": "mongo", "ERROR: hello": "log", "error": "log",
		"timeout": "err", "err_timeout": "err", "ERR_TIMEOUT": "err", "timeouts": "err", "redis": "mix", "REDIS 雪崩": "mix",
		"缓存 redis": "mix", "Redis缓存": "mix", "雪崩": "mix", "not": "stop", "all": "stop", "about": "stop",
		"to be or not to be": "stop", "如何解决缓存穿透？": "pen", "缓存穿透、雪崩": "pen", "连接池": "pool", "池": "pool",
		"user": "camel", "getUserName": "camel", "username": "", "etc hosts": "path", "café": "cafe", "cafe\u0301": "cafe",
		"ガイド": "cafe", "ｶﾞｲﾄﾞ": "cafe", "資料庫": "trad", "数据库": "pool",
	}
	for query, want := range tests {
		got := search(t, x, query)
		if want == "" && len(got) == 0 {
			continue
		}
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s first", query, got, want)
		}
	}
}

// SPEC 2.8: whatever is typed is text, never an operator of the engine; "*" is not everything.
func TestSearch_2_8_Operators(t *testing.T) {
	x := caseIndex(t)
	for _, q := range []string{
		"", " ", "/", "/[/", "\"unclosed", "+", "-", "~", "^", "(", "[1 TO", "\\", "a:", "title:x", "foo:bar", "*", "?", "AND", "NOT",
		"a && b", "50%", "don't", "@nasa", "#tag", "x\\y", "multi-agent", "--flag", "<x>", "a;b", "{}", "'; drop", "\x00x", "🚀", "，",
		"；：「」", "\x00", "\xff\xfe", "\u200b",
	} {
		got := search(t, x, q)
		if len(got) > len(caseNames) {
			t.Errorf("%q returns nearly all: %d hits", q, len(got))
		}
	}
	if got := search(t, x, "*"); len(got) != 0 {
		t.Errorf("* returns %v", got)
	}
}

func TestSearch_LoneCharacter(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{
		passage("inside", "遇到死锁时重试"), passage("end", "出现了死锁"), passage("begin", "锁的粒度"), passage("not", "死机"),
		withHead("title", document.Head{Title: "死锁排查", Keywords: []string{"x"}}),
	}})
	got := search(t, x, "锁")
	slices.Sort(got)
	if want := []string{"begin", "end", "inside", "title"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSearch_KeepFiltersBeforeCounting(t *testing.T) {
	x := openIndex(t, t.TempDir())
	for i := range 50 {
		apply(t, x, Batch{Put: []Put{passage(fmt.Sprintf("%02d", i), strings.Repeat("timeout ", 50-i))}})
	}
	r, err := x.Search(context.Background(), "timeout", SearchOptions{K: 3, Keep: func(id string) bool { return id >= "40" }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 3 || r.Hits[0].ChunkID != "40" {
		t.Errorf("%v", r.Hits)
	}
	if r, _ := x.Search(context.Background(), "timeout", SearchOptions{}); r.Hits == nil || len(r.Hits) != 0 || r.Ideal == 0 {
		t.Errorf("K 0: %+v", r)
	}
}

func TestSearch_2_3_ExplainAddsUp(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{
		withHead("head", document.Head{Title: "支付网关超时", Keywords: []string{"ERR_TIMEOUT", "支付网关"}, Summary: "网关 timeout"}),
		passage("b", "网关 timeout timeout"), passage("c", "nothing"),
	}})
	r, err := x.Search(context.Background(), "支付网关 timeout 网关", SearchOptions{K: 10, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 2 || r.Hits[0].ChunkID != "head" {
		t.Fatalf("hits: %v", r.Hits)
	}
	fields := map[string]bool{}
	for _, h := range r.Hits {
		sum := 0.0
		for _, c := range h.Why {
			sum += c.Score
			fields[c.Field] = true
		}
		if math.Abs(sum-h.Score) > 1e-4 {
			t.Errorf("%s: parts add up to %v, score %v", h.ChunkID, sum, h.Score)
		}
		if h.Score > r.Ideal {
			t.Errorf("%s: score %v above I(q) %v", h.ChunkID, h.Score, r.Ideal)
		}
	}
	for _, f := range []string{"title", "keywords", "summary", "body"} {
		if !fields[f] {
			t.Errorf("no part from field %s", f)
		}
	}
}

func TestSearch_IdealAndCoverage(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{passage("a", "alpha beta"), passage("b", "alpha"), passage("c", "gamma"), passage("d", "delta")}})
	get := func(q string) Result {
		r, err := x.Search(context.Background(), q, SearchOptions{K: 5})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// I(q) = 2.2 Σ idf over 4 chunks; a term that is nowhere has ln(1 + (N + .5) / .5).
	beta, absent := math.Log(1+3.5/1.5), math.Log(1+4.5/0.5)
	if got, want := get("beta beta zeta").Ideal, 2.2*(beta+absent); math.Abs(got-want) > 1e-6 {
		t.Errorf("ideal %v, want %v", got, want)
	}
	if got, want := get("beta zeta").Coverage, beta/(beta+absent); math.Abs(got-want) > 1e-6 {
		t.Errorf("coverage %v, want %v", got, want)
	}
	if got := get("alpha beta").Coverage; math.Abs(got-1) > 1e-6 {
		t.Errorf("coverage of a full hit: %v", got)
	}
	r, err := x.Search(context.Background(), "gamma beta zeta", SearchOptions{})
	if want := 2 * beta / (2*beta + absent); err != nil || len(r.Hits) != 0 || math.Abs(r.Coverage-want) > 1e-6 {
		t.Errorf("known to the folder, in one chunk or several: %v, want %v; %v", r.Coverage, want, err)
	}
	// Of the chunks to consider alone, "gamma" is known to none.
	full := get("beta").Hits
	r, err = x.Search(context.Background(), "gamma beta", SearchOptions{Keep: func(id string) bool { return id == full[0].ChunkID }})
	if err != nil || r.Coverage <= 0 || r.Coverage >= 0.999 {
		t.Errorf("known to the chunks to consider: %v, %v", r.Coverage, err)
	}
	if got := get("zeta"); got.Coverage != 0 || len(got.Hits) != 0 || got.Hits == nil {
		t.Errorf("nothing found: %+v", got)
	}
	// Where nobody writes an identifier so, its parts stand for it.
	if got, want := get("beta-gamma").Ideal, get("beta gamma").Ideal; math.Abs(got-want) > 1e-6 {
		t.Errorf("ideal of an unknown identifier %v, of its parts %v", got, want)
	}
}

func TestSearch_DeletedChunksDoNotCount(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{passage("a", "alpha"), passage("b", "alpha"), passage("c", "beta")}})
	search(t, x, "alpha") // fills the cache of postings
	apply(t, x, Batch{GoneChunks: []string{"a"}})
	r, err := x.Search(context.Background(), "alpha", SearchOptions{K: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 1 || r.Hits[0].ChunkID != "b" {
		t.Errorf("hits: %v", r.Hits)
	}
	if want := 2.2 * math.Log(2); math.Abs(r.Ideal-want) > 1e-6 {
		t.Errorf("idf counts deleted chunks: ideal %v, want %v", r.Ideal, want)
	}
}

func TestSearch_Cancelled(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{passage("a", "alpha")}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, q := range []string{"alpha", longQuery(3000)} {
		if _, err := x.Search(ctx, q, SearchOptions{K: 5}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled search: %v", err)
		}
	}
}

func longQuery(words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// A pasted page is cut to its most telling words and stays quick (case se-very-long).
func TestSearch_LongQuery(t *testing.T) {
	x := openIndex(t, t.TempDir())
	var put []Put
	for i := range 200 {
		put = append(put, passage(fmt.Sprintf("%03d", i), "common words of each page"))
	}
	put = append(put, passage("rare", "needle"))
	apply(t, x, Batch{Put: put})
	var b strings.Builder
	for i := range maxTerms + 50 {
		fmt.Fprintf(&b, "common words of each page x%d ", i)
	}
	b.WriteString("needle")
	r, err := x.Search(context.Background(), b.String(), SearchOptions{K: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) == 0 || r.Hits[0].ChunkID != "rare" {
		t.Errorf("the rare word is lost: %v", r.Hits)
	}
	start := time.Now()
	for _, q := range []string{strings.Repeat("缓存 穿透 ", 20_000), longQuery(10_000), strings.Repeat("a", 100_000), strings.Repeat("锁 ", 10_000)} {
		search(t, x, q)
		x.Match(q)
	}
	t.Logf("four very long queries in %v", time.Since(start))
}

func TestCache_KeepsWhatIsUsed(t *testing.T) {
	var c postingsCache
	big := &postings{list: make([]posting, cacheBytes/8/8)} // an eighth of the room
	hot := postingsKey{segment: 1, term: "hot"}
	c.put(hot, big)
	for i := range 100 {
		c.put(postingsKey{segment: 2, term: fmt.Sprint(i)}, big)
		if c.get(hot) == nil {
			t.Fatalf("lost the term in use after %d others", i)
		}
		if c.size() > cacheBytes+2*cacheBytes/8 {
			t.Fatalf("cache holds %d bytes", c.size())
		}
	}
	if c.get(postingsKey{segment: 2, term: "0"}) != nil {
		t.Error("keeps all")
	}
}
