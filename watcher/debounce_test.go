package watcher

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const (
	quiet = 30 * time.Millisecond
	limit = 500 * time.Millisecond
	ms    = time.Millisecond
)

// settleAll answers all due paths; gone names those without a file.
func settleAll(d *debouncer, now time.Time, gone ...string) {
	for _, path := range d.Due(now) {
		d.Settle(path, slices.Contains(gone, path))
	}
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// SPEC 4.1: one save is one indexing, however many events it makes.
func TestDebounce_4_1_QuietTime(t *testing.T) {
	d, start := newDebouncer(quiet, limit), time.Unix(1000, 0)
	for i := range 5 {
		d.Add("a.md", start.Add(time.Duration(i)*20*ms))
	}
	last := start.Add(80 * ms)
	settleAll(d, last.Add(quiet-1))
	expect(t, d.Take(last.Add(quiet-1), false))
	settleAll(d, last.Add(quiet))
	expect(t, d.Take(last.Add(quiet), false), "a.md")
	expect(t, d.Take(last.Add(time.Hour), false))
	if d.Len() != 0 || !d.Next().IsZero() {
		t.Errorf("%d paths left, next %v", d.Len(), d.Next())
	}
}

// A file that is never quiet comes out once a limit.
func TestDebounce_4_1_UpperBound(t *testing.T) {
	d, start := newDebouncer(quiet, limit), time.Unix(1000, 0)
	var out []time.Duration
	for at := time.Duration(0); at < 1600*ms; at += 10 * ms {
		now := start.Add(at)
		settleAll(d, now)
		if len(d.Take(now, false)) > 0 {
			out = append(out, at)
		}
		d.Add("busy.md", now)
	}
	if want := []time.Duration{500 * ms, 1000 * ms, 1500 * ms}; !slices.Equal(out, want) {
		t.Errorf("came out at %v, want %v", out, want)
	}
}

// The two ends of a move come out together: what is gone waits for what is not settled yet, and for folders being read.
func TestDebounce_4_1_MovesStayTogether(t *testing.T) {
	start := time.Unix(1000, 0)
	t.Run("file", func(t *testing.T) {
		d := newDebouncer(quiet, limit)
		d.Add("old.md", start)
		d.Add("new.md", start.Add(5*ms))
		settleAll(d, start.Add(quiet), "old.md")
		expect(t, d.Take(start.Add(quiet), false))
		settleAll(d, start.Add(quiet+5*ms))
		expect(t, d.Take(start.Add(quiet+5*ms), false), "new.md", "old.md")
	})
	t.Run("folder", func(t *testing.T) {
		d := newDebouncer(quiet, limit)
		d.Add("x/old.md", start)
		settleAll(d, start.Add(quiet), "x/old.md")
		expect(t, d.Take(start.Add(quiet), true))
		d.Add("y/old.md", start.Add(40*ms))
		settleAll(d, start.Add(70*ms))
		expect(t, d.Take(start.Add(70*ms), false), "x/old.md", "y/old.md")
	})
	t.Run("not for ever", func(t *testing.T) {
		d := newDebouncer(quiet, limit)
		d.Add("gone.md", start)
		var at time.Time
		for now := start; at.IsZero() && now.Before(start.Add(2*limit)); now = now.Add(10 * ms) {
			d.Add("busy.md", now)
			settleAll(d, now, "gone.md")
			if slices.Contains(d.Take(now, false), "gone.md") {
				at = now
			}
		}
		if want := start.Add(limit); !at.Equal(want) {
			t.Errorf("came out at %v, want %v", at, want)
		}
	})
	t.Run("alone at once", func(t *testing.T) {
		d := newDebouncer(quiet, limit)
		d.Add("gone.md", start)
		settleAll(d, start.Add(quiet), "gone.md")
		expect(t, d.Take(start.Add(quiet), false), "gone.md")
	})
}

// A new event puts a settled path back to waiting, within its limit.
func TestDebounce_SettledMayWaitAgain(t *testing.T) {
	d, start := newDebouncer(quiet, limit), time.Unix(1000, 0)
	d.Add("a.md", start)
	settleAll(d, start.Add(quiet), "a.md")
	d.Add("a.md", start.Add(quiet))
	expect(t, d.Take(start.Add(quiet), false))
	settleAll(d, start.Add(2*quiet))
	expect(t, d.Take(start.Add(2*quiet), false), "a.md")
}

func TestDebounce_AgainWithinLimit(t *testing.T) {
	d, start := newDebouncer(quiet, limit), time.Unix(1000, 0)
	d.Add("a.md", start)
	now, again := start, 0
	for {
		now = d.Next()
		due := d.Due(now)
		if len(due) == 0 {
			continue
		}
		if !d.Again("a.md", now) {
			break
		}
		again++
	}
	if now.Sub(start) != limit || again == 0 {
		t.Errorf("gave up after %v and %d looks, want %v", now.Sub(start), again, limit)
	}
	d.Drop("a.md")
	if d.Len() != 0 {
		t.Error("dropped path is still held")
	}
}

// Driven by timers, as the loop does, in fake time.
func TestDebounce_InFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, start := newDebouncer(quiet, limit), time.Now()
		for i := range 100 {
			d.Add(fmt.Sprintf("%02d.md", i), time.Now())
			time.Sleep(ms)
		}
		got := map[string]bool{}
		for d.Len() > 0 {
			if wait := time.Until(d.Next()); wait > 0 {
				time.Sleep(wait)
			}
			settleAll(d, time.Now())
			for _, path := range d.Take(time.Now(), false) {
				got[path] = true
			}
		}
		if took := time.Since(start); len(got) != 100 || took != 99*ms+quiet {
			t.Errorf("%d paths in %v", len(got), took)
		}
	})
}

// BenchmarkDebounce: a storm of events on 10,000 paths, up to all being handed out.
func BenchmarkDebounce(b *testing.B) {
	paths := make([]string, 10_000)
	for i := range paths {
		paths[i] = fmt.Sprintf("folder/%05d.md", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		d, now := newDebouncer(quiet, limit), time.Unix(1000, 0)
		for range 3 {
			for _, path := range paths {
				now = now.Add(time.Microsecond)
				d.Add(path, now)
			}
		}
		n := 0
		for d.Len() > 0 {
			now = d.Next()
			settleAll(d, now)
			n += len(d.Take(now, false))
		}
		if n != len(paths) {
			b.Fatal(n)
		}
	}
}
