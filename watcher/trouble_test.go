package watcher

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// SPEC 4.1: a linked file is a document once; links out of the base folder, broken ones and loops are named, not followed.
func TestTrouble_4_1_Links(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/a.md", "1", "real/b.md", "2")
		put(t, b.root+"-out", "private.md", "secret")
		link := func(to, name string) { t.Helper(); b.must(os.Symlink(to, b.file(name))) }
		link(b.root+"-out/private.md", "ops/leak.md")
		link(b.root+"-out", "ops/leakdir")
		link("a.md", "ops/again.md")
		link("../real", "ops/inside")
		link("..", "ops/up")
		link("nowhere", "ops/broken.md")
		link("nowhere", "ops/broken.txt")
		link("self.md", "ops/self.md")
		link("user@host.1:2", "ops/.#a.md")
		b.start()
		b.index("ops/a.md", "1", "real/b.md", "2")
		for path, want := range map[string]string{
			"ops/leak.md": "out of the base", "ops/leakdir": "out of the base", "ops/again.md": "own place", "ops/inside": "own place",
			"ops/up": "loop", "ops/broken.md": "broken", "ops/self.md": "itself",
		} {
			if got := b.reason(path); !strings.Contains(got, want) {
				t.Errorf("%s skipped because of %q, want %q", path, got, want)
			}
			if _, err := b.w.Stat(path); err == nil {
				t.Errorf("Stat admits %s", path)
			}
		}
		if len(b.skipped) != 7 {
			t.Errorf("skipped: %v", b.skipped)
		}
		if _, err := b.w.Stat("ops/leakdir/private.md"); err == nil {
			t.Error("Stat admits a file behind a link")
		}
		// A document replaced by a link out of the folder is gone; a link replaced by a file is a document.
		b.rm("ops/a.md")
		link(b.root+"-out/private.md", "ops/a.md")
		b.rm("ops/leak.md")
		b.put("ops/leak.md", "mine")
		b.await("again.md is another link now", func() bool { return b.reason("ops/a.md") != "" })
		b.index("ops/leak.md", "mine", "real/b.md", "2")
	})
}

// With FollowSymlinks, links out of the base folder are read, each target once, loops excepted.
func TestTrouble_4_1_LinksFollowed(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		cfg.FollowSymlinks = true
		b := newBench(t, cfg, "ops/a.md", "1")
		put(t, b.root+"-out", "x.md", "x")
		put(t, b.root+"-out", "dir/y.md", "y")
		put(t, b.root+"-out", "notes.txt", "n")
		b.must(os.Symlink(b.root+"-out/dir", b.root+"-out/dir/loop"))
		link := func(to, name string) { t.Helper(); b.must(os.Symlink(to, b.file(name))) }
		link(b.root+"-out/x.md", "ops/x.md")
		link(b.root+"-out/x.md", "ops/x2.md")
		link(b.root+"-out/dir", "shared")
		link(b.root+"-out/dir", "shared2")
		link(b.root+"-out/dir/y.md", "y.md")
		link("a.md", "ops/again.md")
		link("..", "ops/up")
		link(b.root+"/..", "above")
		b.start()
		b.index("ops/a.md", "1", "ops/x.md", "x", "shared/y.md", "y")
		for _, path := range []string{"ops/x2.md", "shared2", "shared/loop", "y.md", "ops/again.md", "ops/up", "above"} {
			if b.reason(path) == "" {
				t.Errorf("%s was not reported", path)
			}
		}
		put(t, b.root+"-out", "dir/z.md", "z")
		b.index("ops/a.md", "1", "ops/x.md", "x", "shared/y.md", "y", "shared/z.md", "z")
		b.rm("shared")
		b.await("the folder is gone", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.known["shared/z.md"] == "" })
	})
}

// SPEC 4.2: lost events lead to a WARN and to a full comparison.
func TestTrouble_4_2_Overflow(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour})
	// Events go through a gate, so that the test can lose them.
	var closed atomic.Bool
	open := b.w.open
	b.w.open = func() (*fsnotify.Watcher, error) {
		fsw, err := open()
		if err != nil {
			return nil, err
		}
		in, out := fsw.Events, make(chan fsnotify.Event, 100)
		go func() {
			defer close(out)
			for ev := range in {
				if !closed.Load() {
					out <- ev
				}
			}
		}()
		fsw.Events = out
		return fsw, nil
	}
	b.put("x/in/a.md", "1")
	b.start()
	closed.Store(true)
	b.put("lost.md", "2")
	b.mv("x", "y") // leaves a watch under the old name behind
	b.mu.Lock()
	errs := b.fsw.Errors
	b.mu.Unlock()
	errs <- fsnotify.ErrEventOverflow
	b.index("lost.md", "2", "y/in/a.md", "1")
	if st := b.w.Status(); st.Overflows != 1 {
		t.Errorf("status %+v", st)
	}
	if !strings.Contains(b.logs.String(), "level=WARN msg=\"changes were missed") {
		t.Errorf("no WARN:\n%s", b.logs)
	}
	closed.Store(false)
	b.put("y/in/a.md", "3")
	b.index("lost.md", "2", "y/in/a.md", "3")
	errs = func() chan error { b.mu.Lock(); defer b.mu.Unlock(); return b.fsw.Errors }()
	n := b.alls()
	errs <- fs.ErrClosed // any other trouble
	b.await("another listing", func() bool { return b.alls() > n })
}

// Folders that are renamed and removed at once make fsnotify report errors while it holds its lock: the loop must not
// wait for that lock with the error unread.
func TestTrouble_4_2_ErrorsWhileRemoving(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1").start()
	for i := range 1000 {
		from, to := b.file(fmt.Sprintf("d%d", i%5)), b.file(fmt.Sprintf("e%d", i%5))
		b.must(os.MkdirAll(from+"/x", 0o755))
		if i%3 == 0 {
			<-time.After(ms) // let the watch be set in some rounds
		}
		b.must(os.Rename(from, to))
		b.must(os.RemoveAll(to))
	}
	b.put("b.md", "2")
	b.index("a.md", "1", "b.md", "2")
}

// SPEC 4.2: past the limit of watches, one WARN names the limit and the remedy, and the rest is polled.
func TestTrouble_4_2_WatchLimit(t *testing.T) {
	for _, mode := range []string{ModeAuto, ModeFsnotify} {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, Config{Mode: mode, PollInterval: 50 * ms})
			for i := range 20 {
				b.put(fmt.Sprintf("many/d%02d/x.txt", i), "")
			}
			var mu sync.Mutex
			room := 8
			b.w.add = func(fsw *fsnotify.Watcher, name string) error {
				mu.Lock()
				defer mu.Unlock()
				if room == 0 {
					return syscall.ENOSPC
				}
				room--
				return fsw.Add(name)
			}
			b.start()
			if st := b.w.Status(); st.Mode != ModeFsnotify || st.Folders != 22 || st.PolledFolders != 14 {
				t.Errorf("status %+v", st)
			}
			b.put("many/d19/a.md", "1")
			b.index("many/d19/a.md", "1")
			b.put("many/d19/new/b.md", "2")
			b.put("many/d00/c.md", "3")
			b.index("many/d19/a.md", "1", "many/d19/new/b.md", "2", "many/d00/c.md", "3")
			log := b.logs.String()
			if n := strings.Count(log, "max_user_watches="); n != 1 || strings.Contains(log, "disk") || strings.Contains(log, "space") {
				t.Errorf("%d WARNs name the remedy:\n%s", n, log)
			}
			mu.Lock()
			room = 1000
			mu.Unlock()
			b.await("all are watched once there is room", func() bool { return b.w.Status().PolledFolders == 0 })
		})
	}
}

// No watcher to be had at all: everything is polled, and watched as soon as that works.
func TestTrouble_4_2_NoWatcher(t *testing.T) {
	b := newBench(t, Config{PollInterval: 50 * ms}, "a/a.md", "1")
	var mended atomic.Bool
	open := b.w.open
	b.w.open = func() (*fsnotify.Watcher, error) {
		if !mended.Load() {
			return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE)
		}
		return open()
	}
	b.start()
	if st := b.w.Status(); st.Mode != ModePoll || st.PolledFolders != 2 {
		t.Errorf("status %+v", st)
	}
	if n := strings.Count(b.logs.String(), "max_user_instances="); n != 1 {
		t.Errorf("%d WARNs:\n%s", n, b.logs)
	}
	b.put("a/b.md", "2")
	b.index("a/a.md", "1", "a/b.md", "2")
	mended.Store(true)
	b.await("events again", func() bool { st := b.w.Status(); return st.Mode == ModeFsnotify && st.PolledFolders == 0 })
	b.put("a/b.md", "3")
	b.index("a/a.md", "1", "a/b.md", "3")
}

// SPEC 4.1: ignore rules hold for files and folders and are read again when they change.
func TestTrouble_4_1_IgnoreReload(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, ".gitignore", "drafts/\n*.tmp.md\n", "a.md", "1", "drafts/b.md", "2", "c.tmp.md", "3", "sub/d.md", "4").start()
		b.index("a.md", "1", "sub/d.md", "4")
		if !b.w.Ignored("drafts/b.md", false) || !b.w.Ignored("new.tmp.md", false) || b.w.Ignored("a.md", false) || !b.w.Ignored("drafts", true) {
			t.Error("Ignored does not tell what the rules say")
		}
		b.put("sub/.knowledgeignore", "d.md\n")
		b.index("a.md", "1")
		b.put(".gitignore", "a.md\n")
		b.index("drafts/b.md", "2", "c.tmp.md", "3")
		b.put("drafts/e.md", "5")
		b.index("drafts/b.md", "2", "c.tmp.md", "3", "drafts/e.md", "5")
		b.put(".gitignore", "c*.md\n") // the same length
		b.index("a.md", "1", "drafts/b.md", "2", "drafts/e.md", "5")
		b.rm(".gitignore")
		b.rm("sub/.knowledgeignore")
		b.index("a.md", "1", "drafts/b.md", "2", "c.tmp.md", "3", "drafts/e.md", "5", "sub/d.md", "4")
		if _, err := b.w.Stat("a.md"); err != nil {
			t.Error(err)
		}
	})
}

// A storm is held in bounded memory: beyond the bound, one listing replaces the hints.
func TestTrouble_4_2_StormCollapses(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1").start()
	n := b.alls()
	b.w.mu.Lock() // all at once, however slow the machine
	b.w.asked.touched = map[string]struct{}{}
	for i := range maxPaths + 10 {
		b.w.asked.touched[fmt.Sprintf("%d.md", i)] = struct{}{}
	}
	b.w.mu.Unlock()
	b.w.wakeUp()
	b.await("a listing", func() bool { return b.alls() > n })
	b.index("a.md", "1")
}

// An unreadable folder is named and keeps its last known state; it counts again once it can be read. Tests run as root,
// whom permissions do not stop: a folder handle that always fails stands in.
func TestTrouble_4_1_UnreadableFolder(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "priv/a.md", "1", "b.md", "2")
	l := newLoop(b.w)
	now := time.Now()
	l.base.real = b.root
	l.newFolder("priv", false)
	for l.cur = l.begin("priv", true, now); l.cur != nil; {
		l.advance(now, 100)
	}
	l.unlistable("priv", l.folders["priv"], &fs.PathError{Op: "open", Path: "priv", Err: syscall.EACCES}, now)
	if l.docs != 1 || len(l.newSkips) != 1 || l.newSkips[0].Path != "priv" || !strings.Contains(l.newSkips[0].Reason, "permission denied") {
		t.Errorf("%d documents, skipped %v", l.docs, l.newSkips)
	}
	if l.begin("priv", true, now); len(l.skipped) != 0 {
		t.Errorf("still skipped: %v", l.skipped)
	}
	l.unlistable("priv", l.folders["priv"], fs.ErrNotExist, now)
	if _, ok := l.folders["priv"]; l.docs != 0 || ok && l.folders["priv"].scanned {
		t.Errorf("a folder that is gone is still known: %d documents", l.docs)
	}
	l.unlistable("", l.folders[""], syscall.EACCES, now)
	if l.skipped["."] == "" {
		t.Error("an unreadable base folder is not named")
	}
}
