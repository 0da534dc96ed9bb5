package daemon

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"knowledged/chunker"
	"knowledged/document"
	"knowledged/ipc"
	"knowledged/l0"
	"knowledged/registry"
	"knowledged/watcher"
)

// A slice is what is parsed and held in memory before it is written: a first scan of 100,000 documents must not need them
// all at once, nor an upload wait for long.
const (
	sliceSize  = 200      // files
	sliceBytes = 16 << 20 // of their text; each of the workers may exceed it by one file
)

// retryL0 is how long L0 is left alone after a write failed; a full disk isn't emptied in a moment.
const retryL0 = 10 * time.Second

// keywordIndex is what the pipeline writes of L0.
type keywordIndex interface {
	Apply(b l0.Batch) error
	SetNames(puts []l0.Put)
	IDs() (map[string]struct{}, error)
}

// backlog is what the pipeline tells L1: which chunks came and went. It never blocks.
type backlog interface{ Changed(put, gone []string) }

// folder is what the pipeline asks of the watcher.
type folder interface {
	Touch(path string)
	Rescan()
	Done(b watcher.Batch)
	Ignored(path string, dir bool) bool
	IsDocument(path string) bool
	Stat(path string) (fs.FileInfo, error)
}

// pipeline is the only writer of the registry and of L0. It takes batches of paths (hints) and jobs of the API, looks at
// the disk, and makes the indexes equal to it.
type pipeline struct {
	base    string // absolute
	docOpt  document.Options
	chunks  chunker.Options
	format  int // of records: formatOf docOpt and chunks
	maxSize int64
	slice   int64         // bytes: sliceBytes
	retry   time.Duration // between attempts to mend L0
	settle  time.Duration // a file that looks half-written is given this long
	poll    time.Duration // between attempts to read what could not be read

	registry *registry.Registry
	l0       keywordIndex
	l1       backlog // nil with l1.backend off
	folder   folder
	events   *ipc.Hub
	metrics  *metrics
	intent   *intent
	words    *thesaurus
	wire     func(*registry.Record) ipc.Record
	log      *slog.Logger

	read    func(abs string, limit int64) ([]byte, fs.FileInfo, error) // readFile; tests count
	request string                                                     // the request whose job is being run
	stopped chan struct{}
	pulse   chan struct{} // taken from by who wants to know that the loop runs

	jobs   chan job
	held   map[string]time.Time // files that look half-written, since when
	unread unread
	moved  graves // what was removed lately, so that a move keeps its docId

	behind atomic.Bool // L0 may lack something: a write failed
	sweep  sweep
	traces traces

	progress atomic.Uint64 // steps of a long batch: files looked at, records compared
	tally    tally
	queued   atomic.Int64 // jobs and paths taken but not yet applied, but for those that the watcher counts
	ready    atomic.Bool  // the first scan is done
	brief    bool         // first scan: sum warnings up beyond a few
	warned   int          // warnings of that scan so far
	skipped  skipList
}

// job is work of an API call that has to happen in the single writer.
type job struct {
	request string // its id
	run     func()
	done    chan struct{}
}

// do runs f in the pipeline's goroutine and waits for it. It reports false if ctx, or the
// pipeline, ended before f began.
func (p *pipeline) do(ctx context.Context, f func()) bool {
	j := job{request: ipc.RequestID(ctx), run: f, done: make(chan struct{})}
	p.queued.Add(1)
	select {
	case p.jobs <- j:
	case <-ctx.Done():
		p.queued.Add(-1)
		return false
	case <-p.stopped:
		p.queued.Add(-1)
		return false
	}
	<-j.done // once begun a write is finished: half of one helps nobody
	return true
}

// Run takes batches until ctx ends. The indexes are compared with the registry first, so that what a crash or a broken
// segment lost is put back.
func (p *pipeline) Run(ctx context.Context, batches <-chan watcher.Batch) error {
	defer close(p.stopped)
	_ = p.mend(ctx) // logged
	sweep, stop := p.sweep.ticks()
	defer stop()
	again := time.NewTicker(p.poll)
	defer again.Stop()
	var retry <-chan time.Time
	for {
		if p.behind.Load() && retry == nil {
			retry = time.After(p.retry)
		}
		select {
		case <-ctx.Done():
			return nil
		case j := <-p.jobs:
			p.runJob(j)
		case p.pulse <- struct{}{}:
		case b := <-batches:
			p.batch(ctx, b)
			p.folder.Done(b)
		case <-sweep:
			p.sweepPiece(ctx)
		case <-again.C:
			p.retryUnread(ctx)
		case <-retry:
			retry = nil
			_ = p.mend(ctx) // logged once
		}
	}
}

// mend makes L0 equal to the registry. A fault is no reason to stop: L1 answers meanwhile.
func (p *pipeline) mend(ctx context.Context) error {
	first := !p.behind.Load()
	err := p.reconcileL0(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // not all of it was compared
	}
	p.behind.Store(err != nil)
	if err != nil && first {
		p.log.Error("full text could not be compared with the registry; trying again", "err", err)
	}
	return err
}

// batch applies what the watcher saw.
func (p *pipeline) batch(ctx context.Context, b watcher.Batch) {
	start := time.Now()
	p.skipped.replace(b, p.log)
	paths, absent := b.Paths, b.Absent
	if b.All {
		paths, absent = p.withVanished(paths)
		p.moved.expect(len(paths))
	}
	if b.All || b.Beside {
		p.words.refresh()
	}
	first := b.All && !p.ready.Load()
	p.brief = first
	vanished := int64(len(paths) - len(b.Paths)) // the watcher counts its own until Done
	p.queued.Add(vanished)
	changed := p.applyCounted(ctx, paths, b.All)
	p.queued.Add(-vanished)
	p.brief = false
	for path := range absent {
		// It came back after the watcher looked, which must know of it to notice that it goes again.
		if _, ok := p.registry.Get(path); ok {
			p.folder.Touch(path)
		}
	}
	p.sweep.busy = p.sweep.busy || changed > 0
	if changed > 0 || first {
		p.events.Publish(ipc.Event{Type: ipc.EventIndex, Updates: p.tally.updates()})
	}
	if ctx.Err() != nil {
		return
	}
	if first {
		p.ready.Store(true)
		p.logFirstScan(len(b.Paths), time.Since(start))
	} else if changed > 1 {
		p.log.Info("documents updated", "changed", changed, "looked_at", len(paths), "took", time.Since(start))
	}
}

// withVanished adds to a full listing the documents the registry knows and the folder no longer has.
func (p *pipeline) withVanished(listing []string) (all []string, vanished map[string]struct{}) {
	there := make(map[string]struct{}, len(listing))
	for _, path := range listing {
		there[path] = struct{}{}
	}
	vanished = map[string]struct{}{}
	for _, rec := range p.registry.All() {
		if _, ok := there[rec.Path]; !ok {
			all = append(all, rec.Path)
			vanished[rec.Path] = struct{}{}
		}
	}
	return append(all, listing...), vanished
}

// reconcileL0 makes the full-text index hold exactly the registry's chunks. bleve may lack the last batch before a crash,
// hold chunks whose deletion was lost, or have been set aside as broken and start empty.
func (p *pipeline) reconcileL0(ctx context.Context) error {
	have, err := p.l0.IDs()
	if err != nil {
		return err
	}
	var gone []string
	for id := range have {
		if _, _, ok := p.registry.Owner(id); !ok {
			gone = append(gone, id)
		}
	}
	for len(gone) > 0 {
		n := min(len(gone), 1000)
		if err := p.l0.Apply(l0.Batch{GoneChunks: gone[:n]}); err != nil {
			return err
		}
		gone = gone[n:]
		p.progress.Add(1)
	}
	var puts []l0.Put
	restored := 0
	flush := func() error {
		restored += len(puts)
		p.progress.Add(1)
		err := p.l0.Apply(l0.Batch{Put: puts})
		puts = puts[:0]
		return err
	}
	for _, rec := range p.registry.All() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if complete(rec, have) {
			continue
		}
		chunks, err := p.registry.Chunks(rec.Path)
		if err != nil {
			// The registry has marked the record, so that the first scan reads the file again and keeps its docId.
			p.log.Warn("stored text of a document is damaged; reading the file again", "path", rec.Path, "err", err)
			continue
		}
		if puts = append(puts, putOf(rec, chunks)); len(puts) >= sliceSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if restored > 0 {
		p.log.Info("full text restored from the registry", "documents", restored)
	}
	return nil
}

func (p *pipeline) abs(path string) string { return filepath.Join(p.base, filepath.FromSlash(path)) }

func complete(rec *registry.Record, have map[string]struct{}) bool {
	for _, id := range rec.ChunkIDs() {
		if _, ok := have[id]; !ok {
			return false
		}
	}
	return true
}

func putOf(rec *registry.Record, chunks []document.Chunk) l0.Put {
	return l0.Put{
		Path:    rec.Path,
		Names:   l0.Names{Title: rec.Title, Keywords: rec.Keywords, Aliases: rec.Aliases},
		InTable: rec.InL0,
		Chunks:  chunks,
	}
}
