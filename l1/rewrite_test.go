package l1

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// recategorise changes a document's category while its chunks stay the same.
func (s *fakeSource) recategorise(category string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		c := s.chunks[id]
		c.category = category
		s.chunks[id] = c
	}
}

func (w *world) wantFound(category string, n int) {
	w.t.Helper()
	hits, err := w.Search(w.t.Context(), "alpha", 5, category)
	if err != nil || len(hits) != n {
		w.t.Errorf("%d hits in %q (%v), want %d", len(hits), category, err, n)
	}
}

// SPEC 3.3: a row says the category that its document has now, though the chunk is the same.
func TestRewrite_3_3(t *testing.T) {
	run(t, nil, func(w *world) {
		ids := w.source.put("api/a.md", "alpha", "beta")
		w.Changed(ids, nil)
		synctest.Wait()
		w.wantFound("api", 2)
		w.source.recategorise("ops", ids...)
		w.Rewrite(ids)
		if n := w.Pending(); n != 2 {
			t.Errorf("%d pending", n)
		}
		w.wantFound("", 2) // found as they were until they are rewritten
		synctest.Wait()
		w.wantState(StateReady, 0)
		w.wantFound("ops", 2)
		w.wantFound("api", 0)
	})
}

// A change that comes while the row of before is being written is not lost.
func TestRewrite_WhileBeingWritten(t *testing.T) {
	run(t, nil, func(w *world) {
		hold := make(chan struct{})
		w.store.onWrite = func() { <-hold }
		ids := w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		synctest.Wait() // Run is inside Upsert, with the old category
		w.source.recategorise("ops", ids...)
		w.Rewrite(ids)
		close(hold)
		synctest.Wait()
		w.wantState(StateReady, 0)
		w.wantFound("ops", 1)
	})
}

// SPEC 3.6: the store is away meanwhile; the comparison of ids that follows sees no difference.
func TestRewrite_StoreAway_3_6(t *testing.T) {
	run(t, nil, func(w *world) {
		ids := w.source.put("api/a.md", "alpha", "beta")
		w.Changed(ids, nil)
		synctest.Wait()
		w.store.fail(errors.New("transport is closing"))
		w.source.recategorise("ops", ids...)
		w.Rewrite(ids)
		time.Sleep(time.Minute)
		w.store.fail(nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantFound("ops", 2)
		w.source.remove(ids...)
		w.Rewrite(ids) // overtaken by the deletion
		w.Changed(nil, ids)
		w.wantFound("", 0)
		synctest.Wait()
		w.wantRows()
		if len(w.stale) != 0 {
			t.Errorf("%d ids stay stale", len(w.stale))
		}
	})
}

// Who waits at Progress learns of work that begins, of work done, and of trouble.
func TestProgress(t *testing.T) {
	run(t, nil, func(w *world) {
		next := func(what, state string) {
			t.Helper()
			if st := w.Status().State; st != state {
				t.Errorf("%s: state %s, want %s", what, st, state)
			}
		}
		next("at rest", StateReady)
		progress := w.Progress()
		w.Changed(w.source.put("api/a.md", "alpha"), nil)
		<-progress
		synctest.Wait()
		next("done", StateReady)
		progress = w.Progress()
		w.store.fail(errors.New("away"))
		w.Changed(w.source.put("api/a.md", "beta"), nil)
		<-progress
		synctest.Wait()
		next("away", StateDown)
		progress = w.Progress()
		w.store.fail(nil)
		<-progress
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		next("back", StateReady)
	})
}
