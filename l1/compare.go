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
	stored, err := x.survey(ctx)
	if err != nil {
		return Difference{}, fmt.Errorf("list stored vectors: %w", err)
	}
	have := set(stored.Mine)
	var missing, surplus []string
	want := make(map[string]struct{}, len(have))
	for id := range x.source.ChunkIDs() {
		want[id] = struct{}{}
		if _, ok := have[id]; !ok {
			missing = append(missing, id)
		}
	}
	if x.readOnly {
		x.adoptRead(have, want, len(missing), before)
		return Difference{Missing: len(missing)}, nil
	}
	for id := range have {
		if _, ok := want[id]; !ok {
			surplus = append(surplus, id)
		}
	}
	for _, id := range stored.Left {
		_, wanted := want[id]
		if _, counted := have[id]; !wanted && !counted {
			surplus = append(surplus, id)
		}
	}
	if repair {
		x.adopt(have, missing, surplus, before)
		x.offer(stored.Others, want)
	}
	return Difference{Missing: len(missing), Surplus: len(surplus)}, nil
}

func set(ids []string) map[string]struct{} {
	m := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		m[id] = struct{}{}
	}
	return m
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
	x.wasCompared(x.compareEvery)
}

// wasCompared notes a comparison; the next is due after the time given, if that is not 0. It needs mu.
func (x *Index) wasCompared(again time.Duration) {
	x.compared, x.wantCompare, x.lastCompare = true, false, time.Now()
	x.nextCompare = time.Time{}
	if again > 0 {
		x.nextCompare = x.lastCompare.Add(again)
	}
	x.advanced()
}

// untilCompare is how long it takes until the next comparison is due. It needs mu.
func (x *Index) untilCompare() time.Duration {
	if x.nextCompare.IsZero() {
		return never
	}
	return min(time.Until(x.nextCompare), never)
}

// compareWithin has a comparison made no later than that. It needs mu.
func (x *Index) compareWithin(d time.Duration) {
	if due := time.Now().Add(d); x.nextCompare.IsZero() || due.Before(x.nextCompare) {
		x.nextCompare = due
	}
}
