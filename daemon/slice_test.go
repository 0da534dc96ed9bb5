package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"knowledged/l0"
)

// batchL0 notes the largest batch.
type batchL0 struct {
	*l0.Index
	largest atomic.Int32
}

func (b *batchL0) Apply(batch l0.Batch) error {
	b.largest.Store(max(b.largest.Load(), int32(len(batch.Put))))
	return b.Index.Apply(batch)
}

// SPEC 8: however large the files are, no more of them than a slice are in memory at once; an upload waits for no more.
func TestSliceIsBoundedByBytes_8(t *testing.T) {
	const files = 40
	w := newWorld(t)
	for i := range files {
		w.save(fmt.Sprintf("%d.md", i), doc(fmt.Sprint("T", i), fmt.Sprint("kw", i))+strings.Repeat("x", 1000))
	}
	w.open()
	index := &batchL0{Index: w.l0}
	w.pipeline.l0, w.pipeline.slice = index, 3000
	w.run()
	w.idle()
	if n, most := int(index.largest.Load()), 3+runtime.GOMAXPROCS(0); n > most || w.registry.Len() != files {
		t.Errorf("%d documents written at once, want at most %d; %d in all", n, most, w.registry.Len())
	}
}

// A stop does not wait for the rest of a slice; the next start reads it.
func TestStopWithinASlice(t *testing.T) {
	const files = 100
	w := newWorld(t)
	for i := range files {
		w.save(fmt.Sprintf("%d.md", i), doc(fmt.Sprint("T", i), fmt.Sprint("kw", i)))
	}
	w.open()
	read := w.pipeline.read
	begun := make(chan struct{}, files)
	goOn := make(chan struct{})
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		begun <- struct{}{}
		<-goOn
		return read(abs, limit)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, nil) }()
	select {
	case <-begun:
	case <-time.After(patience):
		t.Fatal("nothing is read")
	}
	cancel()
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := w.reads.Load(); n > int64(runtime.GOMAXPROCS(0)) || w.registry.Len() != 0 {
		t.Errorf("%d files read, %d documents", n, w.registry.Len())
	}
	w.must(w.Close())
	if w.start(); w.registry.Len() != files {
		t.Errorf("%d documents after another start", w.registry.Len())
	}
}
