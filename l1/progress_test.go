package l1

import (
	"errors"
	"testing"
	"testing/synctest"
)

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

// fail has every call fail, or none.
func (p *fakeProvider) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = func() error { return err }
}

// SPEC 3.6: an edit during an outage leaves pending what the document has now, not what it had between.
func TestChanged_OutageKeepsNoPhantoms_3_6(t *testing.T) {
	run(t, nil, func(w *world) {
		w.provider.fail(errors.New("connection refused"))
		ids := w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		synctest.Wait() // tried once, and given back
		for _, text := range []string{"beta", "gamma", "delta"} {
			w.source.remove(ids...)
			next := w.source.put("api/a.md", text)
			w.Changed(next, ids)
			ids = next
			if n := w.Pending(); n != 1 {
				t.Errorf("%d pending, want 1", n)
			}
		}
		w.provider.fail(nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRows(ids...)
	})
}

// A row that is being written while its chunk goes is deleted all the same.
func TestChanged_GoneWhileBeingWritten(t *testing.T) {
	run(t, nil, func(w *world) {
		hold := make(chan struct{})
		w.store.onWrite = func() { <-hold }
		ids := w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		synctest.Wait() // Run is inside Upsert
		w.source.remove(ids...)
		w.Changed(nil, ids)
		close(hold)
		synctest.Wait()
		w.wantRows()
		w.wantState(StateReady, 0)
	})
}

// SPEC 5.2: what was given up is tried again once the comparison that is to bring it back has been made.
func TestReconcile_StoreAwayKeepsFailures_5_2(t *testing.T) {
	run(t, nil, func(w *world) {
		w.provider.bad = "alpha"
		ids := w.source.put("api/a.md", "alpha")
		w.Changed(ids, nil)
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.store.fail(errors.New("transport is closing"))
		if _, err := w.Reconcile(w.t.Context(), true); err == nil {
			t.Error("no fault")
		}
		if failed, _ := w.Failed(ids[0]); !failed {
			t.Error("forgotten")
		}
		w.store.fail(nil)
	})
}

// SPEC 3.6: what a provider made before it failed is found at once, and what is not made waits.
func TestProviderFailsInTheMiddle_3_6(t *testing.T) {
	run(t, nil, func(w *world) {
		w.provider.mu.Lock()
		w.provider.away = "second"
		w.provider.mu.Unlock()
		w.store.onWrite = func() { // a chunk that leaves while it is written has to be deleted
			w.store.onWrite = nil
			w.Changed(nil, w.source.remove("ops/a.md#third"))
		}
		w.Changed(w.source.put("ops/a.md", "first", "second", "third"), nil)
		synctest.Wait()
		w.wantRows("ops/a.md#first")
		w.wantState(StateDown, 1)
		w.provider.mu.Lock()
		w.provider.away = ""
		w.provider.mu.Unlock()
		if err := w.Idle(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantRows("ops/a.md#first", "ops/a.md#second")
		w.wantState(StateReady, 0)
	})
}
