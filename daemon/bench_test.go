package daemon

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"knowledged/lookup"
)

// corpus writes n documents of about 6 KB.
func (w *world) corpus(n int) {
	w.t.Helper()
	for i := range n {
		var b strings.Builder
		b.WriteString(doc(fmt.Sprintf("文档 %d", i), fmt.Sprintf("kw-%d", i)))
		for s := range 6 {
			fmt.Fprintf(&b, "\n## 第 %d 节\n\n", s)
			for p := range 8 {
				fmt.Fprintf(&b, "支付网关在第 %d 次重试后返回超时错误 %d，需要检查连接池。Connection pool %d is exhausted after retry %d.\n\n", i*p, s, i, p)
			}
		}
		w.save(fmt.Sprintf("c%d/%d.md", i%10, i), b.String())
	}
}

// BenchmarkSaveToVisible is a save until a lookup answers from it; most of it is watch.settle.
func BenchmarkSaveToVisible(b *testing.B) {
	w := newWorld(b)
	w.corpus(100)
	w.start()
	for n := 0; b.Loop(); n++ {
		title := fmt.Sprintf("Save %d", n)
		if err := os.WriteFile(w.abs("c0/0.md"), []byte(doc(title, "kw-save")), 0o644); err != nil {
			b.Fatal(err)
		}
		for a := w.quick("kw-save"); a.Primary == nil || a.Primary.Title != title; a = w.quick("kw-save") {
		}
	}
}

func (w *world) quick(query string) *lookup.Answer {
	a, err := w.Lookup(context.Background(), lookup.Request{Query: query})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// BenchmarkFirstScan1000 is from nothing to ready, and then until all vectors are there.
func BenchmarkFirstScan1000(b *testing.B) {
	w := newWorld(b)
	w.corpus(1000)
	ready := 0.0
	for b.Loop() {
		b.StopTimer()
		w.halt()
		if err := os.RemoveAll(w.cfg.StateDir); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		w.open().run()
		before := b.Elapsed()
		w.eventually("ready", func() bool { return w.Ready() })
		ready += (b.Elapsed() - before).Seconds()
		w.idle()
	}
	b.ReportMetric(ready*1000/float64(b.N), "ms-ready/op")
}

// BenchmarkWarmStart is from a process that has nothing open to one that has looked at 1,000 unchanged documents.
func BenchmarkWarmStart(b *testing.B) {
	w := newWorld(b)
	w.corpus(1000)
	w.start()
	w.halt()
	w.age()
	for b.Loop() {
		w.start()
		b.StopTimer()
		w.halt()
		b.StartTimer()
	}
}

// BenchmarkLookupUnique is a keyword's document out of 1,000, read from its file.
func BenchmarkLookupUnique(b *testing.B) {
	w := newWorld(b)
	w.corpus(1000)
	w.start()
	for n := 0; b.Loop(); n++ {
		if a := w.quick(fmt.Sprintf("kw-%d", n%1000)); a.Primary == nil {
			b.Fatalf("no primary: %+v", a)
		}
	}
}

// BenchmarkStatus is what `status --wait` asks every 20 ms.
func BenchmarkStatus(b *testing.B) {
	w := newWorld(b)
	w.corpus(1000)
	w.start()
	for b.Loop() {
		w.status()
	}
}
