package l1

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The states of an index.
const (
	StateReady    = "ready"
	StateBuilding = "building" // not complete yet since the start
	StateBacklog  = "backlog"  // was complete, and changes wait
	StateDown     = "down"     // store or provider fails; changes wait
)

// Status is how an index is doing.
type Status struct {
	State     string
	Chunks    int // rows in the store
	Pending   int // as Pending
	Failed    int // chunks given up
	LastError string
	Bytes     int64

	PerSecond float64       // chunks dealt with, of the present backlog; 0 if there is none
	ETA       time.Duration // until it is empty at that rate
}

// Status is the present one.
func (x *Index) Status() Status {
	st := Status{Chunks: x.store.Count(), Bytes: x.store.Bytes()}
	ailment := cmp.Or(ailmentOf(x.provider), ailmentOf(x.store))
	x.mu.Lock()
	defer x.mu.Unlock()
	st.Pending, st.Failed = x.pendingCount(), len(x.failed)
	st.PerSecond, st.ETA = x.pace.rate(time.Now(), st.Pending)
	switch {
	case x.outage != nil:
		st.State, st.LastError = StateDown, x.outage.err.Error()
	case ailment != nil:
		st.State, st.LastError = StateDown, ailment.Error()
	case st.Pending == 0:
		st.State = StateReady
	case !x.complete:
		st.State = StateBuilding
	default:
		st.State = StateBacklog
	}
	return st
}

func ailmentOf(part any) error {
	if a, ok := part.(Ailing); ok {
		return a.Ailment()
	}
	return nil
}

// Pending is the number of chunks to add or delete. Until the store has been compared with the source it is at least 1.
func (x *Index) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pendingCount()
}

// pendingCount needs mu.
func (x *Index) pendingCount() int {
	if !x.compared {
		return max(1, len(x.dirty))
	}
	return len(x.dirty)
}

// Has reports whether the chunk's row is in the store and need not be deleted.
func (x *Index) Has(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.has(id) && !x.pending(id)
}

// Failed reports whether the chunk was given up, and why.
func (x *Index) Failed(id string) (failed bool, why error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f, ok := x.failed[id]
	return ok, f.err
}

// Progress is closed when Status may have changed.
func (x *Index) Progress() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.progress
}

// Idle waits until nothing is pending.
func (x *Index) Idle(ctx context.Context) error {
	return x.await(ctx, func() bool { return x.pendingCount() == 0 })
}

// WaitFor waits until none of these chunks is pending; it fails if one was given up.
func (x *Index) WaitFor(ctx context.Context, ids []string) error {
	var errs []error
	err := x.await(ctx, func() bool {
		if !x.compared || slices.ContainsFunc(ids, x.pending) {
			return false
		}
		for _, id := range ids {
			if f, ok := x.failed[id]; ok {
				errs = append(errs, fmt.Errorf("embed chunk %s of %s: %w", id, f.path, f.err))
			}
		}
		return true
	})
	return errors.Join(append(errs, err)...)
}

// await calls done, with mu held, after every progress until it is true.
func (x *Index) await(ctx context.Context, done func() bool) error {
	for {
		x.mu.Lock()
		ok, progress := done(), x.progress
		x.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return fmt.Errorf("wait for the semantic index: %w", ctx.Err())
		}
	}
}
