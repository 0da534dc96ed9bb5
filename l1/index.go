package l1

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"knowledged/document"
	"knowledged/embedding"
)

// RowMeta is what a row says of its document.
type RowMeta struct {
	Path     string // below the base folder; for the log
	Source   string
	FileName string
	Category string
	Title    string

	RequestID string // of the indexing that brought the chunk, if that is still known; for the log
}

// source is where the chunks are: the truth that the store has to match. It is called with no lock held.
type source interface {
	Chunk(id string) (document.Chunk, RowMeta, bool)
	ChunkIDs() iter.Seq[string]
}

// Config is what an Index is made of.
type Config struct {
	Store    Store
	Provider embedding.Provider
	Source   source
	// ReadOnly leaves the store as it is: other daemons write it.
	ReadOnly bool
	// CompareEvery has store and source compared now and then, as a store that others can reach needs; 0: never.
	CompareEvery time.Duration
	Log          *slog.Logger
}

const (
	batchRows     = 500 // ids taken at a time: one store write
	batchPassages = 128 // passages a provider call: a remote one makes several requests of them, side by side
	// A slow provider's vectors are stored after this long, so that they are found, and not lost, before a batch is full.
	flushAfter = time.Second
)

// Index answers semantic searches and keeps its store up to date. Run has to be running for the latter.
type Index struct {
	store    Store
	provider embedding.Provider
	source   source
	log      *slog.Logger

	readOnly     bool
	compareEvery time.Duration

	comparing sync.Mutex    // held while store and source are compared
	wake      chan struct{} // of size 1: there may be something to do

	mu sync.Mutex // guards below; never held while another part is called
	backlog
	pace        pace
	compared    bool // the store's ids are known
	wantCompare bool
	lastCompare time.Time
	nextCompare time.Time     // zero: none is due
	complete    bool          // nothing was pending at some time since the start
	outage      *outage       // nil while all is well
	progress    chan struct{} // closed, and replaced, when something was done

	// Only Run's goroutine uses these.
	storeWait, embedWait backoff
	warnings             int // since the backlog was last empty
	retired              bool
}

// New makes an index; it starts nothing.
func New(c Config) *Index {
	return &Index{
		store: c.Store, provider: c.Provider, source: c.Source, log: c.Log,
		readOnly: c.ReadOnly, compareEvery: c.CompareEvery,
		wake:        make(chan struct{}, 1),
		backlog:     newBacklog(),
		wantCompare: true,
		progress:    make(chan struct{}),
	}
}

// Changed says that chunks have come or gone. The Source must say the same by now. It never blocks, and what it names is
// pending when it returns.
func (x *Index) Changed(put, gone []string) {
	if x.readOnly {
		x.observe(put)
		return
	}
	x.mu.Lock()
	x.generation++
	for _, id := range gone {
		x.forgive(id)
		switch _, busy := x.busy[id]; {
		case !x.compared || x.has(id) || busy:
			x.mark(id, true)
		case x.pending(id): // it never was in the store
			delete(x.dirty, id)
		}
	}
	for _, id := range put {
		x.forgive(id)
		if !x.compared || !x.has(id) || x.pending(id) {
			x.mark(id, false)
		}
	}
	x.advanced()
	x.mu.Unlock()
	x.poke()
}

// Close closes the store. Run has to have ended.
func (x *Index) Close() error { return x.store.Close() }

func (x *Index) poke() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Run compares store and source, then keeps the store up to date until ctx ends. Failures of the store or the provider are
// logged once and tried again, at growing intervals. It returns nil.
func (x *Index) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := x.turn(ctx)
		if wait <= 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-x.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

const never = time.Hour // for turn: nothing to do until something changes

// turn does one batch of work and says how long nothing can be done now, 0 if there is more.
func (x *Index) turn(ctx context.Context) (wait time.Duration) {
	if wait := x.storeWait.left(); wait > 0 {
		return wait
	}
	x.mu.Lock()
	compare := x.wantCompare || x.untilCompare() <= 0
	x.wantCompare = false
	x.mu.Unlock()
	if compare {
		if _, err := x.compare(ctx, true, false); err != nil {
			x.broke(ctx, partStore, err)
			return 0
		}
		x.answered()
	}
	embedWait := x.embedWait.left()
	x.mu.Lock()
	items, next := x.take(batchRows, embedWait <= 0, time.Now())
	idle := len(x.dirty) == 0
	again := x.untilCompare()
	x.mu.Unlock()
	if len(items) > 0 {
		x.sync(ctx, items)
		return 0
	}
	if idle {
		x.rest(ctx)
		return again
	}
	if embedWait > 0 {
		return min(embedWait, again)
	}
	return min(next, again)
}

// rest is called when nothing is pending.
func (x *Index) rest(ctx context.Context) {
	x.mu.Lock()
	x.complete = true
	x.advanced()
	x.mu.Unlock()
	x.recovered(partStore)    // the rows it could not take are not wanted any more
	x.recovered(partProvider) // what it could not embed is gone; when it may be asked again is another matter
	x.sumUpWarnings()
	if r, ok := x.store.(Retirer); ok && !x.retired {
		x.retired = true
		if err := r.Retire(ctx); err != nil && ctx.Err() == nil {
			x.log.Warn("vectors of an earlier model are left over", "err", err)
		}
	}
}
