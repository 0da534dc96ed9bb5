package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"knowledged/ipc"
	"knowledged/lookup"
)

// SPEC 4.1: whatever happens to files and folders is in the next answers.
func TestEveryKindOfChange_4_1(t *testing.T) {
	w := newWorld(t).start()
	w.save("api/a.md", doc("Alpha", "kw-alpha"))
	w.eventually("created", func() bool { return w.answers("kw-alpha", "api/a.md") })
	w.save("api/a.md", doc("Changed", "kw-other"))
	w.eventually("edited", func() bool { return w.answers("kw-other", "api/a.md") && !w.known("kw-alpha") })
	w.move("api/a.md", "ops/b.md")
	w.eventually("renamed", func() bool { return w.answers("kw-other", "ops/b.md") && !w.has("api/a.md") })
	if c := w.record("ops/b.md").Category; c != "ops" {
		t.Errorf("category %q", c)
	}
	w.move("ops", "new/place")
	w.eventually("folder renamed", func() bool { return w.answers("kw-other", "new/place/b.md") && !w.has("ops/b.md") })
	tree := t.TempDir()
	for i := range 5 {
		text := doc(fmt.Sprintf("T%d", i), fmt.Sprintf("kw-tree%d", i))
		dir := filepath.Join(tree, "tree", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "t.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.move(tree+"/tree", "tree")
	w.eventually("moved in", func() bool { return w.answers("kw-tree0", "tree/0/t.md") && w.answers("kw-tree4", "tree/4/t.md") })
	w.move("tree", tree+"/out")
	w.eventually("moved out", func() bool { return !w.known("kw-tree0") && len(w.paths()) == 1 })
	w.delete("new")
	w.eventually("deleted", func() bool { return len(w.paths()) == 0 })
	w.idle()
	if w.inL0() != 0 || w.l1.Status().Chunks != 0 {
		t.Errorf("%d chunks in L0 and %d in L1 stay", w.inL0(), w.l1.Status().Chunks)
	}
}

// SPEC 4.1: one save is one indexing, however it is made; what changes no byte is none.
func TestOneSaveIsOneUpdate_4_1(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	text := doc("Beta", "kw-beta")
	cases := []struct {
		name string
		want int
		do   func()
	}{
		{"plain", 1, func() { w.save("a.md", text) }},
		{"same bytes", 0, func() { w.save("a.md", text) }},
		{"touch", 0, func() {
			if err := os.Chtimes(w.abs("a.md"), time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}},
		{"mode", 0, func() {
			if err := os.Chmod(w.abs("a.md"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"temporary file and rename", 1, func() { w.save("a.md.tmp", doc("Gamma", "kw-gamma")); w.move("a.md.tmp", "a.md") }},
		{"in many writes", 1, func() {
			f, err := os.Create(w.abs("a.md"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for _, line := range strings.SplitAfter(doc("Delta", "kw-delta"), "\n") {
				if _, err := f.WriteString(line); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"backup first", 1, func() { w.move("a.md", "a.md~"); w.save("a.md", doc("Epsilon", "kw-epsilon")); w.delete("a.md~") }},
		{"other files", 0, func() { w.save(".a.md.swp", "x"); w.save("a.txt", "x"); w.delete(".a.md.swp") }},
	}
	id := w.record("a.md").DocID
	for _, c := range cases {
		if n := w.updatesOf(c.do); n != c.want {
			t.Errorf("%s: %d updates, want %d", c.name, n, c.want)
		}
		if got := w.record("a.md").DocID; got != id {
			t.Errorf("%s: another docId", c.name) // SPEC 1.5
		}
	}
	if w.title("a.md") != "Epsilon" {
		t.Errorf("title %q", w.title("a.md"))
	}
}

// SPEC 4.1: a file is not indexed while it is half there; the record of before stays.
func TestHalfWritten_4_1(t *testing.T) {
	full := doc("Alpha", "kw-alpha")
	next := doc("Beta", "kw-beta")
	unclosed, _, _ := strings.Cut(next, "summary")
	for name, half := range map[string]string{
		"truncated": "", "unclosed front matter": unclosed, "within a character": next + "正文"[:4],
		"UTF-16, odd": "\xff\xfe-\x00-", "GB18030": "\xd6\xd0\xce\xc4\xd6", "room for the rest": strings.Repeat("\x00", 80),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.Watch.MaxSettle = 1 << 40 // for ever: only the rest of the file ends the waiting
			w.save("a.md", full)
			w.start()
			w.reads.Store(0)
			w.save("a.md", half)
			w.eventually("seen, several times", func() bool { return w.reads.Load() > 2 })
			if w.title("a.md") != "Alpha" || !w.answers("kw-alpha", "a.md") || w.status().Pending.L0 == 0 {
				t.Errorf("title %q, status %+v", w.title("a.md"), w.status())
			}
			a, err := w.Lookup(context.Background(), lookup.Request{Query: "kw-alpha", SectionTitle: "part"})
			if c := w.ask("kw-alpha").Primary.Content; !strings.Contains(c, "Text of Alpha") || err != nil || a.Primary.Section == nil || a.Primary.Content != "Text of Alpha." {
				t.Errorf("content %q, section %+v, %v", c, a.Primary, err) // SPEC 2.6: the old text until the new one is whole
			}
			w.save("new.md", half) // one that is not known yet
			w.save("a.md", next)
			w.eventually("whole", func() bool { return w.title("a.md") == "Beta" })
			if w.has("new.md") {
				t.Error("the beginning of a new file was indexed")
			}
			w.save("new.md", full)
			w.eventually("whole", func() bool { return w.title("new.md") == "Alpha" })
			w.idle()
			if n := w.status().Updates; n != 3 || len(w.log.lines("WARN")) != 0 {
				t.Errorf("%d updates; log %v", n, w.log.lines("WARN"))
			}
		})
	}
}

// SPEC 2.6: a file that was not touched lately is answered from as it is, also before the index knows it.
func TestHalfWrittenLongAgo_2_6(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	w.save("a.md", "restored with its time")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(w.abs("a.md"), long, long); err != nil {
		t.Fatal(err)
	}
	if d, err := w.readDocument("a.md"); err != nil || d.InL0 || !strings.Contains(d.Body, "restored") {
		t.Errorf("%+v, %v", d, err)
	}
}

// SPEC 4.1: a file emptied on purpose, or whose front matter stays unclosed, is believed after watch.max_settle.
func TestHalfWrittenForGood_4_1(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("b.md", doc("Beta", "kw-beta"))
	w.save("c.md", doc("Gamma", "kw-gamma"))
	w.start()
	w.save("c.md", doc("Gamma", "kw-gamma")+"\xe5")
	w.eventually("believed", func() bool { return w.record("c.md").Status == ipc.StatusFailed && !w.known("kw-gamma") })
	w.delete("c.md")
	w.eventually("deleted", func() bool { return !w.has("c.md") })
	w.log.reset()
	w.save("a.md", "")
	w.save("b.md", "---\ntitle: Beta\nkeywords: [kw-beta]\n")
	w.eventually("believed", func() bool { return !w.record("a.md").InL0 && !w.record("b.md").InL0 })
	w.idle()
	if w.record("a.md").ChunkCount > 1 || w.record("a.md").FileSize != 0 || w.known("kw-alpha") {
		t.Errorf("record %+v", w.record("a.md"))
	}
	if len(w.log.lines("WARN")) != 1 || w.log.lines("WARN")[0]["path"] != "b.md" {
		t.Errorf("log %v", w.log.lines("WARN"))
	}
}

// API.md: pending never shows 0 between a save that was seen and its being applied, in L0 and in L1.
func TestPendingCoversASave(t *testing.T) {
	w := newWorld(t).start()
	for i := range 30 {
		path, title := fmt.Sprintf("d/%d.md", i%7), fmt.Sprintf("Save %d", i)
		w.save(path, doc(title, fmt.Sprintf("kw-%d", i)))
		seen := false
		for deadline := time.Now().Add(patience); ; {
			s := w.status()
			applied := w.title(path) == title
			if s.Pending.L0 > 0 {
				seen = true
			} else if seen && !applied {
				t.Fatalf("save %d: pending is 0 and the save is not applied", i)
			}
			if s.Pending.L0 > 0 && s.Pending.L1 == 0 {
				t.Fatalf("save %d: L1 is at rest before L0 is: %+v", i, s.Pending)
			}
			if applied && (s.Pending == ipc.Pending{}) {
				for _, id := range w.chunkIDs(path) {
					if !w.l1.Has(id) {
						t.Fatalf("save %d: pending is 0 and a vector is missing", i)
					}
				}
				if s.L1.State != ipc.L1Ready {
					t.Fatalf("save %d: nothing pending, and L1 is %s", i, s.L1.State)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("save %d: status %+v", i, s)
			}
		}
	}
}

func (w *world) chunkIDs(path string) []string {
	rec, ok := w.registry.Get(path)
	if !ok {
		return nil
	}
	return rec.ChunkIDs()
}

// SPEC 3.3: changing only the category moves the document's chunks in the semantic index as well.
func TestCategoryChange_3_3(t *testing.T) {
	text := "---\ntitle: Alpha\nkeywords: [kw-alpha]\nsummary: connection pool exhausted\ncategory: CAT\n---\n\n## Pool\n\nThe database connection pool is exhausted.\n"
	w := newWorld(t)
	w.save("a.md", strings.Replace(text, "CAT", "ops", 1))
	w.save("b.md", strings.Replace(doc("Beta", "kw-beta"), "summary", "category: ops\nsummary", 1))
	w.start()
	found := func(category string) bool {
		a, err := w.Lookup(context.Background(), lookup.Request{Query: "database connections are exhausted", Category: category, AlwaysSemantic: true})
		if err != nil {
			t.Fatal(err)
		}
		hits, err := w.l1.Search(context.Background(), "database connections are exhausted", 5, category)
		if err != nil {
			t.Fatal(err)
		}
		inL1 := false
		for _, h := range hits {
			inL1 = inL1 || w.owner(h.ChunkID) == "a.md"
		}
		return inL1 && a.Supplement != nil && a.Supplement.Source == "kb/a.md"
	}
	if !found("ops") || found("api") {
		t.Fatal("not found in its category")
	}
	w.save("a.md", strings.Replace(text, "CAT", "api", 1))
	w.eventually("changed", func() bool { return w.record("a.md").Category == "api" })
	w.idle()
	if !found("api") || found("ops") {
		t.Error("the vectors kept the old category")
	}
}

func (w *world) owner(chunkID string) string {
	rec, _, ok := w.registry.Owner(chunkID)
	if !ok {
		return ""
	}
	return rec.Path
}

// SPEC 3.4: an edit touches only the chunks that changed.
func TestEditTouchesChangedChunksOnly_3_4(t *testing.T) {
	text := doc("Alpha", "kw-alpha") + "\n## One\n\nfirst text\n\n## Two\n\nsecond text\n\n## Three\n\nthird text\n"
	w := newWorld(t)
	w.save("a.md", text)
	w.start()
	before := w.chunkIDs("a.md")
	w.log.reset()
	w.save("a.md", strings.Replace(text, "second", "another", 1))
	w.eventually("changed", func() bool { return fmt.Sprint(w.chunkIDs("a.md")) != fmt.Sprint(before) })
	w.idle()
	same := 0
	for i, id := range w.chunkIDs("a.md") {
		if before[i] == id {
			same++
		}
	}
	if same != len(before)-1 {
		t.Errorf("%d of %d chunks kept", same, len(before))
	}
	w.eventually("logged", func() bool { return len(w.log.lines("document's vectors stored")) > 0 })
	line := w.log.lines("document's vectors stored")
	save := w.log.lines("document indexed")
	if len(line) != 1 || line[0]["chunks"] != 1.0 || len(save) != 1 || save[0]["requestId"] != line[0]["requestId"] || save[0]["level"] != "INFO" {
		t.Errorf("log %v, %v", save, line) // SPEC 7.1
	}
}

// A script that the built-in model doesn't know is nothing to warn of, and the document is INDEXED (SPEC 1.5).
func TestUnknownToTheModel_1_5(t *testing.T) {
	w := newWorld(t)
	w.save("emoji.md", "🎉🎉🎉")
	w.save("mixed.md", doc("Alpha", "kw-alpha")+"\n## 🎉\n\n🎉🎉\n")
	w.start()
	for _, path := range []string{"emoji.md", "mixed.md"} {
		if rec := w.record(path); rec.Status != ipc.StatusIndexed {
			t.Errorf("%s is %s", path, rec.Status)
		}
	}
	if w.record("emoji.md").InL1 || !w.record("mixed.md").InL1 {
		t.Error("inL1 of emoji.md or mixed.md is wrong")
	}
	if s := w.status(); s.Pending.L1 != 0 || s.L1.State != ipc.L1Ready || len(w.log.lines("WARN")) != 0 {
		t.Errorf("status %+v; log %v", s, w.log.lines("WARN"))
	}
}
