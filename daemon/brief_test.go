package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"testing"
)

// SPEC 7.1: an upload that comes between two slices of the first scan is logged as any upload, under its own requestId;
// what was going on keeps its own.
func TestUploadDuringFirstScan_7_1(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		w.save(fmt.Sprintf("%d.md", i), doc(fmt.Sprint("T", i), fmt.Sprint("kw", i))+fmt.Sprintf("%1000d", i))
	}
	w.open()
	w.pipeline.slice = 1
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	read := w.pipeline.read
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		once.Do(func() { close(begun); <-goOn })
		return read(abs, limit)
	}
	w.run()
	<-begun
	queued := w.pipeline.queued.Load()
	answered := make(chan error, 1)
	go func() { _, _, err := w.put("up", "new.md", doc("New", "kw-new")); answered <- err }()
	w.eventually("queued", func() bool { return w.pipeline.queued.Load() > queued })
	close(goOn)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if w.Ready() {
		t.Error("the upload waited for the whole scan")
	}
	w.idle()
	for _, line := range w.log.lines("document indexed") {
		if want := map[bool]string{true: "INFO", false: "DEBUG"}[line["path"] == "up/new.md"]; line["level"] != want {
			t.Errorf("%v at %v", line["path"], line["level"])
		}
	}
	ok := w.pipeline.do(context.Background(), func() {
		w.pipeline.request, w.pipeline.brief = "outer", true
		w.pipeline.runJob(job{request: "inner", run: func() {
			if w.pipeline.request != "inner" || w.pipeline.brief {
				t.Error("runs as part of another")
			}
		}, done: make(chan struct{})})
		if w.pipeline.request != "outer" || !w.pipeline.brief {
			t.Error("the outer one's is lost")
		}
		w.pipeline.queued.Add(1) // which runJob counted down
	})
	if !ok {
		t.Error("did not run")
	}
}
