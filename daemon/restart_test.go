package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"knowledged/ipc"
	"knowledged/registry"
)

// SPEC 3.3: a category that changed just before a crash, so that the registry knows it and the vectors do not, is theirs
// after the next start.
func TestCategoryReachesVectorsAfterACrash_3_3(t *testing.T) {
	const text = "---\ntitle: A\nkeywords: [alpha]\nsummary: s\ncategory: one\n---\n\n## Part\n\nPayment gateways time out when the upstream is slow.\n"
	w := newWorld(t)
	w.save("a.md", text)
	w.start()
	w.halt()
	w.save("a.md", strings.Replace(text, "category: one", "category: two", 1))
	w.open() // and never run: the registry alone is written
	if _, err := w.pipeline.write([]finding{w.pipeline.look("a.md", false)}); err != nil {
		t.Fatal(err)
	}
	w.must(w.Close())
	w.start()
	for category, want := range map[string]bool{"one": false, "two": true} {
		hits, err := w.l1.Search(context.Background(), "payment gateway timeout upstream", 5, category)
		if err != nil || len(hits) > 0 != want {
			t.Errorf("category %s: %d hits, %v", category, len(hits), err)
		}
	}
}

// kill ends the daemon as a crash would: what it starts with next is the state folder as it is now, of a daemon that
// goes on running meanwhile.
func (w *world) kill() {
	w.t.Helper()
	left := w.cfg.StateDir + "-left"
	if err := os.CopyFS(left, os.DirFS(w.cfg.StateDir)); err != nil {
		w.t.Fatal(err)
	}
	w.halt()
	if err := os.RemoveAll(w.cfg.StateDir); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(left, w.cfg.StateDir); err != nil {
		w.t.Fatal(err)
	}
}

// age makes the records look indexed long after their files were written: those of a moment ago are read again (racyAge).
func (w *world) age() {
	w.t.Helper()
	reg, err := registry.Open(w.cfg.StateDir, w.Daemon.log)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, rec := range reg.All() {
		old := *rec
		old.IndexedAt = time.Now().Add(time.Minute)
		if err := reg.Apply([]registry.Change{{Path: rec.Path, Record: &old, KeepChunks: true}}); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := reg.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func tenDocuments(t *testing.T) *world {
	w := newWorld(t)
	for i := range 10 {
		w.save(fmt.Sprintf("d%d/%d.md", i%3, i), doc(fmt.Sprintf("Title %d", i), fmt.Sprintf("kw-%d", i)))
	}
	return w.start()
}

// SPEC 1.5, 4.3: a daemon that was killed knows what it knew before it has read anything, and reads only what changed.
func TestKilledAndStarted_1_5_4_3(t *testing.T) {
	w := tenDocuments(t)
	before := map[string]ipc.Record{}
	for _, path := range w.paths() {
		before[path] = w.record(path)
	}
	w.kill()
	w.age()
	w.save("d0/0.md", doc("Changed", "kw-changed"))
	w.save("d0/new.md", doc("New", "kw-new"))
	w.delete("d1/1.md")
	w.move("d2/2.md", "d2/moved.md")
	w.cool()
	w.open()
	if !w.answers("kw-5", "d2/5.md") {
		t.Error("nothing is known before the scan")
	}
	w.run()
	w.idle()
	if n := w.reads.Load(); n != 3 {
		t.Errorf("%d files read, want the 3 that are new or changed", n)
	}
	if s := w.status(); s.Documents.Total != 10 || s.Updates != 4 || s.Documents.L1 != 10 {
		t.Errorf("status %+v", s)
	}
	for path, old := range before {
		switch path {
		case "d1/1.md":
			if w.known("kw-1") {
				t.Error("deleted while away, and found")
			}
			continue
		case "d2/2.md":
			path = "d2/moved.md"
		}
		if rec := w.record(path); rec.DocID != old.DocID || !rec.CreatedAt.Equal(old.CreatedAt) || rec.Status != ipc.StatusIndexed {
			t.Errorf("record %+v, before %+v", rec, old)
		}
	}
	if !w.answers("kw-changed", "d0/0.md") || !w.answers("kw-new", "d0/new.md") || !w.answers("kw-2", "d2/moved.md") {
		t.Errorf("documents %q", w.paths())
	}
}

// An untouched folder: no file is read, no update counted, no vector made.
func TestWarmStart_1_5(t *testing.T) {
	w := tenDocuments(t)
	w.halt()
	w.age()
	w.cool()
	w.log.reset()
	w.start()
	if n := w.reads.Load(); n != 0 || w.status().Updates != 0 || len(w.log.lines("vectors made")) != 0 {
		t.Errorf("%d files read, status %+v", n, w.status())
	}
}

// Files indexed right after they were written are read once more, and no change is made of it.
func TestRacyFilesAreReadAgain(t *testing.T) {
	w := tenDocuments(t)
	w.halt()
	w.start()
	if n := w.reads.Load(); n < 10 || w.status().Updates != 0 {
		t.Errorf("%d files read, status %+v", n, w.status())
	}
}

// SPEC 2.10, 3.6: indexes that are lost, damaged or behind are rebuilt from what the registry has, without reading files.
func TestIndexesAreRebuilt_2_10_3_6(t *testing.T) {
	cases := map[string]func(w *world, dir string){
		"l0 removed": func(w *world, dir string) { w.must(os.RemoveAll(filepath.Join(dir, "l0"))) },
		"l0 damaged": func(w *world, dir string) { w.spoil(filepath.Join(dir, "l0")) },
		"l1 removed": func(w *world, dir string) { w.must(os.RemoveAll(filepath.Join(dir, "l1"))) },
		"l1 damaged": func(w *world, dir string) { w.spoil(filepath.Join(dir, "l1")) },
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			w := tenDocuments(t)
			chunks := w.inL0()
			w.halt()
			w.age()
			w.cool()
			damage(w, w.cfg.StateDir)
			w.start()
			if w.inL0() != chunks || w.l1.Status().Chunks != chunks || w.reads.Load() != 0 || w.status().Updates != 0 {
				t.Errorf("%d chunks in L0, %d in L1, want %d; %d files read", w.inL0(), w.l1.Status().Chunks, chunks, w.reads.Load())
			}
			if !w.answers("kw-5", "d2/5.md") || !w.ask("Text of Title 7").Found {
				t.Error("not found")
			}
		})
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// spoil overwrites the middle of every file below dir.
func (w *world) spoil(dir string) {
	w.t.Helper()
	w.must(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := len(data) / 4; i < len(data)*3/4; i++ {
			data[i] ^= 0x5a
		}
		return os.WriteFile(path, data, 0o600)
	}))
}

// SPEC 2.10: a registry that is damaged is set aside with a WARN; the folder is indexed anew, and nothing stale is found.
func TestRegistryIsRebuilt_2_10(t *testing.T) {
	w := tenDocuments(t)
	chunks := w.inL0()
	w.halt()
	w.must(os.WriteFile(filepath.Join(w.cfg.StateDir, "registry.db"), []byte("garbage"), 0o600))
	w.delete("d1/1.md")
	w.log.reset()
	w.start()
	if len(w.log.lines("WARN")) != 1 {
		t.Errorf("log %v", w.log.lines("WARN"))
	}
	if w.status().Documents.Total != 9 || w.inL0() != chunks-2 || w.l1.Status().Chunks != chunks-2 || w.known("kw-1") || !w.answers("kw-5", "d2/5.md") {
		t.Errorf("status %+v, %d chunks of %d", w.status(), w.inL0(), chunks)
	}
}

// What settings change about records is applied to files that did not change (SPEC 1.3, 3.1).
func TestSettingsChange_1_3_3_1(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", "---\ntitle: Alpha\n---\n\n"+longText())
	w.start()
	id, chunks := w.record("a.md").DocID, w.record("a.md").ChunkCount
	if !w.record("a.md").InL0 {
		t.Fatal("a title suffices with the fallback")
	}
	w.halt()
	w.age()
	w.cfg.Knowledge.FrontMatter.Fallback = false
	w.cfg.Chunker.Target, w.cfg.Chunker.Max = 200, 400
	w.start()
	if rec := w.record("a.md"); rec.InL0 || rec.ChunkCount <= chunks || rec.DocID != id {
		t.Errorf("record %+v, before %d chunks", rec, chunks)
	}
	if w.inL0() != w.record("a.md").ChunkCount || w.l1.Status().Chunks != w.inL0() {
		t.Errorf("%d chunks in L0, %d in L1", w.inL0(), w.l1.Status().Chunks)
	}
}

func longText() (text string) {
	for i := range 40 {
		text += fmt.Sprintf("Paragraph %d says something about nothing in particular.\n\n", i)
	}
	return text
}

// Another base folder on the same state: the documents of the old one are gone.
func TestAnotherBase(t *testing.T) {
	w := tenDocuments(t)
	w.halt()
	w.base = filepath.Join(t.TempDir(), "kb")
	w.cfg.Knowledge.BasePath = w.base
	w.save("only.md", doc("Only", "kw-only"))
	w.start()
	if !slices.Equal(w.paths(), []string{"only.md"}) || w.known("kw-5") || !w.answers("kw-only", "only.md") {
		t.Errorf("documents %q", w.paths())
	}
}

// SPEC 6.1, API.md: a state folder has one owner.
func TestStateIsLocked_6_1(t *testing.T) {
	w := newWorld(t).start()
	if d, err := New(&w.cfg, "test", w.Daemon.log); err == nil {
		d.Close()
		t.Error("two daemons on one state folder")
	}
	w.settle() // the first goes on
}
