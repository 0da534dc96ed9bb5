package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkStorm10000 lets 10,000 documents appear, change and vanish while lookups go on. It reports the time of a
// lookup meanwhile, the time from the last change until nothing is pending, and the most heap in use.
func BenchmarkStorm10000(b *testing.B) {
	for b.Loop() {
		w := newWorld(b)
		w.corpus(100)
		w.start()
		var stop atomic.Bool
		var most uint64
		var took []time.Duration
		done := make(chan struct{})
		go func() {
			defer close(done)
			for !stop.Load() {
				start := time.Now()
				if _, err := w.Lookup(context.Background(), lookupRequest("kw-7")); err != nil {
					b.Error(err)
				}
				took = append(took, time.Since(start))
				var m runtime.MemStats
				if len(took)%100 == 1 {
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapInuse)
				}
				time.Sleep(2 * time.Millisecond) // a busy client, not one that takes the machine
			}
		}()
		const n = 10_000
		for i := range n {
			w.save(fmt.Sprintf("s%02d/%05d.md", i%50, i), doc(fmt.Sprintf("Storm %d", i), fmt.Sprintf("kw-s%d.", i)))
		}
		last := time.Now()
		w.patiently(b, func() bool { return w.registry.Len() == n+100 })
		b.ReportMetric(time.Since(last).Seconds(), "s-created")
		for i := range n / 2 {
			w.save(fmt.Sprintf("s%02d/%05d.md", i%50, i), doc(fmt.Sprintf("Again %d", i), fmt.Sprintf("kw-s%d.", i)))
		}
		for i := range 25 {
			w.delete(fmt.Sprintf("s%02d", i+25))
		}
		last = time.Now()
		w.patiently(b, func() bool { s := w.status(); return s.Pending.L0 == 0 && s.Documents.Total == n/2+100 })
		b.ReportMetric(time.Since(last).Seconds(), "s-changed")
		stop.Store(true)
		<-done
		slices.Sort(took)
		b.ReportMetric(ms(took[len(took)/2]), "ms-lookup-p50")
		b.ReportMetric(ms(took[len(took)*99/100]), "ms-lookup-p99")
		b.ReportMetric(float64(most)/1e6, "MB-heap")
		w.halt()
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// patiently waits without looking so often that it is measured itself.
func (w *world) patiently(b *testing.B, cond func() bool) {
	for end := time.Now().Add(5 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("status %+v", w.status())
		}
	}
}

// BenchmarkCheckout1000 changes 1,000 of 2,000 documents of 6 KB as a checkout does, each by a new file, until lookups
// know all of it.
func BenchmarkCheckout1000(b *testing.B) {
	w := newWorld(b)
	w.corpus(2000)
	w.start()
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		var texts [1000]string
		for i := range texts {
			data, err := os.ReadFile(w.abs(fmt.Sprintf("c%d/%d.md", i%10, i)))
			if err != nil {
				b.Fatal(err)
			}
			texts[i] = doc(fmt.Sprintf("Round %d of %d", round, i), fmt.Sprintf("kw-%d", i)) + string(data[200:])
		}
		before := w.status().Updates
		b.StartTimer()
		for i, text := range texts {
			path := w.abs(fmt.Sprintf("c%d/%d.md", i%10, i))
			if err := os.Remove(path); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		w.patiently(b, func() bool { s := w.status(); return s.Updates >= before+1000 && s.Pending.L0 == 0 })
	}
}
