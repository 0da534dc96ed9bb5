package l1

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The parts that can fail.
const (
	partStore    = "store"
	partProvider = "embedding provider"
)

// outage is that a part has failed and has not worked since.
type outage struct {
	part   string
	err    error
	since  time.Time
	adding bool // rows could not be put: a store whose disk is full still lists and deletes, which ends nothing
}

// backoff is when a failed part may be tried again.
type backoff struct {
	failures int
	until    time.Time
}

const (
	firstWait = 500 * time.Millisecond
	longWait  = 30 * time.Second
	// A Retry-After beyond this is taken for a mistake.
	longestRetryAfter = time.Hour
)

func (b *backoff) left() time.Duration { return time.Until(b.until) }

// failed doubles the wait, give or take a quarter so that many daemons do not come back at once, and heeds the error's own
// RetryAfter.
func (b *backoff) failed(err error) {
	wait := min(firstWait<<min(b.failures, 10), longWait)
	wait = min(wait*3/4+rand.N(wait/2), longWait)
	b.failures++
	var told interface{ RetryAfter() time.Duration }
	if errors.As(err, &told) {
		wait = max(wait, min(told.RetryAfter(), longestRetryAfter))
	}
	b.until = time.Now().Add(wait)
}

func (x *Index) wait(part string) *backoff {
	if part == partStore {
		return &x.storeWait
	}
	return &x.embedWait
}

// broke notes that a part failed, with one WARN an outage. After trouble with the store nobody knows what it has.
func (x *Index) broke(ctx context.Context, part string, err error) {
	if ctx.Err() != nil {
		return // it is us who stop
	}
	x.wait(part).failed(err)
	x.mu.Lock()
	first := x.outage == nil
	if first {
		x.outage = &outage{part: part, since: time.Now()}
	}
	// The one outage is that of the part failing last, so that its working again is what ends it.
	x.outage.part, x.outage.err = part, err
	if part == partStore {
		x.wantCompare = true
	}
	pending := len(x.dirty)
	x.advanced()
	x.mu.Unlock()
	if first {
		x.log.Warn("semantic index is down, keyword search goes on and changes wait", "part", part, "pending", pending, "err", err)
	}
}

// cannotAdd notes that rows could not be put.
func (x *Index) cannotAdd(ctx context.Context, err error) {
	x.broke(ctx, partStore, err)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outage != nil {
		x.outage.adding = true
	}
}

// answered notes that the store listed or deleted. Where rows wait that it could not take, that says nothing.
func (x *Index) answered() {
	x.mu.Lock()
	adding := x.outage != nil && x.outage.adding
	x.mu.Unlock()
	if !adding {
		x.worked(partStore)
	}
}

// worked notes that a part did its work.
func (x *Index) worked(part string) {
	*x.wait(part) = backoff{}
	x.recovered(part)
}

// recovered ends the part's outage, with one INFO.
func (x *Index) recovered(part string) {
	x.mu.Lock()
	over := x.outage
	if over == nil || over.part != part {
		x.mu.Unlock()
		return
	}
	x.outage = nil
	x.advanced()
	x.mu.Unlock()
	x.log.Info("semantic index is back", "part", part, "took", time.Since(over.since).Round(time.Millisecond))
}
