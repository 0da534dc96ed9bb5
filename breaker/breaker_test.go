package breaker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("connection refused")

func noProbe(t *testing.T) func(context.Context) error {
	return func(context.Context) error {
		t.Error("a probe was made")
		return nil
	}
}

func fail(t *testing.T, b *Breaker, n int) {
	for range n {
		b.Failed(t.Context(), time.Now(), errDown)
	}
}

// Some failures in a row open it, and not fewer; an answer between them begins the count anew.
func TestOpensAfterFailuresInARow(t *testing.T) {
	b := New()
	defer b.Close()
	fail(t, b, TripAfter-1)
	b.Worked()
	fail(t, b, TripAfter-1)
	if err := b.Check(noProbe(t)); err != nil {
		t.Fatalf("open after %d failures: %v", TripAfter-1, err)
	}
	fail(t, b, 1)
	if err := b.Check(noProbe(t)); !errors.Is(err, errDown) || !errors.Is(b.Cause(), errDown) {
		t.Errorf("Check: %v, Cause: %v", err, b.Cause())
	}
}

// A caller who left, or gave no time, says nothing about the server.
func TestLatenessThatDoesNotCount(t *testing.T) {
	b := New()
	defer b.Close()
	left, leave := context.WithCancel(t.Context())
	leave()
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for range 2 * TripAfter {
		b.Failed(left, time.Now().Add(-time.Minute), context.Canceled)
		b.Failed(over, time.Now(), context.DeadlineExceeded)
	}
	if err := b.Cause(); err != nil {
		t.Fatalf("open: %v", err)
	}
	for range TripAfter {
		b.Failed(over, time.Now().Add(-2*countFrom), context.DeadlineExceeded)
	}
	if !errors.Is(b.Cause(), context.DeadlineExceeded) {
		t.Errorf("not open after time-outs: %v", b.Cause())
	}
}

// Probes come at growing intervals, one at a time, and nobody waits for them; one that succeeds closes it.
func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		defer b.Close()
		fail(t, b, TripAfter)
		var probes int
		answer := errDown
		ask := func() error {
			err := b.Check(func(ctx context.Context) error {
				probes++
				time.Sleep(firstHold / 2)
				return answer
			})
			return err
		}
		start := time.Now()
		var at []time.Duration
		for time.Since(start) < 4*LongHold {
			had := probes
			if err := ask(); !errors.Is(err, errDown) {
				t.Fatalf("Check: %v", err)
			}
			synctest.Wait()
			if probes > had {
				at = append(at, time.Since(start))
			}
			time.Sleep(firstHold / 10)
		}
		for i := 2; i < len(at); i++ {
			if gap, before := at[i]-at[i-1], at[i-1]-at[i-2]; gap < before || gap > LongHold+firstHold {
				t.Errorf("probes at %v", at)
				break
			}
		}
		if len(at) < 5 {
			t.Errorf("probes at %v", at)
		}
		answer = nil
		time.Sleep(LongHold)
		ask()
		time.Sleep(firstHold)
		synctest.Wait()
		if err := ask(); err != nil {
			t.Errorf("after a probe that was answered: %v", err)
		}
	})
}

// Close ends a probe under way and lets none begin.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		fail(t, b, TripAfter)
		time.Sleep(2 * firstHold)
		ended := make(chan error, 1)
		_ = b.Check(func(ctx context.Context) error {
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		})
		b.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("probe ended with %v", err)
		}
		time.Sleep(2 * LongHold)
		if err := b.Check(noProbe(t)); err == nil {
			t.Error("closed by Close")
		}
	})
}
