// Package daemon wires the parts and owns every long-lived goroutine: the watcher, the one writer of the indexes, the
// semantic backlog, the history and the doors.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/chunker"
	"knowledged/config"
	"knowledged/document"
	"knowledged/embedding"
	"knowledged/ipc"
	"knowledged/l0"
	"knowledged/l1"
	"knowledged/lookup"
	"knowledged/registry"
	statefolder "knowledged/state"
	"knowledged/synonyms"
	"knowledged/watcher"
)

// Daemon is one knowledge folder kept hot. New opens everything and starts nothing; Run does the work.
type Daemon struct {
	cfg     *config.Config
	version string
	log     *slog.Logger
	started time.Time

	base     string // absolute
	baseName string
	docOpt   document.Options

	registry *registry.Registry
	history  *registry.History
	l0       *l0.Index
	l1       *l1.Index          // nil with l1.backend off
	store    l1.Store           // of l1, nil with l1.backend off
	provider embedding.Provider // nil with l1.backend off
	builtin  *embedding.Builtin // re-ranks, whatever the provider
	watcher  *watcher.Watcher
	engine   atomic.Pointer[lookup.Engine] // another one after a reload
	pipeline *pipeline
	events   ipc.Hub
	metrics  *metrics
	httpAddr string // set by Doors

	policy      sync.Mutex         // guards below, and who replaces engine
	live        config.Config      // cfg with what Reload took over
	calibration lookup.Calibration // of an embedding model that is not the built-in one; zero until it is measured

	calibratedAt int         // documents at the measurement that was kept; written by New
	measuring    atomic.Bool // a measurement is under way

	access  func(tokenFile, httpAuth string) error // of the doors; nil without
	serving chan struct{}                          // closed when the doors answer
	closers []func() error
}

// New opens the state of cfg's base folder. The caller must Close it. registry.ErrLocked means that another process has
// the state, *StateError that its folder cannot be used now.
func New(cfg *config.Config, version string, log *slog.Logger) (*Daemon, error) {
	d := &Daemon{cfg: cfg, version: version, log: log, started: time.Now(), base: cfg.Knowledge.BasePath, live: *cfg, serving: make(chan struct{}), metrics: newMetrics()}
	d.baseName = filepath.Base(d.base)
	d.docOpt = document.Options{BaseName: d.baseName, Fallback: cfg.Knowledge.FrontMatter.Fallback}
	if err := d.open(); err != nil {
		return nil, errors.Join(err, d.Close()) // what was opened before the fault
	}
	return d, nil
}

// open makes the parts, in the order in which they need each other.
func (d *Daemon) open() (err error) {
	cfg, log := d.cfg, d.log
	if err := d.makeFolders(); err != nil {
		return err
	}
	if err := statefolder.CheckFormats(cfg.StateDir); err != nil { // before any part of it is opened
		return ofState(err)
	}
	if err := d.openIndexes(); err != nil {
		return err
	}
	d.watcher, err = watcher.New(watcher.Config{
		Base:           d.base,
		Settle:         time.Duration(cfg.Watch.Settle),
		MaxSettle:      time.Duration(cfg.Watch.MaxSettle),
		PollInterval:   time.Duration(cfg.Watch.PollInterval),
		Mode:           cfg.Watch.Mode,
		FollowSymlinks: cfg.Watch.FollowSymlinks,
		Beside:         synonyms.FileName,
		Known:          d.registry.Len(),
	}, log)
	if err != nil {
		return err
	}
	chunks := chunker.Options{Target: cfg.Chunker.Target, Max: cfg.Chunker.Max}
	d.pipeline = &pipeline{
		base:     d.base,
		docOpt:   d.docOpt,
		chunks:   chunks,
		format:   formatOf(d.docOpt, chunks),
		maxSize:  int64(cfg.Knowledge.MaxFileSize),
		slice:    sliceBytes,
		settle:   time.Duration(cfg.Watch.MaxSettle),
		poll:     time.Duration(cfg.Watch.PollInterval),
		unread:   unread{},
		registry: d.registry,
		l0:       d.l0,
		folder:   d.watcher,
		events:   &d.events,
		metrics:  d.metrics,
		intent:   &intent{base: d.base, file: filepath.Join(cfg.StateDir, "upload-in-progress"), log: log},
		wire:     d.wireRecord,
		words:    &thesaurus{file: filepath.Join(d.base, synonyms.FileName), set: d.l0.SetSynonyms, log: log},
		log:      log,
		retry:    retryL0,
		read:     readFile,
		jobs:     make(chan job),
		stopped:  make(chan struct{}),
		pulse:    make(chan struct{}),
		held:     map[string]time.Time{},
	}
	if cfg.Watch.Mode != watcher.ModeFsnotify { // which is for those who want no polling
		d.pipeline.sweep.every = time.Duration(cfg.Watch.PollInterval) / sweepPieces
	}
	if d.l1 != nil {
		d.pipeline.l1 = d.l1
	}
	d.pipeline.words.refresh() // before anybody asks
	d.engine.Store(lookup.New(d.lookupConfig(), d.lookupDeps(), log))
	d.metrics.registry.MustRegister(&state{d})
	return nil
}

func (d *Daemon) makeFolders() error {
	err := CheckBase(d.base)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(d.base, 0o755); err == nil {
			d.log.Info("made the base folder", "path", d.base)
		} else {
			err = &ipc.ConfigError{Key: "knowledge.base_path", Message: "make the base folder: " + err.Error()}
		}
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.cfg.StateDir, 0o700); err != nil {
		return ofState(fmt.Errorf("make the state folder: %w", err))
	}
	return nil
}

// CheckBase tells why a base folder can hold no documents, as an *ipc.ConfigError; fs.ErrNotExist if it is not there.
func CheckBase(base string) error {
	bad := func(why string) error { return &ipc.ConfigError{Key: "knowledge.base_path", Message: base + " " + why} }
	switch info, err := os.Stat(base); {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return bad("cannot be looked at: " + reason(err).Error())
	case !info.IsDir():
		return bad("is a file: name the folder that holds the documents")
	}
	dir, err := os.Open(base)
	if err == nil {
		_, err = dir.Readdirnames(1)
		dir.Close()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return bad("cannot be listed: " + reason(err).Error())
	}
	return nil
}

// openIndexes opens what is on disk and fills the exact table from the registry, so that lookups are answered before
// anything is read anew.
func (d *Daemon) openIndexes() (err error) {
	dir := d.cfg.StateDir
	if d.registry, err = registry.Open(dir, d.log); err != nil {
		return ofState(err)
	}
	d.closers = append(d.closers, d.registry.Close)
	if d.history, err = registry.OpenHistory(dir, d.log); err != nil {
		return ofState(err)
	}
	d.closers = append(d.closers, d.history.Close)
	if d.l0, err = l0.Open(filepath.Join(dir, "l0"), d.log); err != nil {
		return ofState(err)
	}
	d.closers = append(d.closers, d.l0.Close)
	var names []l0.Put
	for _, rec := range d.registry.All() {
		names = append(names, putOf(rec, nil))
	}
	d.l0.SetNames(names)
	if d.builtin, err = embedding.NewBuiltin(); err != nil {
		return err
	}
	return d.openSemantic()
}

// Run serves until ctx ends and returns after everything it started has stopped. listeners may be nil: then nobody but
// this process can ask.
func (d *Daemon) Run(ctx context.Context, doors func(context.Context) error) error {
	batches := make(chan watcher.Batch)
	d.pipeline.intent.recover()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return named("watcher", d.watcher.Run(ctx, batches)) })
	g.Go(func() error { return named("indexing", d.pipeline.Run(ctx, batches)) })
	g.Go(func() error { return named("history", d.history.Run(ctx)) })
	if d.l1 != nil {
		g.Go(func() error { return named("semantic index", d.l1.Run(ctx)) })
		g.Go(func() error { d.announceL1(ctx); return nil })
		g.Go(func() error { d.calibrate(ctx); return nil })
	}
	if doors != nil {
		g.Go(func() error { return doors(ctx) })
	}
	return g.Wait()
}

func named(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Ready reports whether the first scan is done and L0 serves.
func (d *Daemon) Ready() bool { return d.pipeline.ready.Load() && d.l0.Serving() }

// Close releases the state. Run must have returned.
func (d *Daemon) Close() error {
	var errs []error
	for i := len(d.closers) - 1; i >= 0; i-- {
		errs = append(errs, d.closers[i]())
	}
	d.closers = nil
	return errors.Join(errs...)
}
