package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"knowledged/ipc"
	"knowledged/l1"
	"knowledged/l1/embedded"
	"knowledged/registry"
)

// SPEC 5.2: with hashes compared, an edit that kept size and times is found; --dry-run only says so.
func TestReconcile_5_2(t *testing.T) {
	w := tenDocuments(t)
	w.halt()
	w.age()
	old := w.read("d0/0.md")
	w.save("d0/0.md", doc("Title X", "kw-0"))
	w.pretend("d0/0.md") // the record claims the times of now
	w.cool()
	w.open()
	w.vectors().err.Store(true) // vectors can't be listed: said in the job, and no reason to fail
	w.run()
	w.eventually("scanned", func() bool { return w.status().Pending.L0 == 0 })
	if w.title("d0/0.md") != "Title 0" || len(old) != len(w.read("d0/0.md")) {
		t.Fatalf("title %q: this proves nothing", w.title("d0/0.md"))
	}
	job, err := w.Reconcile(context.Background(), true)
	if err != nil || !job.DryRun || job.Documents != (ipc.JobDocuments{Checked: 10, Updated: 1}) || len(job.Problems) != 1 {
		t.Errorf("dry run: %+v, %v", job, err)
	}
	if w.title("d0/0.md") != "Title 0" {
		t.Error("the dry run did something")
	}
	job, err = w.Reconcile(context.Background(), false)
	if err != nil || job.DryRun || job.Documents.Checked != 10 || job.Documents.Updated != 1 || job.TookMs <= 0 {
		t.Errorf("%+v, %v", job, err)
	}
	if w.title("d0/0.md") != "Title X" {
		t.Error("not repaired")
	}
}

// pretend gives the record of a file the size and times that the file has now.
func (w *world) pretend(path string) {
	w.t.Helper()
	info, err := os.Stat(w.abs(path))
	w.must(err)
	reg, err := registry.Open(w.cfg.StateDir, w.Daemon.log)
	w.must(err)
	rec, _ := reg.Get(path)
	claim := *rec
	statOf(info).into(&claim)
	claim.IndexedAt = time.Now().Add(time.Minute)
	w.must(reg.Apply([]registry.Change{{Path: path, Record: &claim, KeepChunks: true}}))
	w.must(reg.Close())
}

// SPEC 3.6: reconcile repairs vectors both ways.
func TestReconcileVectors_3_6(t *testing.T) {
	w := tenDocuments(t)
	w.halt()
	w.open()
	store := w.vectors()
	w.run()
	w.idle()
	chunks := w.l1.Status().Chunks
	w.must(store.Delete(context.Background(), w.chunkIDs("d0/0.md")))
	vector := make([]float32, w.provider.Dimensions())
	vector[0] = 1
	w.must(store.Upsert(context.Background(), []l1.Row{{ID: strings.Repeat("0", 32), Vector: vector}}))
	for _, dry := range []bool{true, false} {
		job, err := w.Reconcile(context.Background(), dry)
		if err != nil || job.Vectors.Missing != 2 || job.Vectors.Orphans != 1 {
			t.Errorf("dry %t: %+v, %v", dry, job, err)
		}
	}
	w.idle()
	if n := w.l1.Status().Chunks; n != chunks {
		t.Errorf("%d vectors, want %d", n, chunks)
	}
}

// faultyStore is a store of vectors that may be away.
type faultyStore struct {
	l1.Store
	err atomic.Bool
}

func (s *faultyStore) IDs(ctx context.Context) ([]string, error) {
	if s.err.Load() {
		return nil, errors.New("connection refused")
	}
	return s.Store.IDs(ctx)
}

// vectors gives the daemon, before it runs, a store that the test can reach.
func (w *world) vectors() *faultyStore {
	w.t.Helper()
	store, err := embedded.Open(w.t.TempDir(), w.provider.Name(), w.provider.Dimensions(), w.Daemon.log)
	w.must(err)
	faulty := &faultyStore{Store: store}
	w.l1 = l1.New(l1.Config{Store: faulty, Provider: w.provider, Source: w.chunkSource(), Log: w.Daemon.log})
	w.pipeline.l1 = w.l1
	w.closers = append(w.closers, store.Close)
	return faulty
}

// SPEC 5.2: reindexing reads a file whatever its times say, and keeps its identity.
func TestReindex_5_2(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	id := w.record("a.md").DocID
	job, err := w.Reindex(context.Background(), id)
	if err != nil || job.Documents != (ipc.JobDocuments{Checked: 1, Updated: 1}) || w.record("a.md").DocID != id || !w.answers("kw-alpha", "a.md") {
		t.Errorf("%+v, %v", job, err)
	}
	if _, err := w.Reindex(context.Background(), "nobody"); !errors.Is(err, ipc.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	w.idle()
	if w.inL0() != 2 || w.l1.Status().Chunks != 2 {
		t.Errorf("%d chunks in L0, %d in L1", w.inL0(), w.l1.Status().Chunks)
	}
	w.save("a.md", "\x00\xff\x00\x01")
	job, err = w.Reindex(context.Background(), id)
	if err != nil || job.Documents.Failed != 1 || len(job.Problems) != 1 {
		t.Errorf("unreadable: %+v, %v", job, err)
	}
	w.delete("a.md")
	if job, err = w.Reindex(context.Background(), id); err != nil && !errors.Is(err, ipc.ErrNotFound) {
		t.Errorf("gone: %+v, %v", job, err)
	}
	if w.settle(); w.has("a.md") {
		t.Error("the record stays")
	}
}

// SPEC 5.2: without its base folder a reconcile says so at once, and leaves nothing pending.
func TestReconcile_BaseMissing_5_2(t *testing.T) {
	w := newWorld(t)
	w.save("api/a.md", doc("Alpha", "kw-alpha"))
	w.start()
	w.must(os.Rename(w.base, w.base+".away"))
	w.eventually("missing", func() bool { return w.watcher.BaseMissing() })
	for _, dropped := range []bool{false, true} {
		if dropped {
			w.eventually("dropped", func() bool { return !w.has("api/a.md") })
			w.idle()
		}
		for _, dry := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			job, err := w.Reconcile(ctx, dry)
			cancel()
			if err != nil || len(job.Problems) != 1 || !strings.Contains(job.Problems[0], "is missing") || job.Documents.Deleted != 0 {
				t.Errorf("dropped %t, dry %t: %+v, %v", dropped, dry, job, err)
			}
		}
	}
	w.watcher.Rescan()
	w.watcher.Touch("api/a.md")
	w.idle()
	w.must(os.Rename(w.base+".away", w.base))
	w.eventually("back", func() bool { return w.has("api/a.md") })
}

// A dry run ends with the caller's patience.
func TestReconcile_DryRunEnds_5_2(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		w.save(name, doc(name, "kw-"+name))
	}
	w.start()
	ctx, cancel := context.WithCancel(context.Background())
	read := w.pipeline.read
	ok := w.pipeline.do(context.Background(), func() {
		w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
			cancel()
			return read(abs, limit)
		}
		before := w.reads.Load()
		var n ipc.JobDocuments
		if err := w.pipeline.compare(ctx, &n); !errors.Is(err, context.Canceled) || w.reads.Load() != before+1 {
			t.Errorf("%v after %d files", err, w.reads.Load()-before)
		}
		w.pipeline.read = read
	})
	if !ok {
		t.Error("did not run")
	}
}
