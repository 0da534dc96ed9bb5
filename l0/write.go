package l0

import (
	"context"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	"knowledged/document"
)

const (
	// Segments wait in memory for persisterNap to be merged before they are written: fewer files, fewer merges.
	persisterNap = 50 * time.Millisecond

	maxBatchChunks = 400
	maxBatchBytes  = 2 << 20 // of text; analysis takes some ten times as much memory for a moment
	maxUnpersisted = 3200    // chunks in memory only, before writing waits for the disk

	patience = 5 * time.Second // bounds that wait: with a full disk the index goes on in memory
)

// write brings the full text up to date. The caller holds writing and life.
func (x *Index) write(b Batch) error {
	chunks, gone, err := x.difference(b)
	if err != nil {
		return err
	}
	batch := index.NewBatch()
	for _, id := range gone {
		batch.Delete(id)
	}
	n, size := 0, 0
	for _, c := range chunks {
		doc := newChunkDoc(c)
		batch.Update(doc)
		n++
		size += doc.size
		if n == maxBatchChunks || size >= maxBatchBytes {
			if err := x.commit(batch); err != nil {
				return err
			}
			batch = index.NewBatch()
			n, size = 0, 0
		}
	}
	if len(batch.IndexOps) == 0 {
		return nil
	}
	return x.commit(batch)
}

// difference finds the chunks that the full text lacks and the gone ones that it has no more use for.
func (x *Index) difference(b Batch) (chunks []*document.Chunk, gone []string, err error) {
	wanted := map[string]*document.Chunk{}
	var ids []string
	for i := range b.Put {
		for j := range b.Put[i].Chunks {
			c := &b.Put[i].Chunks[j]
			if wanted[c.ID] == nil {
				wanted[c.ID] = c
				ids = append(ids, c.ID)
			}
		}
	}
	for _, id := range b.GoneChunks {
		if wanted[id] == nil {
			gone = append(gone, id)
		}
	}
	present := map[string]bool{}
	err = x.view(func(snapshot *scorch.IndexSnapshot) error {
		for _, seg := range snapshot.Segments() {
			numbers, err := seg.DocNumbers(ids)
			if err != nil {
				return err
			}
			for it := numbers.Iterator(); it.HasNext(); {
				id, err := seg.DocID(uint64(it.Next()))
				if err != nil {
					return err
				}
				present[string(id)] = true
			}
		}
		return nil
	})
	for _, id := range ids {
		if !present[id] {
			chunks = append(chunks, wanted[id])
		}
	}
	return chunks, gone, err
}

// commit hands a batch to bleve; it is searchable on return. Before that it waits for room among the chunks which are not
// on disk yet.
func (x *Index) commit(batch *index.Batch) error {
	weight := int64(min(len(batch.IndexOps), maxUnpersisted))
	counted := x.waitForRoom(weight)
	batch.SetPersistedCallback(func(error) {
		if counted {
			x.room.Release(weight)
		}
		x.health.persisted()
	})
	return x.submit(batch)
}

// waitForRoom reports whether so many chunks fit among those which are not on disk yet. A full disk makes no room.
func (x *Index) waitForRoom(weight int64) bool {
	if x.health.unwritable() {
		return x.room.TryAcquire(weight)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return x.room.Acquire(ctx, weight) == nil
}

// submit runs bleve's Batch, which never returns if the background task that it hands over to has died.
func (x *Index) submit(batch *index.Batch) error {
	result := make(chan error, 1)
	go func() { result <- guard(func() error { return x.scorch.Batch(batch) }) }()
	select {
	case err := <-result:
		return err
	case <-x.health.dead:
		return x.health.err()
	}
}

// flush waits until all that was written is on disk.
func (x *Index) flush() {
	done := make(chan struct{})
	batch := index.NewBatch()
	batch.SetInternal([]byte("flush"), []byte(time.Now().UTC().Format(time.RFC3339)))
	batch.SetPersistedCallback(func(error) { close(done) })
	if x.submit(batch) != nil {
		return
	}
	select {
	case <-done:
	case <-x.health.dead:
	case <-time.After(x.health.flushPatience()):
	}
}
