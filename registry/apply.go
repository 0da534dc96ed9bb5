package registry

import (
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"knowledged/document"
)

// Change is what one document becomes.
type Change struct {
	Path       string
	Record     *Record // nil: the document is deleted. Copied; the caller's is not kept.
	Chunks     []document.Chunk
	KeepChunks bool // the stored chunks stay and Chunks is ignored: only the record changes
}

// pending is a change that memory has and the disk has not.
type pending struct {
	record    []byte // nil: deleted
	texts     []byte // nil: no chunks
	keepTexts bool   // the texts on disk stay
}

// Apply makes the changes, first in memory, all at once, then on disk in one transaction. An error about a change's form
// comes before anything is done. If the disk can't be written, memory stays the newer truth, the error is returned, and
// the changes are written with the next Apply (or Close); only a crash before that makes the next start read these files
// again. A move is a deletion of the old path and a put of the new with the same DocID, in one Apply.
func (r *Registry) Apply(changes []Change) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	prepared := make([]prepared, len(changes))
	for i, c := range changes {
		var err error
		if prepared[i], err = prepare(c); err != nil {
			return fmt.Errorf("apply change of %q: %w", c.Path, err)
		}
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	for i := range prepared {
		r.applyOne(&prepared[i])
	}
	r.mu.Unlock()
	return r.flush()
}

type prepared struct {
	path  string
	rec   *Record // a copy of the caller's; nil: delete
	texts []byte
	keep  bool
}

// prepare encodes the texts outside the lock.
func prepare(c Change) (prepared, error) {
	p := prepared{path: c.Path, keep: c.KeepChunks}
	switch {
	case c.Path == "":
		return p, errors.New("empty path")
	case len(c.Path) > maxPath:
		return p, fmt.Errorf("path of %d bytes is longer than %d", len(c.Path), maxPath)
	case c.Record == nil:
		return p, nil
	}
	rec := *c.Record
	rec.Path = c.Path
	p.rec = &rec
	if c.KeepChunks {
		return p, nil
	}
	var err error
	p.texts, rec.chunkIDs, err = encodeChunks(c.Chunks)
	return p, err
}

func (r *Registry) applyOne(p *prepared) {
	old := r.byPath[p.path]
	if p.rec == nil {
		if old != nil {
			r.remove(old)
			r.pending[p.path] = pending{}
		}
		return
	}
	change := pending{texts: p.texts, keepTexts: p.keep}
	if p.keep {
		p.rec.chunkIDs = ""
		if old != nil {
			p.rec.chunkIDs = old.chunkIDs
		}
		if before, ok := r.pending[p.path]; ok {
			change.texts, change.keepTexts = before.texts, before.keepTexts
		}
	}
	change.record = encodeRecord(p.rec)
	// The stored record is read back from its encoding: compact, and sharing no memory with the caller's, whose strings
	// may each hold a whole file in memory.
	rec, err := decodeRecord(p.path, change.record)
	if err != nil {
		panic("registry: record does not survive its own encoding: " + p.path)
	}
	r.put(rec)
	r.pending[p.path] = change
}

// flush writes all pending changes in one transaction. r.writeMu is held, so pending only shrinks here.
func (r *Registry) flush() error {
	r.mu.RLock()
	paths := make([]string, 0, len(r.pending))
	changes := make(map[string]pending, len(r.pending))
	for path, p := range r.pending {
		paths = append(paths, path)
		changes[path] = p
	}
	r.mu.RUnlock()
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths) // neighbours share pages
	err := r.store.update(func(tx *bolt.Tx) error {
		records, texts := tx.Bucket([]byte(bucketRecords)), tx.Bucket([]byte(bucketTexts))
		for _, path := range paths {
			if err := write(records, texts, path, changes[path]); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write registry %s: %w", r.store.file, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.pending)
	return nil
}

func write(records, texts *bolt.Bucket, path string, p pending) error {
	key := []byte(path)
	switch {
	case p.record == nil:
		return errors.Join(records.Delete(key), texts.Delete(key))
	case p.keepTexts:
		return records.Put(key, p.record)
	case p.texts == nil:
		return errors.Join(records.Put(key, p.record), texts.Delete(key))
	default:
		return errors.Join(records.Put(key, p.record), texts.Put(key, p.texts))
	}
}
