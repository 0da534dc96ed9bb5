// Package breaker is a circuit breaker: it keeps lookups from waiting for a server that does not answer.
package breaker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// When it opens, and when it is tried whether it can close.
const (
	TripAfter = 3                // calls in a row that fail for want of an answer
	LongHold  = 30 * time.Second // between probes at most
	firstHold = time.Second      // until the first
	// countFrom is how long a call must have been given for its lateness to count: what those before it have left of the
	// lookup's time may be next to nothing.
	countFrom = 50 * time.Millisecond
)

// Breaker is open once some calls in a row were not answered: calls then fail at once, and now and then a probe, for which
// nobody waits, finds out whether to close it. It is safe for concurrent use; Close waits for a probe under way.
type Breaker struct {
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

// New makes a closed one.
func New() *Breaker {
	ctx, cancel := context.WithCancel(context.Background())
	return &Breaker{ctx: ctx, cancel: cancel, hold: firstHold}
}

// Check gives the reason for which calls fail now, nil if they do not. If a probe is due it is started.
func (b *Breaker) Check(probe func(context.Context) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != nil && !b.probing && time.Now().After(b.retry) && b.ctx.Err() == nil {
		b.probing = true
		b.probes.Go(func() { b.Settle(probe(b.ctx)) })
	}
	return b.cause
}

// Settle is what a probe found: nil closes the breaker.
func (b *Breaker) Settle(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if err == nil {
		b.failures, b.cause, b.hold = 0, nil, firstHold
		return
	}
	b.hold = min(2*b.hold, LongHold)
	b.trip(err)
}

// trip opens it. It needs mu.
func (b *Breaker) trip(err error) {
	b.cause = err
	b.retry = time.Now().Add(b.hold)
}

// Worked is a call that was answered.
func (b *Breaker) Worked() {
	b.mu.Lock()
	b.failures = 0
	b.mu.Unlock()
}

// Failed is a call begun at start that err ended. One that its caller gave up, or gave next to no time, says nothing about the
// server.
func (b *Breaker) Failed(ctx context.Context, start time.Time, err error) {
	late := errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil
	if late && (time.Since(start) < countFrom || errors.Is(ctx.Err(), context.Canceled)) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures++; b.failures >= TripAfter && b.cause == nil {
		b.trip(err)
	}
}

// Cause is why calls fail at once now, nil if they do not.
func (b *Breaker) Cause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}

// Close ends the probes.
func (b *Breaker) Close() {
	b.cancel()
	b.mu.Lock()   // no probe is started after this
	b.mu.Unlock() //nolint:staticcheck // SA2001: waiting for who holds it is the point
	b.probes.Wait()
}
