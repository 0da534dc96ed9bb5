package watcher

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// all runs a test with events and with comparison alone.
func all(t *testing.T, test func(t *testing.T, cfg Config)) {
	t.Run("events", func(t *testing.T) {
		t.Parallel()
		test(t, Config{PollInterval: time.Hour})
	})
	t.Run("polling", func(t *testing.T) {
		t.Parallel()
		test(t, Config{Mode: ModePoll, PollInterval: 20 * ms})
	})
}

// SPEC 4.1: created, changed, renamed, deleted; folders too.
func TestWatch_4_1_Basics(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/a.md", "1", "ops/notes.txt", "x").start()
		b.index("ops/a.md", "1")
		b.put("ops/a.md", "changed")
		b.index("ops/a.md", "changed")
		b.put("ops/b.MarkDown", "2")
		b.put("top.md", "3")
		b.index("ops/a.md", "changed", "ops/b.MarkDown", "2", "top.md", "3")
		b.mv("ops/b.MarkDown", "ops/c.md")
		b.index("ops/a.md", "changed", "ops/c.md", "2", "top.md", "3")
		b.rm("top.md")
		b.index("ops/a.md", "changed", "ops/c.md", "2")
		b.must(os.Rename(b.file("ops"), b.root+"-gone")) // both at once, whatever the watcher looks at meanwhile
		b.index()
		if log := b.logs.String(); !strings.Contains(log, "no document is left") {
			t.Errorf("no WARN about the emptied folder:\n%s", log)
		}
	})
}

// New folders, made one in another faster than watches can follow, moved in, renamed, moved out.
func TestWatch_4_1_Folders(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/deep/a.md", "1").start()
		for i := range 20 {
			b.put(fmt.Sprintf("n%d/m/k/a.md", i), "new")
		}
		b.await("all new folders", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.known) == 21 })
		for i := range 20 {
			b.rm(fmt.Sprintf("n%d", i))
		}
		b.index("ops/deep/a.md", "1")

		put(t, b.root+"-out", "pack/sub/a.md", "2")
		b.must(os.Rename(b.root+"-out/pack", b.file("pack")))
		b.index("ops/deep/a.md", "1", "pack/sub/a.md", "2")
		b.put("pack/sub/b.md", "3")
		b.index("ops/deep/a.md", "1", "pack/sub/a.md", "2", "pack/sub/b.md", "3")

		b.mv("ops", "infra")
		b.index("infra/deep/a.md", "1", "pack/sub/a.md", "2", "pack/sub/b.md", "3")
		b.put("infra/deep/a.md", "after the rename")
		b.put("infra/deep/b.md", "4")
		b.index("infra/deep/a.md", "after the rename", "infra/deep/b.md", "4", "pack/sub/a.md", "2", "pack/sub/b.md", "3")

		b.must(os.Rename(b.file("pack"), b.root+"-out/pack"))
		b.index("infra/deep/a.md", "after the rename", "infra/deep/b.md", "4")
		put(t, b.root+"-out", "pack/sub/a.md", "no longer watched")
		b.put("ops/deep/a.md", "the old name again")
		b.index("infra/deep/a.md", "after the rename", "infra/deep/b.md", "4", "ops/deep/a.md", "the old name again")
	})
}

// A renamed folder whose old name is taken by another at once, and folders that swap names.
func TestWatch_4_1_FoldersSwap(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "x/in/a.md", "x", "y/in/a.md", "y").start()
		b.mv("x", "z")
		b.mv("y", "x")
		b.mv("z", "y")
		b.index("x/in/a.md", "y", "y/in/a.md", "x")
		b.put("x/in/a.md", "X")
		b.put("y/in/b.md", "Y")
		b.index("x/in/a.md", "X", "y/in/a.md", "x", "y/in/b.md", "Y")
		st := b.w.Status()
		if st.Folders != 5 || cfg.Mode != ModePoll && st.PolledFolders != 0 {
			t.Errorf("status %+v", st)
		}
	})
}

// A moved file or folder comes in one batch, both ends, so that its reader can tell a move.
func TestWatch_4_1_MoveIsOneBatch(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1")
	for i := range 300 {
		b.put(fmt.Sprintf("dir/sub%d/%03d.md", i%7, i), fmt.Sprint(i))
	}
	b.start()
	together := func(old, new string) {
		t.Helper()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, batch := range b.batches {
			if slices.Contains(batch.Paths, new) && !batch.All {
				if !slices.Contains(batch.Paths, old) {
					t.Errorf("%s came without %s", new, old)
				}
				return
			}
		}
		t.Errorf("%s never came", new)
	}
	b.mv("a.md", "moved.md")
	b.await("moved.md", func() bool { return b.count("moved.md") == 1 })
	b.idle()
	together("a.md", "moved.md")
	b.mv("dir", "there")
	b.await("299.md", func() bool { return b.count("there/sub5/299.md") == 1 })
	b.idle()
	for i := range 300 {
		name := fmt.Sprintf("/sub%d/%03d.md", i%7, i)
		together("dir"+name, "there"+name)
	}
}

// A file replaced by a folder of the same name, and back.
func TestWatch_4_1_FileToFolder(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/a.md", "1").start()
		b.rm("ops/a.md")
		b.put("ops/a.md/in.md", "2")
		b.index("ops/a.md/in.md", "2")
		b.rm("ops/a.md")
		b.put("ops/a.md", "3")
		b.index("ops/a.md", "3")
	})
}

// Linux: a case-only rename is a move like any other. Names stay as they are on disk.
func TestWatch_1_4_NamesAsOnDisk(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "Redis.md", "1", "caf\u00e9.md", "nfc", "cafe\u0301.md", "nfd", "支付/错误码.md", "2").start()
		b.mv("Redis.md", "redis.md")
		b.index("redis.md", "1", "caf\u00e9.md", "nfc", "cafe\u0301.md", "nfd", "支付/错误码.md", "2")
		b.put("bad\xff.md", "x")
		b.await("a reason", func() bool { return b.reason("bad\xff.md") != "" })
		b.index("redis.md", "1", "caf\u00e9.md", "nfc", "cafe\u0301.md", "nfd", "支付/错误码.md", "2")
	})
}

// SPEC 4.1: what is not a document, by name.
func TestWatch_4_1_Names(t *testing.T) {
	w, err := New(Config{Base: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"a.md": true, "a.MD": true, "a.markdown": true, "a.Markdown": true, "x/y/错误码.md": true, "v1.2.md/in.md": true, "a b.md": true, "~a.md": true,
		"how to mend (sync) a conflicted copy.md": true, "v1.sb-notes/a.md": true,
		"a.txt": false, "a.md~": false, "#a.md#": false, ".#a.md": false, ".a.md": false, ".a.md.swp": false, "a.md.swp": false, "a.md.swx": false, "4913": false,
		"a.md___jb_tmp___": false, "a.md___jb_old___": false, "~syncthing~a.md.tmp": false, "~syncthing~a.md": false, ".syncthing.a.md.tmp": false, "~$a.md": false,
		"a.sync-conflict-20260101-000000-ABCDEFG.md": false, "a (conflicted copy 2026-01-01 120000).md": false, "a (Ann's conflicted copy 2026-01-01).md": false,
		"a (Conflicted copy iPhone 202601011200).md": false, "a (DESKTOP-1's conflicted copy).md": false, "a (Ann 的冲突副本 2026-01-01).md": false,
		"a (Case Conflict).md": false, "a (Case Conflict 1).md": false, "a (Unicode Encoding Conflict).md": false, "a [conflicted].md": false,
		"a (SFConflict ann@x.org 2026-01-01-12-00-00).md": false, "a(Conflict_ann (Web browser)_2026-01-01-12-00-00).md": false,
		"a (DESKTOP-1 conflict 2026-01-01).md": false, "a (conflict on 2026-01-01).md": false, "a_conflict-20260101-120000.md": false,
		"a_Andy-PC_Jan-03-0901-2026_CaseConflict_1.md": false, "a_Andy-PC_Jan-03-0901-2026_Conflict.md": false, "a.Conflict.md": false, "a.conflict1.md": false,
		"a_BASE_4711.md": false, "a_LOCAL_4711.md": false, "a_REMOTE_4711.md": false, "a_BACKUP_4711.markdown": false, "a_BASE_2145.md": false,
		"DB_BACKUP_2026.md": true, "DB_BACKUP_20260101.md": true, "KNOWLEDGE_BASE_2.md": true, "PLAN_LOCAL_202601.md": true, "HOST_REMOTE_12.md": true,
		"conflict.md": true, "merge conflict.md": true, "git.conflict.md": true, "conflict-2026-01-01.md": true, "a (conflict of interest).md": true,
		"a (conflict of interest 2026-01-01).md": true, "冲突副本.md": true, "how to resolve (case) conflicts.md": true, "SELECT_BASE.md": true, "a (1).md": true, "a 2.md": true,
		"$RECYCLE.BIN/a.md": false, "#recycle/a.md": false, "x/@eaDir/a.md": false, "lost+found/a.md": false, "System Volume Information/a.md": false, "recycle/a.md": true, "#x/a.md": true,
		".~lock.a.md#": false, ".a.md.icloud": false, ".stversions/a.md": false, ".git/a.md": false, ".obsidian/x/a.md": false, "x/.trash/a.md": false,
		"md": false, ".md": false, "": false, "a.md.sb-1234abcd-XyZ123/a.md": false, "a.md/": false, "sedAb12Cd": false,
	} {
		if got := w.IsDocument(path); got != want {
			t.Errorf("IsDocument(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestNew_Errors(t *testing.T) {
	for _, cfg := range []Config{{}, {Base: "x", Mode: "psychic"}} {
		if w, err := New(cfg, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("New(%+v) = %v, want an error", cfg, w)
		}
	}
}

// Pending covers a change from its event until Done, without a gap.
func TestStatus_PendingHasNoGap(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1")
	if got := b.w.Status().Pending; got == 0 {
		t.Error("nothing pending before the first scan")
	}
	b.start()
	for i := range 30 {
		b.put("a.md", fmt.Sprint("version ", i))
		for b.w.Status().Pending > 0 { // the very first answer counts, though the event may still be in the kernel
		}
		b.mu.Lock()
		got := b.known["a.md"]
		b.mu.Unlock()
		if want := fmt.Sprint("version ", i); got != want {
			t.Fatalf("nothing pending, but the index has %q, want %q", got, want)
		}
	}
}

// Touch counts at once and leads to another look; so does Rescan.
func TestTouchAndRescan(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1").start()
	n := len(b.batches)
	b.w.Touch("a.md")
	b.w.Touch("not a document")
	if got := b.w.Status().Pending; got != 1 {
		t.Errorf("%d pending after Touch, want 1", got)
	}
	b.idle()
	if got := b.batches[n:]; len(got) != 1 || !slices.Equal(got[0].Paths, []string{"a.md"}) || got[0].All {
		t.Errorf("Touch led to %+v", got)
	}
	hold := make(chan struct{})
	b.mu.Lock()
	b.hold = hold
	b.mu.Unlock()
	b.w.Rescan()
	if b.w.Status().Pending == 0 {
		t.Error("nothing pending after Rescan")
	}
	close(hold)
	b.idle()
	if got := b.batches[n+1:]; len(got) != 1 || !slices.Equal(got[0].Paths, []string{"a.md"}) || !got[0].All {
		t.Errorf("Rescan led to %+v", got)
	}
	if b.w.Status().LastWalk.IsZero() {
		t.Error("no time of the last walk")
	}
}

// While the reader is busy, changes are merged; a storm becomes one listing.
func TestWatch_4_2_BusyReader(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1").start()
	hold := make(chan struct{})
	b.mu.Lock()
	b.hold = hold
	b.mu.Unlock()
	b.put("a.md", "2")
	b.await("the reader is busy", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.known["a.md"] == "2" })
	n := len(b.batches)
	for i := range 200 {
		b.put(fmt.Sprintf("s%d/%03d.md", i%5, i), "x")
		b.put("a.md", fmt.Sprint(i))
	}
	b.await("all seen", func() bool { return b.w.Status().Pending >= 202 })
	time.AfterFunc(600*ms, func() { close(hold) }) // longer than MaxSettle: all of it is ready by then
	b.await("all indexed", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.known) == 201 && b.known["a.md"] == "199" })
	b.idle()
	if got := len(b.batches) - n; got > 2 {
		t.Errorf("%d batches, want the changes merged", got)
	}
}

func TestWatch_RunTwice(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}).start()
	if err := b.w.Run(t.Context(), nil); err == nil {
		t.Error("a second Run did not fail")
	}
}
