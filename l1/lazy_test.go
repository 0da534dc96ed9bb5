package l1

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// SPEC 3.6: a store that cannot be opened yet is an outage like any other; what waits is put once it is open.
func TestLazyOpensWhenItCan_3_6(t *testing.T) {
	run(t, nil, func(w *world) {
		w.stop()
		reachable := time.Now().Add(time.Minute)
		z := NewLazy(func(context.Context) (Store, error) {
			if time.Now().Before(reachable) {
				return nil, errors.New("the server is down")
			}
			return w.store, nil
		})
		w.Index = New(Config{Store: z, Provider: w.provider, Source: w.source, Log: w.Index.log})
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		w.stop = func() { cancel(); <-ended }
		ids := w.source.put("a.md", "alpha", "beta")
		w.Changed(ids, nil)
		time.Sleep(10 * time.Second)
		w.wantState(StateDown, len(ids))
		if _, err := w.Search(w.t.Context(), "alpha", 1, ""); !errors.Is(err, errNotOpen) {
			t.Errorf("search of what is not open: %v", err)
		}
		if n := w.provider.asked("alpha"); n != 0 {
			t.Errorf("%d passages embedded for a store that is not open", n)
		}
		time.Sleep(2 * time.Minute)
		w.wantState(StateReady, 0)
		w.wantRows(ids...)
		if hits, err := w.Search(w.t.Context(), "alpha", 1, ""); err != nil || len(hits) != 1 || hits[0].ChunkID != ids[0] {
			t.Errorf("hits %v, %v", hits, err)
		}
		if w.lines("level=WARN") != 1 || w.lines("is back") != 1 {
			t.Errorf("log:\n%s", w.log)
		}
	})
}

func TestLazyIsOpenedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		var opened atomic.Int64
		z := NewLazy(func(context.Context) (Store, error) {
			opened.Add(1)
			time.Sleep(time.Second)
			return store, nil
		})
		var wg sync.WaitGroup
		for _, call := range []func() error{
			func() error { _, err := z.IDs(t.Context()); return err },
			func() error { return z.Upsert(t.Context(), nil) },
			func() error { return z.Delete(t.Context(), nil) },
		} {
			wg.Go(func() {
				if err := call(); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // one opens, the others wait
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := z.IDs(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits leaves with its context: %v", err)
		}
		if _, err := z.Search(t.Context(), []float32{1}, 1, ""); !errors.Is(err, errNotOpen) || z.Count() != 0 || z.Bytes() != 0 {
			t.Errorf("while opening: %v, %d rows of %d bytes", err, z.Count(), z.Bytes())
		}
		if err := z.Retire(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if opened.Load() != 1 || z.Bytes() != store.Bytes() {
			t.Errorf("opened %d times", opened.Load())
		}
	})
}

func TestLazyErrorsAndClose(t *testing.T) {
	down := errors.New("down")
	z := NewLazy(func(context.Context) (Store, error) { return nil, down })
	if err := errors.Join(z.Upsert(t.Context(), nil), z.Delete(t.Context(), nil)); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := z.IDs(t.Context()); !errors.Is(err, errNotOpen) {
		t.Errorf("opened after Close: %v", err)
	}
}
