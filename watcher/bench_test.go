package watcher

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
)

// BenchmarkWalk: from start to the first listing of 10,000 documents in 100 folders.
func BenchmarkWalk(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		put(b, root, fmt.Sprintf("d%02d/%05d.md", i%100, i), "x")
	}
	b.ReportAllocs()
	for b.Loop() {
		w, err := New(Config{Base: root}, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		out, done := make(chan Batch), make(chan struct{})
		go func() {
			defer close(done)
			_ = w.Run(ctx, out)
		}()
		if batch := <-out; len(batch.Paths) != 10_000 {
			b.Fatal(len(batch.Paths))
		}
		cancel()
		<-done
	}
}
