package l0

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
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

// fill makes an index of several segments on disk and returns its folder.
func fill(t *testing.T) (dir string, total int) {
	dir = t.TempDir()
	x := openIndex(t, dir)
	for i := range 6 {
		apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), strings.Repeat("缓存穿透 timeout ", 50))}})
		if i%2 == 1 { // a segment of its own
			x.writing.Lock()
			x.flush()
			x.writing.Unlock()
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, 6
}

// SPEC 2.10: a broken index on disk is set aside and rebuilt, not fatal.
func TestOpen_2_10_Damage(t *testing.T) {
	segments := func(dir string) []string {
		found, _ := filepath.Glob(filepath.Join(dir, indexVersion, "*.zap"))
		if len(found) == 0 {
			t.Fatal("no segments")
		}
		return found
	}
	bolt := func(dir string) string { return filepath.Join(dir, indexVersion, "root.bolt") }
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damages := map[string]func(dir string){
		"segment removed":   func(dir string) { os.Remove(segments(dir)[0]) },
		"segment truncated": func(dir string) { os.Truncate(segments(dir)[0], 200) },
		"segment empty":     func(dir string) { os.Truncate(segments(dir)[0], 0) },
		"segment garbage":   func(dir string) { write(segments(dir)[0], []byte(strings.Repeat("garbage!", 500))) },
		"segment bit flipped": func(dir string) {
			data, _ := os.ReadFile(segments(dir)[0])
			data[len(data)/2] ^= 1
			write(segments(dir)[0], data)
		},
		"root.bolt removed":   func(dir string) { os.Remove(bolt(dir)) },
		"root.bolt truncated": func(dir string) { os.Truncate(bolt(dir), 5000) },
		"root.bolt empty":     func(dir string) { os.Truncate(bolt(dir), 0) },
		"root.bolt garbage":   func(dir string) { write(bolt(dir), []byte(strings.Repeat("garbage!", 8192))) },
		"root.bolt zeros in the middle": func(dir string) {
			data, _ := os.ReadFile(bolt(dir))
			clear(data[8192:])
			write(bolt(dir), data)
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir, total := fill(t)
			damage(dir)
			var log strings.Builder
			x, err := Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if name != "root.bolt empty" { // which is how bleve begins; IDs tell
				if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "rebuilding") {
					t.Errorf("want one WARN that names the remedy:\n%s", &log)
				}
				if aside, _ := filepath.Glob(filepath.Join(dir, indexVersion+".broken-*")); len(aside) != 1 {
					t.Errorf("set aside: %v", aside)
				}
			}
			if got := ids(t, x); len(got) != 0 {
				t.Errorf("a broken index must start empty, has %v", got)
			}
			for i := range total { // the rebuilding that the caller does
				apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
			}
			if got := search(t, x, "缓存"); len(got) != total {
				t.Errorf("after rebuilding: %v", got)
			}
		})
	}
}

// A crash leaves the files of some moment: what is missing then is told by IDs, what is there is right.
func TestOpen_AfterCrash(t *testing.T) {
	dir := t.TempDir()
	x := openIndex(t, dir)
	for i := range 30 {
		apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
	}
	crashed := t.TempDir()
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	y := openIndex(t, crashed)
	there := ids(t, y)
	if got := len(search(t, y, "缓存")); got != len(there) {
		t.Errorf("finds %d of %d chunks", got, len(there))
	}
	for i := range 30 {
		apply(t, y, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
	}
	if got := len(search(t, y, "缓存")); got != 30 {
		t.Errorf("after putting all again: %d", got)
	}
}

func TestOpen_InUseIsNotDamage(t *testing.T) {
	dir := t.TempDir()
	x := openIndex(t, dir)
	apply(t, x, Batch{Put: []Put{passage("a", "text")}})
	if y, err := Open(dir, slog.New(slog.DiscardHandler)); err == nil {
		y.Close()
		t.Fatal("opened twice")
	}
	if got := search(t, x, "text"); len(got) != 1 {
		t.Errorf("the first lost its content: %v", got)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*.broken-*")); len(aside) != 0 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestOpen_RemovesOldVersions(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"v0", "v99", "v0.broken-20250101T000000.000", "v1.broken-20250102T000000.000", "mine", "v2x"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	openIndex(t, dir)
	entries, _ := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"mine", "v1", "v1.broken-20250102T000000.000", "v2x"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestOpen_NoPermissionIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if x, err := Open(dir, slog.New(slog.DiscardHandler)); err == nil {
		x.Close()
		t.Error("opened below a file")
	} else if !strings.Contains(err.Error(), dir) {
		t.Errorf("error does not name the folder: %v", err)
	}
}

// A segment that loses its content under a running daemon must cost an answer, not the process.
func TestSearch_FaultInMappedFile(t *testing.T) {
	dir, _ := fill(t)
	x := openIndex(t, dir)
	found, _ := filepath.Glob(filepath.Join(dir, indexVersion, "*.zap"))
	for _, path := range found {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Search(context.Background(), "缓存", SearchOptions{K: 5}); err == nil {
		t.Error("search of a vanished file gave no error")
	}
	if got := x.Match("缓存"); got == nil {
		t.Error("the exact table must go on")
	}
}

func TestHealth_ReportsOnceAndRecovers(t *testing.T) {
	var log strings.Builder
	h := newHealth("some/dir", slog.New(slog.NewTextHandler(&log, nil)))
	h.stop() // report then does not wait for the next try
	h.report(errors.New("no space left on device"))
	h.report(errors.New("no space left on device"))
	h.persisted()
	h.persisted()
	if strings.Count(log.String(), "level=WARN") != 1 || strings.Count(log.String(), "level=INFO") != 1 {
		t.Errorf("want one WARN and one INFO:\n%s", &log)
	}
	if h.err() != nil {
		t.Errorf("a full disk does not break the index: %v", h.err())
	}
}

func TestHealth_DeadIndexAnswersErrors(t *testing.T) {
	x := openIndex(t, t.TempDir())
	x.log = slog.New(slog.DiscardHandler)
	x.health.log = x.log
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.health.report(fmt.Errorf("merger: %w", scorch.ErrAsyncPanic))
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("report hangs")
	}
	if err := x.Apply(Batch{GoneChunks: []string{"a"}}); err == nil {
		t.Error("apply on a dead index")
	}
	if _, err := x.Search(context.Background(), "a", SearchOptions{K: 1}); err == nil {
		t.Error("search on a dead index")
	}
}
