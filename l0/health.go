package l0

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// health follows bleve's background work, which reports its failures by a callback registered in a global map, with the
// folder as the only key.
type health struct {
	dir  string
	log  *slog.Logger
	done chan struct{} // closed by stop
	dead chan struct{} // closed when a background task panicked: what waits for it would wait for ever

	mu      sync.Mutex // guards below
	failure error      // set once with dead
	failing bool       // the last write to disk failed
}

const callbackName = "knowledged"

// retryDelay keeps bleve, which tries again at once, from spinning while the disk is full.
const retryDelay = time.Second

var (
	register sync.Once
	healths  sync.Map // folder → *health
)

func newHealth(dir string, log *slog.Logger) *health {
	register.Do(func() {
		scorch.RegistryAsyncErrorCallbacks[callbackName] = func(err error, dir string) {
			if h, ok := healths.Load(dir); ok {
				h.(*health).report(err)
			}
		}
	})
	h := &health{dir: dir, log: log, done: make(chan struct{}), dead: make(chan struct{})}
	healths.Store(dir, h)
	return h
}

func (h *health) stop() {
	close(h.done)
	healths.CompareAndDelete(h.dir, h)
}

// report runs on bleve's goroutine.
func (h *health) report(err error) {
	h.mu.Lock()
	first := !h.failing
	h.failing = true
	if errors.Is(err, scorch.ErrAsyncPanic) {
		if h.failure == nil {
			h.failure = fmt.Errorf("keyword index is broken, restart to rebuild it: %w", err)
			close(h.dead)
		}
		h.mu.Unlock()
		h.log.Error("keyword index broke; restart to rebuild it", "path", h.dir, "err", err)
		return
	}
	h.mu.Unlock()
	if first {
		h.log.Warn("keyword index cannot be written; it serves from memory and tries again", "path", h.dir, "err", err)
	}
	select {
	case <-h.done:
	case <-time.After(retryDelay):
	}
}

// persisted notes that everything up to now is on disk.
func (h *health) persisted() {
	h.mu.Lock()
	was := h.failing && h.failure == nil
	h.failing = h.failing && !was
	h.mu.Unlock()
	if was {
		h.log.Info("keyword index can be written again", "path", h.dir)
	}
}

// unwritable reports whether the last write to disk failed.
func (h *health) unwritable() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failing
}

// flushPatience bounds how long Close waits for the disk. A service manager, and who shuts the machine down, waits for the
// process meanwhile: a disk that takes nothing gets one more try. What is lost is put back from the registry.
func (h *health) flushPatience() time.Duration {
	if h.unwritable() {
		return retryDelay + retryDelay/2
	}
	return 3 * time.Second
}

func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure
}

// guard calls f and turns a panic in it, or a fault in a mapped file that has shrunk, into an error.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("index files are damaged: %v", p)
		}
	}()
	return f()
}
