package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"knowledged/ipc"
	"knowledged/l0"
)

// faultyL0 is the keyword index that fails now and then, having done its work or not.
type faultyL0 struct {
	*l0.Index
	fail atomic.Int32 // calls of Apply that fail from now on
	work bool         // it does its work all the same
}

func (f *faultyL0) Apply(b l0.Batch) error {
	if f.fail.Add(-1) < 0 {
		return f.Index.Apply(b)
	}
	if f.work {
		if err := f.Index.Apply(b); err != nil {
			return err
		}
	}
	return errors.New("no space left on device")
}

// SPEC 5.1: an upload whose indexing fails leaves no file, folder, record, L0 entry, chunk or vector; one that would have
// replaced a document leaves that document.
func TestUploadIsUndone_5_1(t *testing.T) {
	for _, work := range []bool{false, true} {
		for _, failing := range []int32{1, 2} {
			if failing == 2 && work {
				continue
			}
			t.Run(fmt.Sprintf("work %t, failing %d", work, failing), func(t *testing.T) {
				w := newWorld(t)
				w.save("a.md", doc("Alpha", "kw-alpha"))
				w.open()
				faulty := &faultyL0{Index: w.l0, work: work}
				w.pipeline.l0 = faulty
				w.pipeline.retry = 1 // at once
				w.run()
				w.idle()
				files, chunks, vectors := w.files(), w.inL0(), w.l1.Status().Chunks
				for _, target := range []struct{ category, name string }{{"new/deep", "b.md"}, {"", "a.md"}} {
					faulty.fail.Store(failing)
					if _, _, err := w.put(target.category, target.name, doc("Beta", "kw-beta")); err == nil || !strings.Contains(err.Error(), "no space left") {
						t.Errorf("upload to %s: %v", target, err)
					}
					faulty.fail.Store(0)
					w.settle()
					if got := w.files(); !slices.Equal(got, files) {
						t.Errorf("files %q, before %q", got, files)
					}
					if w.has("new/deep/b.md") || w.title("a.md") != "Alpha" || w.known("kw-beta") || !w.answers("kw-alpha", "a.md") {
						t.Errorf("documents %q", w.paths())
					}
					if w.inL0() != chunks || w.l1.Status().Chunks != vectors {
						t.Errorf("%d chunks and %d vectors, before %d and %d", w.inL0(), w.l1.Status().Chunks, chunks, vectors)
					}
				}
			})
		}
	}
}

// SPEC 5.1, 5.2: with a full state disk an upload says so, and a deletion whose file is gone is one.
func TestFullStateDisk_5_1_5_2(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	faulty := w.runFaulty()
	rec := w.record("a.md")
	faulty.fail.Store(2) // the upload, and undoing it
	if _, _, err := w.put("", "b.md", doc("Beta", "kw-beta")); !errors.Is(err, ipc.ErrStateFull) {
		t.Errorf("upload: %v", err)
	}
	w.idle() // what makes the undoing good writes too, and would take the next fault
	faulty.fail.Store(1)
	if done, err := w.Delete(context.Background(), rec.DocID, ipc.Match{}); !done || err != nil {
		t.Errorf("deletion: %t, %v", done, err)
	}
	if w.has("a.md") || w.ask("kw-alpha").Found || len(w.log.lines("a deletion could not be written")) != 1 {
		t.Errorf("documents %q", w.paths())
	}
	w.eventually("mended", func() bool { return w.inL0() == 0 })
}

// What a job could not write is pending, and made good, as what a save could not (SPEC 2.10, 7.3).
func TestL0IsMendedAfterAFailedJob_2_10(t *testing.T) {
	for name, job := range map[string]func(w *world, docID string) error{
		"reindex":   func(w *world, docID string) error { _, err := w.Reindex(context.Background(), docID); return err },
		"reconcile": func(w *world, _ string) error { _, err := w.Reconcile(context.Background(), false); return err },
		"upload": func(w *world, _ string) error {
			_, _, err := w.put("", "b.md", doc("Beta", "kw-beta"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.save("a.md", doc("Alpha", "kw-alpha"))
			faulty := w.runFaulty()
			faulty.fail.Store(math.MaxInt32)
			if err := job(w, w.record("a.md").DocID); err == nil {
				t.Error("no fault")
			}
			if !w.Ready() || w.status().Pending.L0 == 0 {
				t.Errorf("ready %t, pending %+v", w.Ready(), w.status().Pending)
			}
			faulty.fail.Store(0)
			w.idle()
			if w.inL0() != len(w.chunkIDs("a.md")) {
				t.Errorf("%d chunks", w.inL0())
			}
		})
	}
}

// SPEC 7.3: ready means that L0 serves.
func TestNotReadyWithoutL0_7_3(t *testing.T) {
	w := newWorld(t).start()
	if err := w.l0.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Ready() || w.status().Pending.L0 == 0 {
		t.Error("ready without full text")
	}
}

// A save whose indexing fails is made good without another save (SPEC 2.10).
func TestL0IsMendedAfterAFailure_2_10(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	faulty := w.runFaulty()
	faulty.fail.Store(3) // the save, and two attempts to mend
	w.save("a.md", doc("Alpha", "kw-alpha")+"\n## More\n\nzanzibar\n")
	w.eventually("mended", func() bool { return w.inL0() == len(w.chunkIDs("a.md")) && len(w.chunkIDs("a.md")) == 3 })
	if len(w.log.lines("ERROR")) != 1 || !w.ask("zanzibar").Found {
		t.Errorf("log %v", w.log.lines("ERROR"))
	}
}

// SPEC 5.1: what an upload interrupted by a crash left is removed; a damaged note removes nothing else.
func TestInterruptedUpload_5_1(t *testing.T) {
	for note, goes := range map[string]bool{"api/.knowledged-abc.tmp": true, "api/a.md": false, "../outside.md": false, "": false} {
		w := newWorld(t)
		w.save("api/a.md", doc("Alpha", "kw-alpha"))
		w.save("api/.knowledged-abc.tmp", "half")
		outside := filepath.Join(filepath.Dir(w.base), "outside.md")
		if err := errors.Join(os.WriteFile(outside, nil, 0o644), os.Mkdir(w.cfg.StateDir, 0o755)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(w.cfg.StateDir, "upload-in-progress")
		if err := os.WriteFile(file, []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		w.start()
		if there := slices.Contains(w.files(), "api/.knowledged-abc.tmp"); there == goes || !w.has("api/a.md") {
			t.Errorf("note %q: files %q", note, w.files())
		}
		if _, err := os.Stat(outside); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the note stays")
		}
		w.halt()
	}
}

// runFaulty runs the daemon with an L0 that fails as often as its fail says, and that is tried again at once.
func (w *world) runFaulty() *faultyL0 {
	w.open()
	faulty := &faultyL0{Index: w.l0}
	w.pipeline.l0 = faulty
	w.pipeline.retry = 1
	w.run()
	w.idle()
	return faulty
}
