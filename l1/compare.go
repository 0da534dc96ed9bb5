package l1

import (
	"context"
	"fmt"
	"maps"
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
		defer x.poke()
	}
	return x.compare(ctx, repair, repair)
}

// compare derives the backlog anew, with what had been given up if forgive is set. A change that comes meanwhile keeps its
// place in it.
func (x *Index) compare(ctx context.Context, repair, forgive bool) (Difference, error) {
	x.comparing.Lock()
	defer x.comparing.Unlock()
	x.mu.Lock()
	before := x.generation
	x.landed = make(map[string]struct{})
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.landed = nil
		x.mu.Unlock()
	}()
	want := make(map[string]struct{})
	for id := range x.source.ChunkIDs() {
		want[id] = struct{}{}
	}
	rows, surplus, err := x.survey(ctx, want, repair)
	if err != nil {
		return Difference{}, fmt.Errorf("list stored vectors: %w", err)
	}
	have := make(map[string]struct{}, len(want))
	for _, id := range rows {
		if _, ok := want[id]; ok {
			have[id] = struct{}{}
		}
	}
	var missing []string
	for id := range want {
		if _, ok := have[id]; !ok {
			missing = append(missing, id)
		}
	}
	switch {
	case x.readOnly:
		x.adoptRead(rows, len(missing))
	case repair:
		x.adopt(have, missing, surplus, before, forgive)
	}
	return Difference{Missing: len(missing), Surplus: len(surplus)}, nil
}

// survey lists the rows that there are, and those of them to delete: of a store that is ours alone, all that are not wanted.
func (x *Index) survey(ctx context.Context, want map[string]struct{}, claim bool) (rows, surplus []string, err error) {
	if s, ok := x.store.(Sharer); ok && !x.readOnly {
		v, err := s.Survey(ctx, want, claim)
		return v.Rows, v.Left, err
	}
	rows, err = x.store.IDs(ctx)
	if err != nil || x.readOnly {
		return rows, nil, err
	}
	for _, id := range rows {
		if _, ok := want[id]; !ok {
			surplus = append(surplus, id)
		}
	}
	return rows, surplus, nil
}

// adopt replaces the backlog by what a comparison found, except for ids marked since before. Surplus rows are not taken for
// rows that there are: one that is wanted again is put anew, whatever has become of its deletion.
func (x *Index) adopt(have map[string]struct{}, missing, surplus []string, before uint64, forgive bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if forgive {
		clear(x.failed)
		clear(x.byPath)
	}
	for id, generation := range x.dirty {
		if generation <= before {
			delete(x.dirty, id)
		}
	}
	x.generation++
	x.have = have
	maps.Copy(have, x.landed)
	for _, id := range missing {
		if _, failed := x.failed[id]; !failed && !x.has(id) {
			x.mark(id, false)
		}
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

// compareWithin has a comparison made no later than that, and reports whether that is sooner than was planned. It needs mu.
func (x *Index) compareWithin(d time.Duration) (sooner bool) {
	due := time.Now().Add(max(d, 0))
	if sooner = x.nextCompare.IsZero() || due.Before(x.nextCompare); sooner {
		x.nextCompare = due
	}
	return sooner
}
