package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"knowledged/config"
)

// saving is a way to save ops/a.md, whose text becomes text, or to do something else to the folder.
type saving struct {
	name    string
	updates int // index updates it takes
	do      func(w *world, text string)
}

// twice lists what takes more than one index update, with the reason. docs/hot-reload.md tells of them too.
var twice = map[string]string{
	"overwrite without truncating, pause in the middle": "a pause longer than watch.settle, and nothing in the file says that more is to come",
	"iCloud evicts and fetches":                         "the file is away for longer than watch.max_settle: that is a removal and a new file",
}

const steady = "kw-steady" // a keyword that every version of ops/a.md has

func version(title string) string {
	return "---\ntitle: " + title + "\nkeywords: [" + steady + "]\nsummary: about saving\n---\n\n## Part\n\nText of " + title + ".\n"
}

// replayed are programs' saves call by call, as strace shows them, and plain patterns.
var replayed = []saving{
	{"in place", 1, func(w *world, text string) { w.save("ops/a.md", text) }},
	{"truncate, pause, write", 1, func(w *world, text string) {
		f := w.openFile("ops/a.md", os.O_WRONLY|os.O_TRUNC)
		defer f.Close()
		pause()
		w.write(f, text)
	}},
	{"append in parts", 1, func(w *world, text string) {
		w.save("ops/a.md", "")
		for _, part := range strings.SplitAfter(text, "\n") {
			f := w.openFile("ops/a.md", os.O_WRONLY|os.O_APPEND)
			w.write(f, part)
			f.Close()
			time.Sleep(3 * time.Millisecond)
		}
	}},
	{"overwrite without truncating, pause in the middle", 2, func(w *world, text string) {
		f := w.openFile("ops/a.md", os.O_WRONLY)
		defer f.Close()
		w.write(f, text[:len(text)/2])
		pause()
		w.write(f, text[len(text)/2:])
		w.must(f.Truncate(int64(len(text))))
	}},
	{"delete, then create", 1, func(w *world, text string) { w.delete("ops/a.md"); w.save("ops/a.md", text) }},
	{"VS Code", 1, func(w *world, text string) {
		f := w.openFile("ops/a.md", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		defer f.Close()
		w.write(f, text)
		w.must(f.Sync())
	}},
	{"VS Code, atomic", 1, func(w *world, text string) { w.synced("ops/a.md.vsctmp", text); w.move("ops/a.md.vsctmp", "ops/a.md") }},
	{"JetBrains", 1, func(w *world, text string) {
		w.synced("ops/a.md___jb_tmp___", text)
		w.move("ops/a.md", "ops/a.md___jb_old___")
		w.move("ops/a.md___jb_tmp___", "ops/a.md")
		w.delete("ops/a.md___jb_old___")
	}},
	{"vim, backup by renaming", 1, func(w *world, text string) {
		w.save("ops/.a.md.swp", "swap")
		w.save("ops/4913", "")
		w.delete("ops/4913")
		w.move("ops/a.md", "ops/a.md~")
		w.synced("ops/a.md", text)
		w.must(os.Chmod(w.abs("ops/a.md"), 0o644))
		w.delete("ops/a.md~")
		w.delete("ops/.a.md.swp")
	}},
	{"vim, backup by copying", 1, func(w *world, text string) {
		w.save("ops/a.md~", "old")
		w.synced("ops/a.md", text)
		w.delete("ops/a.md~")
	}},
	{"emacs", 1, func(w *world, text string) {
		w.must(os.Symlink("user@host.123:456", w.abs("ops/.#a.md")))
		w.save("ops/#a.md#", text[:20])
		w.move("ops/a.md", "ops/a.md~")
		w.synced("ops/a.md", text)
		w.delete("ops/.#a.md")
		w.delete("ops/#a.md#")
	}},
	{"GLib (gedit)", 1, func(w *world, text string) {
		w.synced("ops/.goutputstream-ABC123", text)
		w.delete("ops/a.md~")
		w.must(os.Link(w.abs("ops/a.md"), w.abs("ops/a.md~")))
		w.move("ops/.goutputstream-ABC123", "ops/a.md")
		w.delete("ops/a.md~")
	}},
	{"macOS safe save", 1, func(w *world, text string) {
		w.save("ops/a.md.sb-1234abcd-XyZ123/a.md", text)
		w.move("ops/a.md.sb-1234abcd-XyZ123/a.md", "ops/a.md")
		w.delete("ops/a.md.sb-1234abcd-XyZ123")
	}},
	{"Syncthing", 1, func(w *world, text string) {
		w.save("ops/.syncthing.a.md.tmp", text)
		w.move("ops/.syncthing.a.md.tmp", "ops/a.md")
	}},
	{"Syncthing on Windows", 1, func(w *world, text string) {
		w.save("ops/~syncthing~a.md.tmp", text)
		w.move("ops/~syncthing~a.md.tmp", "ops/a.md")
	}},
	{"other people's files", 0, func(w *world, text string) {
		for _, name := range []string{".a.md.swp", "a.md~", "#a.md#", "a.md.bak", "~$a.md", "4913", "a.sync-conflict-20260101-000000-ABCDEFG.md", ".b.md.icloud", "a (Ann's conflicted copy 2026-01-01).md", ".obsidian/x.md"} {
			w.save("ops/"+name, text)
		}
		w.save("ops/a.md", version("Saved"))
	}},
	{"touch", 0, func(w *world, _ string) {
		w.save("ops/a.md", version("Saved"))
		w.must(os.Chtimes(w.abs("ops/a.md"), time.Now(), time.Now()))
	}},
	{"iCloud evicts and fetches", 2, func(w *world, text string) {
		w.save("ops/.a.md.icloud", "placeholder")
		w.delete("ops/a.md")
		w.eventually("evicted", func() bool { return !w.has("ops/a.md") })
		w.save("ops/.a.md.tmp", text)
		w.move("ops/.a.md.tmp", "ops/a.md")
		w.delete("ops/.a.md.icloud")
	}},
}

// SPEC 4.1: one save is one index update, whatever calls the writer makes, and nobody sees the document flicker meanwhile.
func TestWritersReplayed_4_1(t *testing.T) {
	w := newWorld(t)
	w.patient()
	w.save("ops/a.md", version("Saved"))
	w.start()
	for _, s := range replayed {
		w.try(t, s)
	}
}

// patient gives slow machines time between the calls of one save.
func (w *world) patient() {
	w.cfg.Watch.Settle = config.Duration(100 * time.Millisecond)
	w.cfg.Watch.MaxSettle = config.Duration(3 * time.Second)
}

// try makes one save while others look on.
func (w *world) try(t *testing.T, s saving) {
	t.Run(s.name, func(t *testing.T) {
		if s.updates > 0 && w.title("ops/a.md") == "Saved" { // each saving ends with this title; so begin with another
			w.save("ops/a.md", version("Before"))
			w.eventually("prepared", func() bool { return w.title("ops/a.md") == "Before" })
		}
		w.settle()
		id := w.record("ops/a.md").DocID
		stop := w.onlookers(t, s.name != "iCloud evicts and fetches")
		n := w.updatesOf(func() { s.do(w, version("Saved")) })
		looks := stop()
		if why := twice[s.name]; n != s.updates || (n > 1) != (why != "") {
			t.Errorf("%d updates, want %d (%s)", n, s.updates, why)
		}
		if rec := w.record("ops/a.md"); rec.Title != "Saved" || rec.DocID != id || !w.answers(steady, "ops/a.md") {
			t.Errorf("record %+v", rec)
		}
		if paths := w.paths(); len(paths) != 1 {
			t.Errorf("documents %q", paths)
		}
		if looks < 10 {
			t.Errorf("only %d looks", looks)
		}
	})
}

// onlookers look at ops/a.md every millisecond until the returned function is called. Unless it is to go for a while, it
// must be there with its title, known by its keyword, at every look.
func (w *world) onlookers(t *testing.T, stays bool) (stop func() int) {
	done := make(chan struct{})
	var g sync.WaitGroup
	looks := 0
	g.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
			looks++
			rec, err := w.BySource(context.Background(), "kb/ops/a.md")
			if stays && (err != nil || rec.Title == "" || !rec.InL0) {
				t.Errorf("look %d: %v, title %q, in L0 %t", looks, err, rec.Title, rec.InL0)
			}
			if stays && len(w.l0.Match(steady)) != 1 {
				t.Errorf("look %d: not among the names", looks)
			}
			if a, err := w.Lookup(context.Background(), lookupRequest(steady)); err != nil || stays && !a.Found && w.there("ops/a.md") {
				t.Errorf("look %d: the lookup found nothing (%v)", looks, err)
			}
		}
	})
	return func() int { close(done); g.Wait(); return looks }
}

// there tells whether a file is there now.
func (w *world) there(path string) bool {
	_, err := os.Lstat(w.abs(path))
	return !errors.Is(err, fs.ErrNotExist)
}

// pause is shorter than watch.max_settle, longer than watch.settle.
func pause() { time.Sleep(150 * time.Millisecond) }

func (w *world) openFile(path string, flags int) *os.File {
	w.t.Helper()
	f, err := os.OpenFile(w.abs(path), flags, 0o644)
	w.must(err)
	return f
}

func (w *world) write(f *os.File, text string) {
	w.t.Helper()
	_, err := f.WriteString(text)
	w.must(err)
}

// synced writes a file through to the disk, as editors do.
func (w *world) synced(path, text string) {
	w.t.Helper()
	f := w.openFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	w.write(f, text)
	w.must(f.Sync())
	w.must(f.Close())
}
