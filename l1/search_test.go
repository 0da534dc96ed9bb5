package l1

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"knowledged/embedding"
)

// SPEC 3.6: what was deleted is never returned, though the store still has it; others take its place.
func TestDeletedIsNeverReturned_3_6(t *testing.T) {
	run(t, func(w *world) {
		for i := range 200 {
			w.source.put("ops/a.md", fmt.Sprintf("timeout %d", i))
			w.source.put("api/b.md", fmt.Sprintf("timeout other words here to be farther away %d", i))
		}
	}, func(w *world) {
		w.Idle(w.t.Context())
		hits, err := w.Search(w.t.Context(), "timeout", 10, "")
		if err != nil || len(hits) != 10 {
			t.Fatalf("%v, %v", hits, err)
		}
		w.store.onWrite = func() { w.store.fail(errors.New("away")) } // the deletion itself brings it down
		var gone []string
		for i := range 200 {
			gone = append(gone, fmt.Sprintf("ops/a.md#timeout %d", i))
		}
		w.Changed(nil, w.source.remove(gone...))
		synctest.Wait()
		w.wantState(StateDown, 200)
		w.store.fail(nil)
		hits, err = w.Search(w.t.Context(), "timeout", 10, "")
		if err != nil || len(hits) != 10 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		for i, h := range hits {
			if h.ChunkID[:3] != "api" {
				t.Errorf("hit %s was deleted", h.ChunkID)
			}
			if i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("hit %d scores more than the one before", i)
			}
		}
	})
}

func TestSearchByCategory(t *testing.T) {
	run(t, func(w *world) {
		w.source.put("ops/a.md", "timeout")
		w.source.put("api/b.md", "timeout")
	}, func(w *world) {
		hits, err := w.Search(w.t.Context(), "timeout", 10, "api")
		if err != nil || len(hits) != 1 || hits[0].ChunkID != "api/b.md#timeout" {
			t.Errorf("%v, %v", hits, err)
		}
	})
}

func TestSearchForNothing(t *testing.T) {
	run(t, func(w *world) { w.source.put("ops/a.md", "timeout") }, func(w *world) {
		for _, q := range []string{"", "……"} {
			if hits, err := w.Search(w.t.Context(), q, 3, ""); err != nil || len(hits) != 0 {
				t.Errorf("%q: %v, %v", q, hits, err)
			}
		}
		if hits, err := w.Search(w.t.Context(), "timeout", 0, ""); err != nil || len(hits) != 0 {
			t.Errorf("k = 0: %v, %v", hits, err)
		}
	})
}

// A process that only reads never runs Run; the source says what there is.
func TestSearchWithoutRun(t *testing.T) {
	source := &fakeSource{chunks: map[string]fakeChunk{}}
	ids := source.put("ops/a.md", "timeout")
	store := newFakeStore()
	for _, id := range append(ids, "ghost") {
		v, _ := embedding.Hash{}.EmbedQuery(t.Context(), "timeout")
		store.rows[id] = Row{ID: id, Vector: v}
	}
	x := New(Config{Store: store, Provider: &fakeProvider{}, Source: source, Log: slog.New(slog.DiscardHandler)})
	hits, err := x.Search(t.Context(), "timeout", 5, "")
	if err != nil || len(hits) != 1 || hits[0].ChunkID != ids[0] {
		t.Errorf("%v, %v", hits, err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// SPEC 2.10: a lookup's deadline ends the search, and a caller who went away is no sign of an outage.
func TestSearchEndsWithItsContext_2_10(t *testing.T) {
	run(t, func(w *world) { w.source.put("ops/a.md", "timeout") }, func(w *world) {
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		if _, err := w.Search(ctx, "timeout", 3, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		lists := w.store.listed()
		time.Sleep(time.Minute)
		for range 50 {
			w.store.Search(ctx, nil, 1, "")
			w.suspect(context.Canceled)
		}
		synctest.Wait()
		if w.store.listed() != lists {
			t.Error("a cancelled search makes a comparison")
		}
		for range 50 {
			w.suspect(context.DeadlineExceeded)
			synctest.Wait()
		}
		if n := w.store.listed() - lists; n != 1 {
			t.Errorf("50 slow searches make %d comparisons, want 1", n)
		}
	})
}

func TestSearchRefusesBadQueryVectors(t *testing.T) {
	for name, p := range map[string]embedding.Provider{"NaN": oddQuery{float32(math.NaN())}, "failing": oddQuery{}} {
		x := New(Config{Store: newFakeStore(), Provider: p, Source: &fakeSource{}, Log: slog.New(slog.DiscardHandler)})
		if _, err := x.Search(t.Context(), "q", 3, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type oddQuery []float32

func (oddQuery) Name() string    { return "odd" }
func (oddQuery) Dimensions() int { return 1 }
func (o oddQuery) EmbedQuery(context.Context, string) ([]float32, error) {
	if len(o) == 0 {
		return nil, errors.New("away")
	}
	return o, nil
}

func (oddQuery) EmbedPassages(context.Context, []embedding.Passage) ([][]float32, error) {
	return nil, nil
}

// Lookups go on while the backlog drains; run with -race.
func TestSearchWhileDraining(t *testing.T) {
	source := &fakeSource{chunks: map[string]fakeChunk{}}
	for i := range 3000 {
		source.put(fmt.Sprintf("bulk/%d.md", i), "word "+fmt.Sprint(i))
	}
	x := New(Config{Store: newFakeStore(), Provider: embedding.Hash{Dims: 16}, Source: source, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var runs, lookups sync.WaitGroup
	runs.Go(func() { x.Run(ctx) })
	for range 2 {
		lookups.Go(func() {
			for x.Pending() > 0 {
				if _, err := x.Search(ctx, "word", 5, ""); err != nil {
					t.Error(err)
				}
				x.Status()
			}
		})
	}
	for i := range 200 {
		path := fmt.Sprintf("new/%d.md", i)
		x.Changed(source.put(path, "fresh"), source.remove(fmt.Sprintf("bulk/%d.md#word %d", i, i)))
	}
	if err := x.Idle(ctx); err != nil {
		t.Fatal(err)
	}
	lookups.Wait()
	cancel()
	runs.Wait()
	if n := x.Status().Chunks; n != 3000 {
		t.Errorf("%d rows", n)
	}
}
