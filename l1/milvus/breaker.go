package milvus

import (
	"context"
	"sync"
	"time"
)

const (
	tripAfter = 3                // searches in a row that fail for want of an answer
	firstHold = time.Second      // until the first probe
	longHold  = 30 * time.Second // between probes
	// countFrom is how long a search must have been given for its lateness to count: what an embedding server has left of
	// the caller's time may be next to nothing.
	countFrom = 50 * time.Millisecond
)

// breaker keeps searches from waiting for a server that does not answer. Once it is open they fail at once, and now and then
// a probe, for which nobody waits, finds out whether to close it.
type breaker struct {
	ctx    context.Context // of probes; ends with close
	cancel context.CancelFunc
	probes sync.WaitGroup

	mu       sync.Mutex // guards below
	failures int        // in a row
	cause    error      // not nil: open
	hold     time.Duration
	retry    time.Time // of the next probe
	probing  bool
}

func newBreaker() breaker {
	ctx, cancel := context.WithCancel(context.Background())
	return breaker{ctx: ctx, cancel: cancel, hold: firstHold}
}

// check gives the reason for which searches fail now, nil if they do not. If a probe is due it is started.
func (b *breaker) check(probe func(context.Context) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil && !b.probing && time.Now().After(b.retry) && b.ctx.Err() == nil {
		b.probing = true
		b.probes.Go(func() { b.settle(probe(b.ctx)) })
	}
	return b.cause
}

// settle is what a probe found.
func (b *breaker) settle(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if err == nil {
		b.failures, b.cause, b.hold = 0, nil, firstHold
		return
	}
	b.hold = min(2*b.hold, longHold)
	b.trip(err)
}

// trip opens it. It needs mu.
func (b *breaker) trip(err error) {
	b.cause = err
	b.retry = time.Now().Add(b.hold)
}

// worked is a search that was answered.
func (b *breaker) worked() {
	b.mu.Lock()
	b.failures = 0
	b.mu.Unlock()
}

// failed is a search that was not.
func (b *breaker) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures++; b.failures >= tripAfter && b.cause == nil {
		b.trip(err)
	}
}

func (b *breaker) ailment() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}

func (b *breaker) close() {
	b.cancel()
	b.mu.Lock()   // no probe is started after this
	b.mu.Unlock() //nolint:staticcheck // SA2001: waiting for who holds it is the point
	b.probes.Wait()
}
