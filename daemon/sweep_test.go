package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/watcher"
)

// liar is a file system whose stat keeps saying what it said once.
type liar struct {
	folder
	base string
	mu   sync.Mutex
	said map[string]fs.FileInfo // guarded by mu
}

func (l *liar) freeze(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said[path], _ = os.Lstat(filepath.Join(l.base, path))
}

func (l *liar) told(path string, info fs.FileInfo) fs.FileInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.said[path]; old != nil {
		return old
	}
	return info
}

func (l *liar) Stat(path string) (fs.FileInfo, error) {
	info, err := l.folder.Stat(path)
	return l.told(path, info), err
}

// sweepWorld is a daemon that hears of nothing and whose stat lies; only hashes can tell.
func sweepWorld(t *testing.T, every time.Duration) (*world, *liar) {
	w := newWorld(t)
	w.cfg.Watch.Mode = watcher.ModeFsnotify
	for i := range 30 {
		w.save(fmt.Sprintf("d%d/%d.md", i%3, i), doc(fmt.Sprintf("Title %02d", i), fmt.Sprintf("kw-%d.", i)))
	}
	w.open()
	w.watcher.LoseEvents(func() bool { return true })
	l := &liar{folder: w.pipeline.folder, base: w.base, said: map[string]fs.FileInfo{}}
	w.pipeline.folder = l
	read := w.pipeline.read
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		data, info, err := read(abs, limit)
		path, _ := filepath.Rel(w.base, abs)
		return data, l.told(filepath.ToSlash(path), info), err
	}
	w.pipeline.sweep.every = every
	w.run()
	w.idle()
	return w, l
}

// SPEC 4.2: an edit that leaves size and times as they were, and makes no event, is found by its hash.
func TestSweepFindsHiddenEdits_4_2(t *testing.T) {
	w, l := sweepWorld(t, time.Millisecond)
	l.freeze("d1/7.md")
	w.save("d1/7.md", doc("Titel! 07", "kw-7.")) // as long as before
	w.eventually("found", func() bool { return w.title("d1/7.md") == "Titel! 07" })
	w.idle()
	if n := w.status().Updates; n != 31 {
		t.Errorf("%d updates", n)
	}
	if lines := w.log.lines("other bytes than its size and times say"); len(lines) != 1 || lines[0]["path"] != "d1/7.md" {
		t.Errorf("log %v", lines)
	}
	// What does change its times is left to the watcher, which knows whether a file is still being written.
	before := w.reads.Load()
	w.save("d2/8.md", doc("Longer title than before", "kw-8."))
	w.eventually("another round", func() bool { return w.reads.Load() > before+60 })
	if w.title("d2/8.md") != "Title 08" {
		t.Error("the sweep took a file from the watcher")
	}
}

// SPEC 4.2: the sweep is cheap: it reads no more than its share, resumes where it was, and waits while files change.
func TestSweepIsCheap_4_2(t *testing.T) {
	w, _ := sweepWorld(t, time.Hour)
	sweep := func() (files int64) {
		t.Helper()
		before := w.reads.Load()
		if !w.pipeline.do(context.Background(), func() {
			w.pipeline.queued.Add(-1) // this job itself
			w.pipeline.sweepPiece(context.Background())
			w.pipeline.queued.Add(1)
		}) {
			t.Fatal("stopped")
		}
		return w.reads.Load() - before
	}
	sweep() // while the first scan was noted as a change
	if n := sweep(); n != 30 {
		t.Errorf("%d of 30 small files were read in one piece", n)
	}
	large := doc("Large", "kw-large.") + strings.Repeat("text\n", 200_000)
	for _, path := range []string{"a/1.md", "a/2.md", "a/3.md"} {
		w.save(path, large)
	}
	w.watcher.Rescan()
	w.eventually("known", func() bool { return w.title("a/3.md") == "Large" })
	w.idle()
	if n := sweep(); n != 0 {
		t.Errorf("%d files were read right after a change", n)
	}
	total, pieces := int64(0), 0
	for ; total < 33; pieces++ {
		n := sweep()
		if total += n; n > 1 && pieces < 9 {
			t.Errorf("%d large files in piece %d", n, pieces)
		}
		if pieces > 40 {
			t.Fatal("the round does not end")
		}
	}
	if least := 3 * len(large) / (sweepBytes / sweepPieces); pieces < least {
		t.Errorf("a round of %d bytes took %d pieces, want at least %d", 3*len(large), pieces, least)
	}
}

// SPEC 4.2: the sweep follows watch.poll_interval, and is off where no polling is wanted.
func TestSweepFollowsTheSettings_4_2(t *testing.T) {
	w := newWorld(t)
	w.cfg.Watch.PollInterval = config.Duration(16 * time.Second)
	w.open()
	if every := w.pipeline.sweep.every; every != time.Second {
		t.Errorf("a piece each %s", every)
	}
	w.must(w.Close())
	w.cfg.Watch.Mode = watcher.ModeFsnotify
	w.open()
	if every := w.pipeline.sweep.every; every != 0 {
		t.Errorf("a piece each %s", every)
	}
	w.must(w.Close())
}
