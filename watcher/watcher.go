package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Modes of watching.
const (
	ModeAuto     = "auto"     // events, and a comparison once a PollInterval
	ModeFsnotify = "fsnotify" // events; only folders without a watch are compared
	ModePoll     = "poll"     // comparison only
)

// Config says what to watch and how patiently. Zero fields mean the defaults.
type Config struct {
	Base           string        // the folder
	Settle         time.Duration // how long a path must be quiet; 30 ms
	MaxSettle      time.Duration // how long a path that is never quiet is held back at most; 500 ms
	PollInterval   time.Duration // between two comparisons of folder and snapshot; 30 s
	Mode           string        // ModeAuto
	FollowSymlinks bool          // read what links out of the base folder lead to
	Beside         string        // a file in the base folder that is no document but whose changes are told, too
	Known          int           // how many documents the reader knows from before; with some, an empty folder is doubted
}

// Batch names paths to look at. It says nothing of what happened to them.
type Batch struct {
	Paths   []string            // slash paths below the base folder, documents only, sorted within one hand-over
	All     bool                // Paths is the full listing of the folder: whatever else is known is gone
	Absent  map[string]struct{} // those of Paths that were not there; a reader who finds one there all the same must Touch it
	Skipped []Skipped           // new since the last batch; with All, all there are
	Beside  bool                // Config.Beside came, changed or went; with All it may have

	id uint64 // what Done settles accounts by
}

// Skipped is an entry that looks like a document or a folder but is not read.
type Skipped struct {
	Path   string // "." is the base folder itself
	Reason string
}

// Status is the state of the watching.
type Status struct {
	Mode          string    // ModeFsnotify or ModePoll: what is in force now
	Folders       int       // folders known, the base folder included
	PolledFolders int       // those without a watch
	Overflows     int       // times that events were lost
	Pending       int       // paths (and walks) seen, but not yet reported by Done
	BaseMissing   bool      // the base folder is not there now
	LastWalk      time.Time // when all folders were last compared with the snapshot
}

// Watcher watches one folder. Its methods may be called from any goroutine.
type Watcher struct {
	cfg   Config
	log   *slog.Logger
	rules *ignoreRules

	// Seams for tests.
	open  func() (*fsnotify.Watcher, error)
	add   func(fsw *fsnotify.Watcher, name string) error
	lose  func() bool   // tells whether the next event is to be lost; nil: none
	grace time.Duration // how long an absent or emptied base folder may take to come back before its documents are dropped
	mount time.Duration // the same for a bare one at the start, when disks are still being mounted

	wake    chan struct{}      // capacity 1: asked holds something
	barrier chan chan struct{} // the loop closes what it gets once it has seen to all earlier events
	running atomic.Bool

	mu          sync.Mutex // guards all below
	asked       asked
	pending     int               // what the loop itself holds, as of its last round
	outstanding map[uint64]int    // batches offered and not yet Done → what they count for
	skipped     map[string]string // path → reason, all that is skipped now
	status      Status            // all but Pending
}

// asked is what callers want of the loop.
type asked struct {
	touched map[string]struct{}
	rescan  bool
}

// New makes a watcher of a folder, which need not exist yet. Nothing happens before Run.
func New(cfg Config, log *slog.Logger) (*Watcher, error) {
	base, err := filepath.Abs(cfg.Base)
	if cfg.Base == "" || err != nil {
		return nil, fmt.Errorf("watch %q: no usable base folder: %w", cfg.Base, errors.Join(err, fs.ErrInvalid))
	}
	cfg.Base = base
	setDefault(&cfg.Settle, 30*time.Millisecond)
	setDefault(&cfg.MaxSettle, 500*time.Millisecond)
	setDefault(&cfg.PollInterval, 30*time.Second)
	switch cfg.Mode {
	case "":
		cfg.Mode = ModeAuto
	case ModeAuto, ModeFsnotify, ModePoll:
	default:
		return nil, fmt.Errorf("watch %s: unknown mode %q (auto, fsnotify or poll)", base, cfg.Mode)
	}
	w := &Watcher{
		cfg:   cfg,
		log:   log,
		rules: &ignoreRules{base: base, lists: map[string]ignoreLists{}},
		// The buffer keeps fsnotify reading from the kernel, whose queue ends at 16,384 events, while a folder is listed.
		open:        func() (*fsnotify.Watcher, error) { return fsnotify.NewBufferedWatcher(4096) },
		add:         func(fsw *fsnotify.Watcher, name string) error { return fsw.Add(name) },
		grace:       3 * time.Second,
		mount:       10 * time.Second,
		wake:        make(chan struct{}, 1),
		barrier:     make(chan chan struct{}),
		outstanding: map[uint64]int{},
		skipped:     map[string]string{},
		pending:     1, // the first walk
		status:      Status{Mode: ModePoll},
	}
	return w, nil
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// Run watches until ctx ends and hands batches to out, the first of which lists the whole folder. While the reader of
// out is busy, what happens is merged in memory.
func (w *Watcher) Run(ctx context.Context, out chan<- Batch) error {
	if !w.running.CompareAndSwap(false, true) {
		return fmt.Errorf("watch %s: already running", w.cfg.Base)
	}
	defer w.running.Store(false)
	return newLoop(w).run(ctx, out)
}

// LoseEvents is a seam for tests, to be called before Run: an event for which lose returns true is dropped as if the
// system had never told of it.
func (w *Watcher) LoseEvents(lose func() bool) { w.lose = lose }

// Rescan asks for a batch that lists the whole folder.
func (w *Watcher) Rescan() {
	w.mu.Lock()
	w.asked.rescan = true
	w.mu.Unlock()
	w.wakeUp()
}

// Touch asks for another look at path after the quiet time, say because it seems half-written.
func (w *Watcher) Touch(path string) {
	if !w.IsDocument(path) {
		return
	}
	w.mu.Lock()
	if w.asked.touched == nil {
		w.asked.touched = map[string]struct{}{}
	}
	w.asked.touched[path] = struct{}{}
	w.mu.Unlock()
	w.wakeUp()
}

func (w *Watcher) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Done reports that all of a batch has been seen to; until then it counts as pending.
func (w *Watcher) Done(b Batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.outstanding, b.id)
}

// Stat describes a document, if path names one that may be read: a regular file with a document's name, not ignored,
// not reached through a link unless links are followed. Else the error says why not; fs.ErrNotExist if there is no such
// file. Look here before opening: an open(2) of a FIFO never returns.
func (w *Watcher) Stat(path string) (fs.FileInfo, error) {
	refuse := func(reason string) error {
		return &fs.PathError{Op: "read", Path: path, Err: errors.New(reason)}
	}
	if !w.IsDocument(path) || !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil, refuse("not a document's name")
	}
	if w.Ignored(path, false) {
		return nil, refuse("named by an ignore file")
	}
	full := w.abs(path)
	w.mu.Lock()
	reason := w.skipped[path]
	within := ""
	for i := range len(path) {
		if path[i] == '/' && w.skipped[path[:i]] != "" {
			within = path[:i]
		}
	}
	w.mu.Unlock()
	if fi, err := os.Lstat(w.abs(within)); within != "" && err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist} // below a link that is not followed
	}
	if !w.cfg.FollowSymlinks {
		for i := range len(path) {
			if path[i] != '/' {
				continue
			}
			if fi, err := os.Lstat(w.abs(path[:i])); err != nil {
				return nil, err
			} else if !fi.IsDir() && (fi.Mode()&fs.ModeSymlink == 0 || !w.homeless(path[:i], true)) {
				return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
			}
		}
	}
	fi, err := os.Lstat(full)
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		switch {
		case reason != "":
			return nil, refuse(reason)
		case !w.cfg.FollowSymlinks && !w.homeless(path, false):
			return nil, refuse("a link")
		}
		fi, err = os.Stat(full)
	}
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	case !fi.Mode().IsRegular():
		return nil, refuse(kindOf(fi.Mode()))
	}
	return fi, nil
}

// abs returns the absolute path of a slash path below the base folder.
func (w *Watcher) abs(path string) string {
	if path == "" {
		return w.cfg.Base
	}
	return w.cfg.Base + string(filepath.Separator) + filepath.FromSlash(path)
}

// rel is the reverse of abs; ok is false for paths outside.
func (w *Watcher) rel(name string) (path string, ok bool) {
	if name == w.cfg.Base {
		return "", true
	}
	path, ok = strings.CutPrefix(name, strings.TrimSuffix(w.cfg.Base, string(filepath.Separator))+string(filepath.Separator))
	return filepath.ToSlash(path), ok
}
