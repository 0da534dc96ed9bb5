package registry

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"knowledged/document"
)

// typical is a document of about 9 KB in 6 chunks, as those DESIGN.md was measured with.
func typical(i int) Change {
	c := sample(fmt.Sprintf("api/team-%02d/payment-errors-%05d.md", i%50, i), 1, 6)
	c.Record.Title = fmt.Sprintf("支付网关错误码定义 %d", i)
	c.Record.Warnings, c.Record.Aliases = nil, nil
	c.Record.Metadata, _ = json.Marshal(map[string]any{"title": c.Record.Title, "keywords": c.Record.Keywords, "summary": c.Record.Summary, "category": "api", "version": "2.1"})
	for j := range c.Chunks {
		c.Chunks[j].Text = strings.Repeat(fmt.Sprintf("超时类错误 %d %d retry after the gateway answers. ", i, j), 25)
	}
	return c
}

func fill(tb testing.TB, r *Registry, docs int) {
	tb.Helper()
	for start := 0; start < docs; start += 500 {
		var batch []Change
		for i := start; i < min(start+500, docs); i++ {
			batch = append(batch, typical(i))
		}
		mustApply(tb, r, batch...)
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// One saved document in a registry of 1,000, with its transaction.
func BenchmarkApply(b *testing.B) {
	r := mustOpen(b, b.TempDir())
	fill(b, r, 1000)
	c := typical(500)
	for b.Loop() {
		c.Record.ModTime++
		mustApply(b, r, c)
	}
}

func BenchmarkApplyBatch100(b *testing.B) {
	r := mustOpen(b, b.TempDir())
	batch := make([]Change, 100)
	n := 0
	for b.Loop() {
		for i := range batch {
			batch[i] = typical(n % 5000)
			n++
		}
		mustApply(b, r, batch...)
	}
}

func BenchmarkOpen10k(b *testing.B) {
	dir := b.TempDir()
	r := mustOpen(b, dir)
	fill(b, r, 10_000)
	r.Close()
	for b.Loop() {
		r, err := Open(dir, quiet())
		if err != nil || r.Len() != 10_000 {
			b.Fatal(err)
		}
		r.Close()
	}
}

// Memory10k tells the heap that 10,000 documents of 6 chunks take, and what Bytes says.
func BenchmarkMemory10k(b *testing.B) {
	dir := b.TempDir()
	r := mustOpen(b, dir)
	fill(b, r, 10_000)
	r.Close()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := Open(dir, quiet())
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc), "heap-B")
		b.ReportMetric(float64(r.Bytes()), "Bytes()-B")
		r.Close()
	}
}

func BenchmarkChunk(b *testing.B) {
	r := mustOpen(b, b.TempDir())
	fill(b, r, 1000)
	var ids []string
	for id := range r.ChunkIDs() {
		ids = append(ids, id)
	}
	i := 0
	var c document.Chunk
	for b.Loop() {
		c, _, _ = r.Chunk(ids[i*37%len(ids)])
		i++
	}
	_ = c
}

func BenchmarkOwner(b *testing.B) {
	r := mustOpen(b, b.TempDir())
	fill(b, r, 1000)
	id := r.All()[500].ChunkIDs()[3]
	for b.Loop() {
		if _, _, ok := r.Owner(id); !ok {
			b.Fatal("not found")
		}
	}
}
