package watcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// SPEC 4.2: the base folder may be deleted and come back; within the grace nothing flickers.
func TestTrouble_4_2_BaseRecreated(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/a.md", "old", "ops/b.md", "same")
		b.w.grace = 5 * time.Second
		b.start()
		before := b.count("ops/a.md") + b.count("ops/b.md")
		b.must(os.Rename(b.root, b.root+"-gone"))
		b.await("missing", func() bool { return b.w.Status().BaseMissing })
		if !strings.Contains(b.logs.String(), "level=WARN msg=\"the base folder is missing") {
			t.Errorf("no WARN:\n%s", b.logs)
		}
		b.put("ops/a.md", "new")
		b.put("ops/b.md", "same")
		b.index("ops/a.md", "new", "ops/b.md", "same")
		if got := b.count("ops/a.md") + b.count("ops/b.md") - before; got != 1 {
			t.Errorf("%d updates, want 1", got)
		}
		if st := b.w.Status(); st.BaseMissing || st.Folders != 2 {
			t.Errorf("status %+v", st)
		}
		b.put("ops/c.md", "watched again")
		b.index("ops/a.md", "new", "ops/b.md", "same", "ops/c.md", "watched again")
	})
}

// SPEC 4.2: a base folder that was moved away and is back before anybody looked has lost its watch.
func TestTrouble_4_2_BaseAwayForAMoment(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1", "ops/b.md", "1").start()
	for i := range 5 {
		b.must(os.Rename(b.root, b.root+"-gone"))
		b.must(os.WriteFile(filepath.Join(b.root+"-gone", "a.md"), []byte(strings.Repeat("away ", i+2)), 0o600))
		b.must(os.Rename(b.root+"-gone", b.root))
		b.await("seen", func() bool { return b.w.Status().Pending == 0 })
		text := strings.Repeat("back ", i+2)
		b.put("c.md", text)
		b.put("ops/b.md", text)
		b.index("a.md", strings.Repeat("away ", i+2), "c.md", text, "ops/b.md", text)
	}
}

// A base folder that stays away loses its documents, with a WARN; the watcher waits for its return all the same.
func TestTrouble_4_2_BaseStaysAway(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/a.md", "1").start()
		b.must(os.Rename(b.root, b.root+"-gone"))
		b.index()
		if st := b.w.Status(); !st.BaseMissing || st.Pending != 0 {
			t.Errorf("status %+v", st)
		}
		b.must(os.Rename(b.root+"-gone", b.root))
		b.index("ops/a.md", "1")
		b.put("ops/a.md", "2")
		b.index("ops/a.md", "2")
	})
}

// An empty folder in the base folder's place, as when a disk is unmounted, is believed only after the grace.
func TestTrouble_4_2_BaseEmptied(t *testing.T) {
	b := newBench(t, Config{PollInterval: 50 * ms}, "ops/a.md", "1")
	b.w.grace = 5 * time.Second
	b.start()
	before := b.count("ops/a.md")
	b.must(os.Mkdir(b.root+"-empty", 0o755))
	b.must(os.Rename(b.root, b.root+"-disk"))
	b.must(os.Rename(b.root+"-empty", b.root))
	b.await("a WARN", func() bool { return strings.Contains(b.logs.String(), "has no documents any more") })
	b.must(os.Remove(b.root))
	b.must(os.Rename(b.root+"-disk", b.root))
	b.index("ops/a.md", "1")
	if got := b.count("ops/a.md") - before; got != 0 {
		t.Errorf("%d updates, want 0", got)
	}

	b.w.log.Info("now for good")
	c := newBench(t, Config{PollInterval: 50 * ms}, "ops/a.md", "1").start()
	c.must(os.Mkdir(c.root+"-empty", 0o755))
	c.must(os.Rename(c.root, c.root+"-disk"))
	c.must(os.Rename(c.root+"-empty", c.root))
	c.index()
}

// A watcher may start before its folder exists.
func TestTrouble_4_2_BaseMissingAtStart(t *testing.T) {
	b := newBench(t, Config{PollInterval: 50 * ms})
	b.must(os.Remove(b.root))
	b.start()
	if !b.w.Status().BaseMissing {
		t.Error("base folder is not missing")
	}
	b.put("a.md", "1")
	b.index("a.md", "1")
}
