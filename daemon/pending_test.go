package daemon

import (
	"fmt"
	"io/fs"
	"sync"
	"testing"
)

// A file of the first scan is pending once, not with the watcher and with the pipeline.
func TestPendingCountsAPathOnce(t *testing.T) {
	const files = 40
	w := newWorld(t)
	for i := range files {
		w.save(fmt.Sprintf("%d.md", i), doc(fmt.Sprint("T", i), fmt.Sprint("kw", i)))
	}
	w.open()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	read := w.pipeline.read
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		once.Do(func() { close(begun) })
		<-goOn
		return read(abs, limit)
	}
	w.run()
	<-begun
	// The watcher may count the walk that found them for a moment.
	if n := w.status().Pending.L0; n < files || n > files+1 {
		t.Errorf("%d pending for %d files", n, files)
	}
	close(goOn)
	w.idle()
	if s := w.status(); s.Pending.L0 != 0 || s.Documents.Total != files {
		t.Errorf("%+v", s)
	}
}
