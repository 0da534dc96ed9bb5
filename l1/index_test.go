package l1

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"knowledged/document"
	"knowledged/embedding"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSource is the registry: chunks by id.
type fakeSource struct {
	mu     sync.Mutex
	chunks map[string]fakeChunk
}

type fakeChunk struct {
	path, category, text string
}

func (s *fakeSource) Chunk(id string) (document.Chunk, RowMeta, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.chunks[id]
	if !ok {
		return document.Chunk{}, RowMeta{}, false
	}
	return document.Chunk{ID: id, Breadcrumb: c.path, Text: c.text, Index: 2, Total: 7},
		RowMeta{Path: c.path, Source: "kb/" + c.path, FileName: "a.md", Category: c.category, Title: "T"}, true
}

func (s *fakeSource) ChunkIDs() iter.Seq[string] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Values(slices.Collect(maps.Keys(s.chunks)))
}

func (s *fakeSource) put(path string, texts ...string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		id := path + "#" + text
		s.chunks[id] = fakeChunk{path: path, category: strings.Split(path, "/")[0], text: text}
		ids = append(ids, id)
	}
	return ids
}

func (s *fakeSource) remove(ids ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.chunks, id)
	}
	return ids
}

// fakeStore is a store in memory that can fail, and counts.
type fakeStore struct {
	mu      sync.Mutex
	rows    map[string]Row
	err     error // of every call
	full    error // of Upsert
	upserts [][]string
	deletes [][]string
	lists   int
	retired int
	onWrite func() // called by Upsert and Delete before they do anything
}

func newFakeStore() *fakeStore { return &fakeStore{rows: map[string]Row{}} }

func (s *fakeStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *fakeStore) Upsert(ctx context.Context, rows []Row) error {
	if s.onWrite != nil {
		s.onWrite()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.err, s.full); err != nil {
		return err
	}
	var ids []string
	for _, r := range rows {
		s.rows[r.ID] = r
		ids = append(ids, r.ID)
	}
	s.upserts = append(s.upserts, ids)
	return ctx.Err()
}

func (s *fakeStore) Delete(ctx context.Context, ids []string) error {
	if s.onWrite != nil {
		s.onWrite()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	for _, id := range ids {
		delete(s.rows, id)
	}
	s.deletes = append(s.deletes, ids)
	return ctx.Err()
}

func (s *fakeStore) Search(ctx context.Context, vector []float32, k int, category string) ([]Hit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	var hits []Hit
	for id, r := range s.rows {
		if category != "" && r.Category != category {
			continue
		}
		var score float64
		for d := range vector {
			score += float64(vector[d]) * float64(r.Vector[d])
		}
		hits = append(hits, Hit{ID: id, Score: score})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	return hits[:min(k, len(hits))], ctx.Err()
}

func (s *fakeStore) IDs(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	if s.err != nil {
		return nil, s.err
	}
	return slices.Sorted(maps.Keys(s.rows)), ctx.Err()
}

func (s *fakeStore) listed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists
}

func (s *fakeStore) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows)
}

func (s *fakeStore) Bytes() int64 { return 1 }
func (s *fakeStore) Close() error { return nil }

func (s *fakeStore) Retire(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired++
	return nil
}

// fakeProvider is the hash provider with faults.
type fakeProvider struct {
	embedding.Hash
	mu    sync.Mutex
	calls []embedding.Passage // every passage asked for
	times []time.Time         // of each call
	err   func() error
	bad   string        // passages with this text fail
	away  string        // at such a passage, it is the server that fails
	wrong []float32     // vector of every passage instead of the right one
	takes time.Duration // each call
}

func (p *fakeProvider) EmbedPassages(ctx context.Context, passages []embedding.Passage) ([][]float32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, passages...)
	p.times = append(p.times, time.Now())
	if p.takes > 0 {
		time.Sleep(p.takes) // the bubble's time
	}
	if p.err != nil {
		if err := p.err(); err != nil {
			return nil, err
		}
	}
	out, err := p.Hash.EmbedPassages(ctx, passages)
	if err != nil {
		return out, err
	}
	var failed embedding.PassageErrors
	for i, passage := range passages {
		if p.away != "" && strings.Contains(passage.Text, p.away) {
			out[i] = nil
			return out, errors.New("503")
		}
		if p.wrong != nil {
			out[i] = p.wrong
		}
		if p.bad != "" && strings.Contains(passage.Text, p.bad) {
			out[i] = nil
			failed.Add(i, errors.New("the model gives NaN"))
		}
	}
	return out, failed.OrNil()
}

func (p *fakeProvider) asked(text string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.calls {
		if strings.Contains(c.Text, text) {
			n++
		}
	}
	return n
}

// world is an index with everything around it, in a bubble of synctest.
type world struct {
	t        *testing.T
	source   *fakeSource
	store    *fakeStore
	provider *fakeProvider
	log      *bytes.Buffer
	*Index
	stop func()
}

// run makes a world and, in it, an index whose Run has settled.
func run(t *testing.T, prepare func(w *world), body func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, source: &fakeSource{chunks: map[string]fakeChunk{}}, store: newFakeStore(), provider: &fakeProvider{}, log: &bytes.Buffer{}}
		if prepare != nil {
			prepare(w)
		}
		w.start()
		defer func() { w.stop() }()
		synctest.Wait()
		body(w)
	})
}

func (w *world) start() {
	w.Index = New(Config{
		Store: w.store, Provider: w.provider, Source: w.source,
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}
}

// lines counts what is logged; Run logs after it has woken those who wait for it.
func (w *world) lines(part string) int {
	synctest.Wait()
	return strings.Count(w.log.String(), part)
}

func (w *world) wantState(state string, pending int) {
	w.t.Helper()
	st := w.Status()
	if st.State != state || st.Pending != pending || w.Pending() != pending {
		w.t.Errorf("state %s with %d pending (%s), want %s with %d", st.State, st.Pending, st.LastError, state, pending)
	}
}

func (w *world) wantRows(ids ...string) {
	w.t.Helper()
	got, want := slices.Sorted(maps.Keys(w.store.rows)), slices.Sorted(slices.Values(ids))
	if !slices.Equal(got, want) {
		w.t.Errorf("the store has %q, want %q", got, want)
	}
}

// SPEC 3.6: the store is compared with what there is, both ways, and put right.
func TestStartComparesBothWays_3_6(t *testing.T) {
	var ids []string
	run(t, func(w *world) {
		ids = w.source.put("api/a.md", "alpha", "beta", "gamma")
		w.store.rows[ids[0]] = Row{ID: ids[0], Vector: make([]float32, 128)}
		w.store.rows["ghost"] = Row{ID: "ghost", Vector: make([]float32, 128)}
	}, func(w *world) {
		w.wantRows(ids...)
		w.wantState(StateReady, 0)
		if n := w.provider.asked(""); n != 2 {
			t.Errorf("%d passages embedded, want the 2 missing", n)
		}
		if w.store.retired != 1 {
			t.Errorf("earlier models retired %d times", w.store.retired)
		}
		row := w.store.rows[ids[1]]
		if row.Source != "kb/api/a.md" || row.FileName != "a.md" || row.Category != "api" || row.Title != "T" ||
			row.Breadcrumb != "api/a.md" || row.Text != "beta" || row.ChunkIndex != 2 || row.TotalChunks != 7 {
			t.Errorf("row %+v", row) // SPEC 3.3
		}
	})
}

func TestNothingIsKnownBeforeTheFirstComparison(t *testing.T) {
	x := New(Config{Store: newFakeStore(), Provider: &fakeProvider{}, Source: &fakeSource{}, Log: slog.New(slog.DiscardHandler)})
	if st := x.Status(); st.State != StateBuilding || st.Pending != 1 {
		t.Errorf("status %+v", st)
	}
	x.Changed([]string{"a", "b"}, []string{"c"})
	if n := x.Pending(); n != 3 {
		t.Errorf("%d pending, want 3", n)
	}
}

// A change is pending as soon as Changed returns, and until it is in the store.
func TestChangedIsPendingAtOnce(t *testing.T) {
	run(t, nil, func(w *world) {
		hold := make(chan struct{})
		w.store.onWrite = func() { <-hold }
		ids := w.source.put("api/a.md", "alpha", "beta")
		w.Changed(ids, nil)
		w.wantState(StateBacklog, 2)
		synctest.Wait() // Run is inside Upsert
		w.wantState(StateBacklog, 2)
		if w.Has(ids[0]) {
			t.Error("Has before the store acknowledged")
		}
		// Meanwhile one is deleted: its row must go although it is being written.
		w.Changed(nil, w.source.remove(ids[1]))
		w.wantState(StateBacklog, 2)
		close(hold)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantState(StateReady, 0)
		w.wantRows(ids[0])
		if !w.Has(ids[0]) || w.Has(ids[1]) {
			t.Errorf("Has: %v %v", w.Has(ids[0]), w.Has(ids[1]))
		}
		// What the store has, and what it never had, is no work.
		w.Changed([]string{ids[0]}, []string{"never there"})
		w.wantState(StateReady, 0)
	})
}

func TestDeleteThenPutBackWhileDeleting(t *testing.T) {
	run(t, nil, func(w *world) {
		ids := w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		synctest.Wait()
		hold := make(chan struct{})
		w.store.onWrite = func() { <-hold }
		w.Changed(nil, w.source.remove(ids...))
		synctest.Wait() // Run is inside Delete
		w.Changed(w.source.put("api/a.md", "alpha"), nil)
		close(hold)
		if err := w.WaitFor(w.t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		w.wantRows(ids...)
	})
}

func TestGoneAndBackBeforeItsTurn(t *testing.T) {
	run(t, nil, func(w *world) {
		ids := w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		synctest.Wait()
		w.source.remove(ids...)
		w.Changed(nil, ids)
		w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		synctest.Wait()
		w.wantRows(ids...)
		w.wantState(StateReady, 0)
		if n := w.provider.asked("alpha"); n != 1 {
			t.Errorf("embedded %d times", n)
		}
	})
}

// A save is not kept waiting by a long backlog, and batches are bounded.
func TestNewestFirstInBatches(t *testing.T) {
	run(t, func(w *world) {
		w.provider.takes = 100 * time.Millisecond
		for i := range 1200 {
			w.source.put(fmt.Sprintf("bulk/%d.md", i), "text")
		}
	}, func(w *world) {
		time.Sleep(250 * time.Millisecond)
		if st := w.Status(); st.State != StateBuilding || st.Pending != 1200 {
			t.Fatalf("status %+v", st)
		}
		w.Changed(w.source.put("api/new.md", "fresh"), nil)
		start := time.Now()
		if err := w.WaitFor(w.t.Context(), []string{"api/new.md#fresh"}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("the save waited %s", d)
		}
		if hits, err := w.Search(w.t.Context(), "fresh", 1, ""); err != nil || len(hits) != 1 || hits[0].ChunkID != "api/new.md#fresh" {
			t.Errorf("while building: %v, %v", hits, err)
		}
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(w.store.rows) != 1201 {
			t.Errorf("%d rows", len(w.store.rows))
		}
		for _, u := range w.store.upserts {
			if len(u) > batchRows {
				t.Errorf("a batch of %d rows", len(u))
			}
		}
		if n := w.provider.asked(""); n != 1201 {
			t.Errorf("%d passages embedded, some twice", n)
		}
	})
}

// One passage that can never be embedded costs a few calls and one WARN; all others are there.
func TestPoisonedPassage(t *testing.T) {
	run(t, func(w *world) {
		w.provider.bad = "poison"
		w.source.put("ops/a.md", "one", "poison", "two")
		w.source.put("ops/b.md", "three")
	}, func(w *world) {
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRows("ops/a.md#one", "ops/a.md#two", "ops/b.md#three")
		if n := w.provider.asked("poison"); n != 4 {
			t.Errorf("asked %d times, want 1 + 3", n)
		}
		if w.lines("level=WARN") != 1 || w.lines("path=ops/a.md chunk=ops/a.md#poison") != 1 {
			t.Errorf("log: %s", w.log)
		}
		failed, err := w.Failed("ops/a.md#poison")
		if !failed || !strings.Contains(err.Error(), "NaN") || w.Has("ops/a.md#poison") {
			t.Errorf("Failed: %v %v", err, failed)
		}
		if st := w.Status(); st.State != StateReady || st.Failed != 1 {
			t.Errorf("status %+v", st)
		}
		if err := w.WaitFor(w.t.Context(), []string{"ops/a.md#one", "ops/a.md#poison"}); err == nil || !strings.Contains(err.Error(), "ops/a.md") {
			t.Errorf("WaitFor: %v", err)
		}
		// Another document's change leaves it alone; its own document's change tries again.
		w.Changed(w.source.put("ops/b.md", "four"), nil)
		synctest.Wait()
		if n := w.provider.asked("poison"); n != 4 {
			t.Errorf("asked %d times after another document changed", n)
		}
		w.provider.mu.Lock()
		w.provider.bad = ""
		w.provider.mu.Unlock()
		w.Changed(w.source.put("ops/a.md", "three"), nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if failed, _ := w.Failed("ops/a.md#poison"); failed || !w.Has("ops/a.md#poison") {
			t.Error("not tried again when its document changed")
		}
	})
}

func TestPoisonedPassageAfterRestartAndReconcile(t *testing.T) {
	run(t, func(w *world) {
		w.provider.bad = "poison"
		w.source.put("ops/a.md", "poison")
	}, func(w *world) {
		w.Idle(w.t.Context())
		w.stop()
		w.start()
		w.Idle(w.t.Context())
		if n := w.provider.asked("poison"); n != 8 {
			t.Errorf("asked %d times over a restart, want 4 + 4", n)
		}
		if d, err := w.Reconcile(w.t.Context(), false); err != nil || d != (Difference{Missing: 1}) || w.Pending() != 0 {
			t.Errorf("dry run: %+v, %v, %d pending", d, err, w.Pending())
		}
		if _, err := w.Reconcile(w.t.Context(), true); err != nil || w.Pending() != 1 {
			t.Errorf("repair: %v, %d pending", err, w.Pending())
		}
		w.Idle(w.t.Context())
		if n := w.provider.asked("poison"); n != 12 {
			t.Errorf("asked %d times after a repair, want 12", n)
		}
	})
}

func TestBadVectorsAreRefused(t *testing.T) {
	nan := make([]float32, 128)
	nan[5] = float32(math.NaN())
	for name, v := range map[string][]float32{"NaN": nan, "zero": make([]float32, 128), "short": {1, 2}} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				w.provider.wrong = v
				w.source.put("ops/a.md", "one")
			}, func(w *world) {
				w.Idle(w.t.Context())
				w.wantRows()
				if w.lines("level=WARN") != 1 || w.lines("ops/a.md") == 0 {
					t.Errorf("log: %s", w.log)
				}
			})
		})
	}
}

// What the model knows nothing of is not asked for again and again, and nobody is warned: there is nothing to mend.
func TestUnknownLanguageIsGivenUpAtOnce(t *testing.T) {
	run(t, func(w *world) {
		for i := range 30 {
			w.source.put(fmt.Sprintf("x/%d.md", i), "……!")
			w.source.chunks[fmt.Sprintf("x/%d.md#……!", i)] = fakeChunk{path: "-", text: "…"}
		}
	}, func(w *world) {
		w.wantState(StateReady, 0)
		if n := w.provider.asked("…"); n != 30 {
			t.Errorf("asked %d times", n)
		}
		if w.lines("level=WARN") != 0 {
			t.Errorf("log: %s", w.log)
		}
	})
}

// Many passages that fail are summed up.
func TestManyWarningsAreSummedUp(t *testing.T) {
	run(t, func(w *world) {
		w.provider.bad = "poison"
		for i := range maxWarnings + 10 {
			w.source.put(fmt.Sprintf("x/%d.md", i), "poison")
		}
	}, func(w *world) {
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if w.lines("level=WARN") != maxWarnings+1 || w.lines("passages=10") != 1 {
			t.Errorf("%d WARNs; log: %s", w.lines("level=WARN"), w.log)
		}
	})
}

// SPEC 3.6: a store that is away makes a backlog, one WARN and one INFO; it converges by itself.
func TestStoreAway_3_6(t *testing.T) {
	away := errors.New("connection refused")
	run(t, func(w *world) {
		w.store.err = away
		w.source.put("ops/a.md", "one", "two")
	}, func(w *world) {
		st := w.Status()
		if st.State != StateDown || st.Pending < 1 || !strings.Contains(st.LastError, "connection refused") {
			t.Errorf("status %+v", st)
		}
		if _, err := w.Search(w.t.Context(), "one", 3, ""); !errors.Is(err, away) {
			t.Errorf("Search: %v", err)
		}
		short, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if err := w.Idle(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Idle: %v", err)
		}
		time.Sleep(10 * time.Minute)
		if n := w.store.listed(); n < 20 || n > 40 {
			t.Errorf("tried %d times in 10 minutes", n)
		}
		w.store.fail(nil)
		start := time.Now()
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > longWait {
			t.Errorf("came back after %s", d)
		}
		w.wantState(StateReady, 0)
		w.wantRows("ops/a.md#one", "ops/a.md#two")
		if w.lines("level=WARN") != 1 || w.lines("is back") != 1 {
			t.Errorf("log: %s", w.log)
		}
	})
}

// SPEC 3.6: restarted empty.
func TestStoreComesBackEmpty_3_6(t *testing.T) {
	run(t, func(w *world) { w.source.put("ops/a.md", "one", "two") }, func(w *world) {
		w.wantState(StateReady, 0)
		w.store.fail(errors.New("transport is closing"))
		time.Sleep(time.Minute)
		w.wantState(StateReady, 0) // nobody asked it anything
		if _, err := w.Search(w.t.Context(), "one", 3, ""); err == nil {
			t.Error("Search finds something in a store that is away")
		}
		synctest.Wait()
		if st := w.Status(); st.State != StateDown {
			t.Errorf("status %+v", st)
		}
		w.store.mu.Lock()
		w.store.err = nil
		clear(w.store.rows)
		w.store.mu.Unlock()
		time.Sleep(longWait)
		synctest.Wait()
		w.wantState(StateReady, 0)
		w.wantRows("ops/a.md#one", "ops/a.md#two")
		if w.lines("level=WARN") != 1 || w.lines("is back") != 1 {
			t.Errorf("log: %s", w.log)
		}
	})
}

// A full disk: the store lists and deletes, but takes nothing. That is one outage, at growing intervals.
func TestFullStoreIsOneOutage(t *testing.T) {
	run(t, nil, func(w *world) {
		old := w.source.put("ops/old.md", "old")
		w.Changed(old, nil)
		synctest.Wait()
		fill := func(err error) {
			w.store.mu.Lock()
			defer w.store.mu.Unlock()
			w.store.full = err
		}
		fill(errors.New("no space left on device"))
		ids := w.source.put("ops/a.md", "one", "two")
		w.Changed(ids, nil)
		time.Sleep(5 * time.Minute)
		w.Changed(nil, w.source.remove(old...))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		w.wantRows()
		w.wantState(StateDown, 2)
		if n := w.store.listed(); n > 40 || w.lines("level=WARN") != 1 || w.lines("is back") != 0 {
			t.Errorf("tried %d times; log: %s", n, w.log)
		}
		fill(nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRows(ids...)
		fill(errors.New("no space left on device"))
		w.Changed(w.source.put("ops/b.md", "three"), nil)
		synctest.Wait()
		w.wantState(StateDown, 1)
		w.Changed(nil, w.source.remove("ops/b.md#three")) // what it could not take is not wanted any more
		time.Sleep(time.Minute)
		synctest.Wait()
		w.wantState(StateReady, 0)
		if w.lines("level=WARN") != 2 || w.lines("is back") != 2 {
			t.Errorf("log: %s", w.log)
		}
	})
}

func TestStoreFailsInTheMiddle(t *testing.T) {
	run(t, nil, func(w *world) {
		old := w.source.put("ops/old.md", "old")
		w.Changed(old, nil)
		synctest.Wait()
		w.store.fail(errors.New("no space left on device"))
		ids := w.source.put("ops/a.md", "one", "two")
		w.Changed(ids, w.source.remove(old...))
		synctest.Wait()
		w.wantState(StateDown, 3)
		w.store.fail(nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRows(ids...)
		if w.lines("level=WARN") != 1 || w.lines("is back") != 1 {
			t.Errorf("log: %s", w.log)
		}
	})
}

// A provider that says when to come back is not asked before; deletions do not wait for it.
func TestProviderLimits(t *testing.T) {
	run(t, func(w *world) { w.source.put("ops/a.md", "one") }, func(w *world) {
		w.provider.mu.Lock()
		calls := 0
		w.provider.err = func() error {
			if calls++; calls <= 2 {
				return fmt.Errorf("embed: %w", &embedding.RetryError{After: 90 * time.Second, Err: errors.New("429 too many requests")})
			}
			return nil
		}
		w.provider.times = nil
		w.provider.mu.Unlock()
		w.Changed(w.source.put("ops/b.md", "two"), nil)
		synctest.Wait()
		w.wantState(StateDown, 1)
		w.Changed(nil, w.source.remove("ops/a.md#one"))
		synctest.Wait()
		w.wantRows()
		w.wantState(StateDown, 1)
		w.Changed(w.source.put("ops/c.md", "three"), nil) // does not make it ask earlier
		start := time.Now()
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 3*time.Minute {
			t.Errorf("back after %s", d)
		}
		w.wantRows("ops/b.md#two", "ops/c.md#three")
		for i := range w.provider.times {
			if i > 0 && i <= 2 && w.provider.times[i].Sub(w.provider.times[i-1]) < 90*time.Second {
				t.Errorf("call %d came %s after the one before", i, w.provider.times[i].Sub(w.provider.times[i-1]))
			}
		}
		if w.lines("level=WARN") != 1 || w.lines("is back") != 1 {
			t.Errorf("log: %s", w.log)
		}
	})
}

// What waited for the provider is deleted: nothing is down any more, and still the provider is not asked too early.
func TestRetryAfterOutlivesTheBacklog(t *testing.T) {
	run(t, nil, func(w *world) {
		w.provider.mu.Lock()
		w.provider.err = func() error { return &embedding.RetryError{After: time.Minute, Err: errors.New("429")} }
		w.provider.mu.Unlock()
		ids := w.source.put("ops/a.md", "one")
		w.Changed(ids, nil)
		synctest.Wait()
		w.wantState(StateDown, 1)
		w.Changed(nil, w.source.remove(ids...))
		synctest.Wait()
		w.wantState(StateReady, 0)
		w.provider.mu.Lock()
		w.provider.err = nil
		w.provider.mu.Unlock()
		w.Changed(w.source.put("ops/b.md", "two"), nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := w.provider.times[1].Sub(w.provider.times[0]); d < time.Minute || d > 61*time.Second {
			t.Errorf("asked again after %s", d)
		}
	})
}

// A chunk that was marked deleted, yet is there again when its turn comes, waits for the provider with the others.
func TestPutInTheDeletionsLineWaitsForProvider(t *testing.T) {
	run(t, nil, func(w *world) {
		w.provider.mu.Lock()
		w.provider.err = func() error { return errors.New("away") }
		w.provider.mu.Unlock()
		ids := w.source.put("ops/a.md", "one")
		w.Changed(ids, nil)
		synctest.Wait()
		w.mu.Lock()
		w.compared = false // as at a start: what the store has is not known
		w.mu.Unlock()
		w.Changed(nil, ids) // but the source still has it
		w.mu.Lock()
		w.compared = true
		w.mu.Unlock()
		synctest.Wait()
		w.wantState(StateDown, 1)
		w.provider.mu.Lock()
		w.provider.err = nil
		w.provider.mu.Unlock()
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRows(ids...)
	})
}

func TestProviderGivesTooFewVectors(t *testing.T) {
	x := New(Config{Store: newFakeStore(), Provider: shortProvider{}, Source: &fakeSource{}, Log: slog.New(slog.DiscardHandler)})
	done, ok := x.embed(t.Context(), make([]work, 3))
	if ok || len(done) != 0 {
		t.Fatalf("%d vectors taken from a reply of 1 for 3", len(done))
	}
	if st := x.Status(); st.State != StateDown || !strings.Contains(st.LastError, "1 vectors for 3") {
		t.Errorf("status %+v", st)
	}
}

type shortProvider struct{ embedding.Hash }

func (shortProvider) EmbedPassages(context.Context, []embedding.Passage) ([][]float32, error) {
	return make([][]float32, 1), nil
}

func TestBackoffGrowsToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b backoff
		last := time.Duration(0)
		for i := range 40 {
			b.failed(errors.New("x"))
			w := b.left()
			if w > longWait || w < firstWait*3/4 || i < 5 && w < last {
				t.Errorf("failure %d waits %s after %s", i, w, last)
			}
			last = w
		}
		if last < longWait*3/4 {
			t.Errorf("at last %s", last)
		}
		b.failed(&embedding.RetryError{After: 1000 * time.Hour, Err: errors.New("x")})
		if b.left() != longestRetryAfter {
			t.Errorf("waits %s", b.left())
		}
	})
}
