package watcher

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
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

// BenchmarkSave: from the end of a save to its batch, of which the quiet time is 30 ms.
func BenchmarkSave(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		put(b, root, fmt.Sprintf("d%02d/%05d.md", i%100, i), "x")
	}
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
	for settled := false; !settled; { // files this new come once more after the listing
		w.Done(<-out)
		settled = w.Status().Pending == 0
	}
	i := 0
	for b.Loop() {
		i++
		put(b, root, "d07/00007.md", fmt.Sprint(i))
		for seen := false; !seen; {
			batch := <-out
			seen = slices.Contains(batch.Paths, "d07/00007.md")
			w.Done(batch)
		}
	}
	cancel()
	<-done
}
