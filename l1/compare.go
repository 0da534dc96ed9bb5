package l1

import (
	"context"
	"fmt"
	"time"
)

// Difference is what a comparison of store and source found.
type Difference struct {
	Missing int // chunks without a row
	Surplus int // rows without a chunk
}

// Reconcile compares the store's rows with the source's chunks. With repair it makes the differences pending, passages that
// had been given up included; Run then removes them.
func (x *Index) Reconcile(ctx context.Context, repair bool) (Difference, error) {
	if repair {
		x.mu.Lock()
		clear(x.failed)
		clear(x.byPath)
		x.mu.Unlock()
		defer x.poke()
	}
	return x.compare(ctx, repair)
}

// compare derives the backlog anew. A change that comes meanwhile keeps its place in it.
func (x *Index) compare(ctx context.Context, repair bool) (Difference, error) {
	x.comparing.Lock()
	defer x.comparing.Unlock()
	x.mu.Lock()
	before := x.generation
	x.mu.Unlock()
	ids, err := x.store.IDs(ctx)
	if err != nil {
		return Difference{}, fmt.Errorf("list stored vectors: %w", err)
	}
	have := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		have[id] = struct{}{}
	}
	var missing, surplus []string
	want := make(map[string]struct{}, len(ids))
	for id := range x.source.ChunkIDs() {
		want[id] = struct{}{}
		if _, ok := have[id]; !ok {
			missing = append(missing, id)
		}
	}
	for id := range have {
		if _, ok := want[id]; !ok {
			surplus = append(surplus, id)
		}
	}
	if repair {
		x.adopt(have, missing, surplus, before)
	}
	return Difference{Missing: len(missing), Surplus: len(surplus)}, nil
}

// adopt replaces the backlog by what a comparison found, except for ids marked since before.
func (x *Index) adopt(have map[string]struct{}, missing, surplus []string, before uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, generation := range x.dirty {
		if generation <= before {
			delete(x.dirty, id)
		}
	}
	x.generation++
	x.have = have
	for _, id := range missing {
		if _, failed := x.failed[id]; !failed {
			x.mark(id, false)
		}
	}
	for id := range x.stale { // a comparison of ids doesn't see them
		x.mark(id, false)
	}
	for _, id := range surplus {
		x.mark(id, true)
	}
	x.compared, x.wantCompare, x.lastCompare = true, false, time.Now()
	x.advanced()
}
