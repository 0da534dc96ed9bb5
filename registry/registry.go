package registry

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"knowledged/document"
)

var (
	// ErrLocked says that another process works on the file.
	ErrLocked = errors.New("in use by another process")
	// ErrNewer says that the file was written by a newer version, and was left as it is.
	ErrNewer = errors.New("written by a newer version of knowledged")
	// ErrClosed is returned by writes after Close.
	ErrClosed = errors.New("registry is closed")
)

// Registry is the set of records. All methods may be called from any goroutine.
type Registry struct {
	log   *slog.Logger
	store *store

	writeMu sync.Mutex // one Apply at a time; taken before mu

	mu      sync.RWMutex // guards below; held for reading while a text is read, so that Close and Apply wait for it
	closed  bool
	byPath  map[string]*Record
	byID    map[string]*Record
	byHash  map[string]*Record   // one of the records with these bytes
	twins   map[string][]*Record // all of them, where there are several
	slots   []*Record            // owners name records by slot, which makes the biggest map one without pointers
	free    []uint32
	owners  map[uint64]owner   // by the first half of a chunk's id; the record has the whole
	sorted  []*Record          // by path; nil after a change
	pending map[string]pending // not on disk yet, by path
	bytes   int64
}

type owner struct{ slot, index uint32 }

// Open opens <dir>/registry.db, making it if need be. A broken file is set aside as registry.db.broken-<time> and the
// registry starts empty.
func Open(dir string, log *slog.Logger) (*Registry, error) {
	r := &Registry{log: log}
	file := filepath.Join(dir, "registry.db")
	l := newLoader(r)
	st, err := openStore(storeConfig{
		file: file, buckets: []string{bucketRecords, bucketTexts},
		reset: l.reset, visit: l.visit,
		lost: "all documents are read and indexed anew",
	}, log)
	if err != nil {
		return nil, fmt.Errorf("open registry %s: %w", file, err)
	}
	r.store = st
	l.finish()
	return r, nil
}

// Close writes what is still pending and releases the file. Later reads find nothing.
func (r *Registry) Close() error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	r.mu.RLock()
	closed := r.closed
	r.mu.RUnlock()
	if closed {
		return nil
	}
	err := r.flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return errors.Join(err, r.store.close())
}

// Get finds a record by its path.
func (r *Registry) Get(path string) (*Record, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	rec, ok := r.byPath[path]
	return rec, ok
}

// ByID finds a record by its docId.
func (r *Registry) ByID(docID string) (*Record, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	rec, ok := r.byID[docID]
	return rec, ok
}

// ByHash lists the records of files with these bytes.
func (r *Registry) ByHash(hash string) []*Record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if all := r.twins[hash]; all != nil {
		return slices.Clone(all)
	}
	if rec := r.byHash[hash]; rec != nil {
		return []*Record{rec}
	}
	return nil
}

// All lists the records by path as they are now. The slice is shared: do not modify it.
func (r *Registry) All() []*Record {
	r.mu.RLock()
	sorted := r.sorted
	r.mu.RUnlock()
	if sorted != nil {
		return sorted
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sorted == nil {
		r.sorted = make([]*Record, 0, len(r.byPath))
		for _, rec := range r.byPath {
			r.sorted = append(r.sorted, rec)
		}
		slices.SortFunc(r.sorted, func(a, b *Record) int { return strings.Compare(a.Path, b.Path) })
	}
	return r.sorted
}

// Len is the number of records.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byPath)
}

// Owner finds the document a chunk belongs to and the chunk's position in it. It reads memory only.
func (r *Registry) Owner(chunkID string) (rec *Record, index int, ok bool) {
	key, ok := parseKey(chunkID)
	if !ok {
		return nil, 0, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.owner(key)
}

func (r *Registry) owner(key chunkKey) (*Record, int, bool) {
	o, ok := r.owners[key.half()]
	if !ok || r.slots[o.slot].rawID(int(o.index)) != string(key[:]) {
		return nil, 0, false
	}
	return r.slots[o.slot], int(o.index), true
}

// Chunk reads one chunk. It is false for an unknown id and where the stored text is damaged (the document is then read
// again, see Record.FileHash).
func (r *Registry) Chunk(chunkID string) (document.Chunk, *Record, bool) {
	key, ok := parseKey(chunkID)
	if !ok {
		return document.Chunk{}, nil, false
	}
	r.mu.RLock()
	rec, i, ok := r.owner(key)
	if !ok || r.closed {
		r.mu.RUnlock()
		return document.Chunk{}, nil, false
	}
	var c document.Chunk
	err := r.readTexts(rec.Path, func(value []byte) (err error) {
		c, err = decodeChunk(value, rec, i)
		return err
	})
	r.mu.RUnlock()
	if err != nil {
		r.unread(rec, err)
		return document.Chunk{}, nil, false
	}
	return c, rec, true
}

// Chunks reads all chunks of a document, in order.
func (r *Registry) Chunks(path string) ([]document.Chunk, error) {
	r.mu.RLock()
	rec, ok := r.byPath[path]
	if !ok || r.closed {
		closed := r.closed
		r.mu.RUnlock()
		if closed {
			return nil, ErrClosed
		}
		return nil, fmt.Errorf("chunks of %s: no such document", path)
	}
	if rec.ChunkCount() == 0 {
		r.mu.RUnlock()
		return nil, nil
	}
	var chunks []document.Chunk
	err := r.readTexts(path, func(value []byte) (err error) {
		chunks, err = decodeChunks(value, rec)
		return err
	})
	r.mu.RUnlock()
	if err != nil {
		r.unread(rec, err)
		return nil, fmt.Errorf("chunks of %s: %w", path, err)
	}
	return chunks, nil
}

// ChunkIDs yields the ids of all chunks, as of the moment the loop starts.
func (r *Registry) ChunkIDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, rec := range r.All() {
			for i := range rec.ChunkCount() {
				if !yield(hex.EncodeToString([]byte(rec.rawID(i)))) {
					return
				}
			}
		}
	}
}

// readTexts hands the stored chunks of a path to use, which must not keep them. r.mu is held for reading: with it, a path
// that is not pending is on disk exactly as memory has it.
func (r *Registry) readTexts(path string, use func(value []byte) error) error {
	if p, ok := r.pending[path]; ok && !p.keepTexts {
		return use(p.texts)
	}
	return r.store.view(bucketTexts, path, use)
}

// unread replaces a record whose stored text turned out damaged, unless it has been replaced meanwhile.
func (r *Registry) unread(rec *Record, err error) {
	r.mu.Lock()
	current := r.byPath[rec.Path] == rec && !r.closed
	if current {
		r.put(rec.asUnread())
	}
	r.mu.Unlock()
	if current && rec.FileHash != "" {
		r.log.Warn("stored text of a document is damaged; the file will be read again", "path", rec.Path, "err", err)
	}
}

func parseKey(id string) (k chunkKey, ok bool) {
	if len(id) != 2*idSize {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(id))
	return k, err == nil
}
