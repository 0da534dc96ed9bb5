package l0

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"knowledged/document"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openIndex(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func apply(t testing.TB, x *Index, b Batch) {
	t.Helper()
	if err := x.Apply(b); err != nil {
		t.Fatal(err)
	}
}

// passage makes a document with one passage; its id is made from the path.
func passage(path, text string) Put {
	return Put{Path: path, Chunks: []document.Chunk{{ID: path, Breadcrumb: "H", Text: text}}}
}

// withHead makes a document as the daemon would: in the table, with a head chunk.
func withHead(path string, h document.Head) Put {
	return Put{
		Path: path, InTable: true, Names: Names{h.Title, h.Keywords, h.Aliases},
		Chunks: []document.Chunk{{ID: path, Head: &h, Breadcrumb: h.Title}},
	}
}

func search(t testing.TB, x *Index, query string) []string {
	t.Helper()
	r, err := x.Search(context.Background(), query, SearchOptions{K: 100})
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	ids := []string{}
	for _, h := range r.Hits {
		ids = append(ids, h.ChunkID)
	}
	return ids
}

func ids(t testing.TB, x *Index) []string {
	t.Helper()
	set, err := x.IDs()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(set))
}

func TestApply_VisibleAtOnce(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{withHead("a", document.Head{Title: "缓存穿透", Keywords: []string{"缓存"}}), passage("b", "缓存 雪崩")}})
	if got := search(t, x, "缓存"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("after put: %v", got)
	}
	if got := paths(x.Match("缓存")); !slices.Equal(got, []string{"a"}) {
		t.Errorf("exact after put: %v", got)
	}
	apply(t, x, Batch{Gone: []string{"a"}, GoneChunks: []string{"a", "never there"}})
	if got := search(t, x, "缓存"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after delete: %v", got)
	}
	if got := x.Match("缓存"); len(got) != 0 {
		t.Errorf("exact after delete: %v", got)
	}
	if got := ids(t, x); !slices.Equal(got, []string{"b"}) {
		t.Errorf("ids: %v", got)
	}
}

func TestApply_PutsOnlyWhatIsMissing(t *testing.T) {
	x := openIndex(t, t.TempDir())
	p := passage("a", "first text")
	apply(t, x, Batch{Put: []Put{p}})
	p.Chunks[0].Text = "second text" // an id stands for its content, so nothing is written
	apply(t, x, Batch{Put: []Put{p, p}})
	if got := search(t, x, "second"); len(got) != 0 {
		t.Errorf("chunk was written again: %v", got)
	}
	// A chunk that one document loses and another gains stays.
	apply(t, x, Batch{Put: []Put{p}, GoneChunks: []string{"a"}})
	if got := search(t, x, "first"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("chunk put and gone in one batch: %v", got)
	}
	apply(t, x, Batch{GoneChunks: []string{"a"}})
	apply(t, x, Batch{Put: []Put{p}})
	if got := search(t, x, "second"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("put after delete: %v", got)
	}
}

func TestApply_LargeBatchIsSplit(t *testing.T) {
	x := openIndex(t, t.TempDir())
	var put []Put
	for i := range 2*maxBatchChunks + 10 {
		put = append(put, passage(fmt.Sprintf("%05d", i), "timeout"))
	}
	put = append(put, passage("big1", strings.Repeat("word ", maxBatchBytes/5)), passage("big2", "end"))
	apply(t, x, Batch{Put: put})
	if got := len(ids(t, x)); got != len(put) {
		t.Errorf("%d chunks, want %d", got, len(put))
	}
}

func TestSetNames_FillsTableOnly(t *testing.T) {
	x := openIndex(t, t.TempDir())
	var puts []Put
	for i := range 2500 {
		puts = append(puts, Put{Path: fmt.Sprintf("%05d", i), InTable: true, Names: Names{Keywords: []string{fmt.Sprintf("key %d", i)}}})
	}
	x.SetNames(puts)
	if got := paths(x.Match("what is key 2400?")); !slices.Equal(got, []string{"02400"}) {
		t.Errorf("match: %v", got)
	}
	if x.ExactBytes() < 10_000 || x.Bytes() < x.ExactBytes() {
		t.Errorf("sizes: exact %d, all %d", x.ExactBytes(), x.Bytes())
	}
	if got := ids(t, x); len(got) != 0 {
		t.Errorf("full text: %v", got)
	}
}

func TestRestart_KeepsFullText(t *testing.T) {
	dir := t.TempDir()
	x := openIndex(t, dir)
	for i := range 20 {
		apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
	}
	apply(t, x, Batch{GoneChunks: []string{"c3"}})
	before := search(t, x, "缓存")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openIndex(t, dir)
	if got := search(t, x, "缓存"); len(got) != 19 || !slices.Equal(got, before) {
		t.Errorf("after restart: %v, before: %v", got, before)
	}
}

func TestClose_IsFinal(t *testing.T) {
	x := openIndex(t, t.TempDir())
	x.SetNames([]Put{{Path: "a", InTable: true, Names: Names{Keywords: []string{"key"}}}})
	for range 2 {
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Search(context.Background(), "a", SearchOptions{K: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("search: %v", err)
	}
	if err := x.Apply(Batch{GoneChunks: []string{"a"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("apply: %v", err)
	}
	if _, err := x.IDs(); !errors.Is(err, ErrClosed) {
		t.Errorf("ids: %v", err)
	}
	if got := paths(x.Match("key")); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the exact table needs no files: %v", got)
	}
}

func TestIndex_ConcurrentUse(t *testing.T) {
	x := openIndex(t, t.TempDir())
	apply(t, x, Batch{Put: []Put{withHead("fixed", document.Head{Title: "支付网关", Keywords: []string{"支付"}})}})
	var group sync.WaitGroup
	for g := range 2 {
		group.Go(func() {
			for i := range 40 {
				id := fmt.Sprint("doc", g, "-", i%10)
				b := Batch{Put: []Put{withHead(id, document.Head{Title: "支付 timeout", Keywords: []string{id}})}}
				if i%3 == 2 {
					b = Batch{Gone: []string{id}, GoneChunks: []string{id}}
				}
				if err := x.Apply(b); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 100 {
				r, err := x.Search(context.Background(), "支付网关 timeout", SearchOptions{K: 50, Explain: true})
				if err != nil || !slices.ContainsFunc(r.Hits, func(h document.Hit) bool { return h.ChunkID == "fixed" }) {
					t.Errorf("lost a chunk: %v %v", r.Hits, err)
				}
				if len(x.Match("支付网关")) == 0 {
					t.Error("lost a name")
				}
				x.Bytes()
			}
		})
	}
	group.Go(func() {
		for range 20 {
			if _, err := x.IDs(); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
}
