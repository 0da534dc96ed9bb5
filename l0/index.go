package l0

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/semaphore"

	"knowledged/document"
)

// indexVersion names the form of the full text on disk: fields and analysis. Another version lives in another folder and
// is filled from the documents.
const indexVersion = "v3"

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("keyword index is closed")

// Put is a document to index. Chunks are all it has: those already in the full text are left alone.
type Put struct {
	Path    string
	Names   Names
	InTable bool // belongs in the exact table (SPEC 1.3)
	Chunks  []document.Chunk
}

// Batch is a set of changes. A chunk both put and gone stays.
type Batch struct {
	Put        []Put
	Gone       []string // paths that leave the exact table
	GoneChunks []string // chunk ids that leave the full text
}

// Index is the keyword index. All methods may be called at any time from any goroutine.
type Index struct {
	table *table
	dir   string // of the full text
	log   *slog.Logger

	setAside bool // what was on disk was damaged; set before Open returns

	life   sync.RWMutex // held for reading while scorch is in use, for writing to close it
	closed bool
	scorch *scorch.Scorch
	queue  *index.AnalysisQueue
	health *health

	writing sync.Mutex          // one Apply at a time
	room    *semaphore.Weighted // for chunks not yet on disk; bounds memory
	lengths lengthCache
	cache   postingsCache
	lexicon atomic.Pointer[lexicon] // nil: see words
}

// Open opens the full text below dir, or starts an empty one. A damaged index is set aside and said so in a WARN; the
// caller then finds with IDs that chunks are missing and puts them again. The exact table starts empty: see SetNames.
func Open(dir string, log *slog.Logger) (*Index, error) {
	x := &Index{
		table: newTable(),
		dir:   filepath.Join(dir, indexVersion),
		log:   log,
		room:  semaphore.NewWeighted(maxUnpersisted),
	}
	if err := x.openOrRebuild(); err != nil {
		return nil, fmt.Errorf("open keyword index %s: %w", x.dir, err)
	}
	removeOldVersions(dir, log)
	return x, nil
}

// Apply makes the changes. The exact table has them at once, the full text when Apply returns; on disk they are a little
// later, which IDs tells after a crash. On an error some of the full text may be missing.
func (x *Index) Apply(b Batch) error {
	x.table.update(b.Put, b.Gone)
	x.writing.Lock()
	defer x.writing.Unlock()
	x.life.RLock()
	defer x.life.RUnlock()
	if err := x.usable(); err != nil {
		return err
	}
	if err := x.write(b); err != nil {
		return fmt.Errorf("write keyword index %s: %w", x.dir, err)
	}
	return nil
}

// SetNames fills the exact table alone: at start, from the registry's records.
func (x *Index) SetNames(puts []Put) {
	const step = 1000 // lookups get a turn in between
	for len(puts) > 0 {
		n := min(step, len(puts))
		x.table.update(puts[:n], nil)
		puts = puts[n:]
	}
}

// Match lists the documents that the query names (SPEC 2.2), by path. It is never nil.
func (x *Index) Match(query string) []document.Match {
	return x.table.matchWith(query, x.words())
}

// IDs returns the ids of all chunks in the full text.
func (x *Index) IDs() (ids map[string]struct{}, err error) {
	ids = map[string]struct{}{}
	err = x.read(func(snapshot *scorch.IndexSnapshot) error {
		for _, seg := range snapshot.Segments() {
			live := seg.DocNumbersLive().Iterator()
			for live.HasNext() {
				id, err := seg.DocID(uint64(live.Next()))
				if err != nil {
					return err
				}
				ids[string(id)] = struct{}{}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list chunks of keyword index: %w", err)
	}
	return ids, nil
}

// ExactBytes estimates the memory of the exact table, without the strings it shares with the registry.
func (x *Index) ExactBytes() int64 { return x.table.size() }

// Bytes estimates the memory of the whole index. Files on disk are mapped and not counted.
func (x *Index) Bytes() int64 {
	return x.table.size() + x.lengths.size() + x.cache.size()
}

// Close waits for what was applied to be on disk (a few seconds at most) and closes the files.
func (x *Index) Close() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.life.RLock()
	if err := x.usable(); err == nil {
		x.flush()
	}
	x.life.RUnlock()
	x.life.Lock()
	defer x.life.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	x.health.stop()
	err := x.scorch.Close()
	x.queue.Close()
	if err != nil {
		return fmt.Errorf("close keyword index %s: %w", x.dir, err)
	}
	return nil
}

// SetAside reports whether Open found the full text damaged and began an empty one.
func (x *Index) SetAside() bool { return x.setAside }

// Serving reports whether the full text answers.
func (x *Index) Serving() bool {
	x.life.RLock()
	defer x.life.RUnlock()
	return x.usable() == nil
}

// read calls f with the current state of the full text, which stays as it is until f returns.
func (x *Index) read(f func(*scorch.IndexSnapshot) error) error {
	x.life.RLock()
	defer x.life.RUnlock()
	if err := x.usable(); err != nil {
		return err
	}
	return x.view(f)
}

// view is read for callers that hold life.
func (x *Index) view(f func(*scorch.IndexSnapshot) error) error {
	return guard(func() error {
		reader, err := x.scorch.Reader()
		if err != nil {
			return err
		}
		defer reader.Close()
		return f(reader.(*scorch.IndexSnapshot))
	})
}

// usable says why the full text cannot be used, if so. The caller holds life.
func (x *Index) usable() error {
	if x.closed {
		return ErrClosed
	}
	return x.health.err()
}
