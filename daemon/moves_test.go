package daemon

import (
	"fmt"
	"os"
	"testing"
	"time"

	"knowledged/registry"
)

// SPEC 1.5: docId follows a rename.
func TestDocIDFollows_1_5(t *testing.T) {
	edited := doc("Alpha", "kw-edited") + "\nmore text\n"
	cases := []struct {
		name string
		do   func(w *world, aside string)
		to   string
	}{
		{"rename", func(w *world, _ string) { w.move("a.md", "b.md") }, "b.md"},
		{"into another folder", func(w *world, _ string) { w.move("a.md", "x/y/a.md") }, "x/y/a.md"},
		{"edited on the way", func(w *world, aside string) {
			w.move("a.md", aside)
			if err := os.WriteFile(aside, []byte(edited), 0o644); err != nil {
				w.t.Fatal(err)
			}
			w.move(aside, "b.md")
		}, "b.md"},
		{"renamed, then edited", func(w *world, _ string) { w.move("a.md", "b.md"); w.save("b.md", edited) }, "b.md"},
		{"copied and deleted", func(w *world, _ string) { w.save("b.md", doc("Alpha", "kw-alpha")); w.delete("a.md") }, "b.md"},
		{"another in its place", func(w *world, aside string) {
			w.move("a.md", aside)
			w.gone("a.md")
			w.move(aside, "b.md")
			w.save("a.md", doc("Other", "kw-other"))
		}, "b.md"},
		{"another in its place at once", func(w *world, _ string) {
			w.move("a.md", "b.md")
			w.save("a.md", doc("Other", "kw-other"))
		}, "b.md"},
	}
	for _, c := range cases {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %t", c.name, restart), func(t *testing.T) {
				w := newWorld(t)
				w.save("a.md", doc("Alpha", "kw-alpha"))
				w.start()
				before := w.record("a.md")
				if restart {
					w.halt()
				}
				c.do(w, w.cfg.StateDir+"/aside.md")
				if restart {
					w.start()
				}
				w.eventually("there", func() bool { return w.has(c.to) })
				w.settle()
				after := w.record(c.to)
				if after.DocID != before.DocID || !after.CreatedAt.Equal(before.CreatedAt) {
					t.Errorf("docId %s of %s, want %s", after.DocID, c.to, before.DocID)
				}
				if w.has("a.md") && w.record("a.md").DocID == before.DocID {
					t.Error("two documents with one docId")
				}
			})
		}
	}
}

// gone waits until the daemon, if it runs, has seen that a file is not there.
func (w *world) gone(path string) {
	if w.stop != nil {
		w.eventually(path+" gone", func() bool { return !w.has(path) })
	}
}

// SPEC 1.5: the two halves of a rename may come in two batches, a folder's as well.
func TestDocIDFollowsInTwoBatches_1_5(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.save(fmt.Sprintf("dir/%d.md", i), doc(fmt.Sprintf("T%d", i), fmt.Sprintf("kw-%d", i)))
	}
	w.start()
	ids := map[string]string{}
	for i := range 3 {
		ids[w.title(fmt.Sprintf("dir/%d.md", i))] = w.record(fmt.Sprintf("dir/%d.md", i)).DocID
	}
	w.move("dir", w.cfg.StateDir+"/aside")
	w.eventually("gone", func() bool { return len(w.paths()) == 0 })
	w.move(w.cfg.StateDir+"/aside", "new/dir")
	w.eventually("back", func() bool { return len(w.paths()) == 3 })
	for _, path := range w.paths() {
		if rec := w.record(path); rec.DocID != ids[rec.Title] {
			t.Errorf("%s has another docId", path)
		}
	}
}

// SPEC 1.5: renames told in parts, the later first: at first the place of the one seems saved over, then it turns up.
func TestDocIDFollowsWhatIsToldLate_1_5(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("b.md", doc("Beta", "kw-beta"))
	w.start()
	a, b := w.record("a.md"), w.record("b.md")
	aside := w.cfg.StateDir + "/aside.md"
	w.move("a.md", aside)
	w.move("b.md", "a.md")
	w.eventually("moved over", func() bool { return w.title("a.md") == "Beta" && !w.has("b.md") })
	w.move(aside, "c.md")
	w.eventually("there again", func() bool { return w.title("c.md") == "Alpha" })
	w.idle()
	if got := w.record("c.md"); got.DocID != a.DocID || !got.CreatedAt.Equal(a.CreatedAt) {
		t.Errorf("docId %s, want %s", got.DocID, a.DocID)
	}
	if got := w.record("a.md"); got.DocID != b.DocID || !got.CreatedAt.Equal(b.CreatedAt) {
		t.Errorf("docId %s, want %s", got.DocID, b.DocID)
	}
}

// A new file that got the inode of a removed one is another document, and so is a copy.
func TestAnotherDocument(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	id := w.record("a.md").DocID
	w.save("copy.md", doc("Alpha", "kw-alpha"))
	w.eventually("copied", func() bool { return w.has("copy.md") })
	if w.record("copy.md").DocID == id || w.record("a.md").DocID != id {
		t.Error("a copy took the docId")
	}
	old := &registry.Record{DocID: "1", Path: "a.md", FileHash: "h1", FileSize: 10, Inode: 7, Title: "Alpha"}
	g := graves{}
	g.bury(old, time.Now())
	for _, size := range []int64{10, 20} {
		if c := g.claims(); c.moved(&registry.Record{Path: "b.md", FileHash: "h2", FileSize: size, Inode: 7, Title: "Beta"}) != nil {
			t.Errorf("an inode alone proves a move (%d bytes)", size)
		}
	}
	for name, rec := range map[string]*registry.Record{
		"inode and title": {Path: "b.md", FileHash: "h2", FileSize: 20, Inode: 7, Title: "Alpha"},
		"bytes":           {Path: "b.md", FileHash: "h1", FileSize: 10, Inode: 8, Title: "Alpha"},
	} {
		if c := g.claims(); c.moved(rec) != old {
			t.Errorf("%s: no move", name)
		}
	}
	g.expire(time.Now().Add(2 * graveTime))
	if len(g.dead) != 0 {
		t.Error("a grave is kept for ever")
	}
}
