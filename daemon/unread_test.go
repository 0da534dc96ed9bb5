package daemon

import (
	"context"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/ipc"
)

// closable is the folder whose files the system refuses to show while it is closed. Rights would not do: root may read
// everything.
type closable struct {
	folder
	part   string
	closed atomic.Bool
}

func (c *closable) Stat(path string) (fs.FileInfo, error) {
	if c.closed.Load() && strings.HasPrefix(path, c.part) {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: syscall.EACCES}
	}
	return c.folder.Stat(path)
}

// SPEC 4.1: what could not be read is read as soon as it can be, though no event and no time of the file tells.
func TestUnreadableFileIsReadLater_4_1(t *testing.T) {
	w := newWorld(t)
	w.cfg.Watch.PollInterval = config.Duration(50 * time.Millisecond)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.open()
	var closed atomic.Bool
	closed.Store(true)
	read := w.pipeline.read
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		if closed.Load() {
			return nil, nil, &fs.PathError{Op: "open", Path: abs, Err: syscall.EACCES}
		}
		return read(abs, limit)
	}
	w.run()
	w.idle()
	if rec := w.record("a.md"); rec.Status != ipc.StatusFailed || !strings.Contains(rec.ErrorMessage, "permission denied") {
		t.Errorf("record %+v", rec)
	}
	closed.Store(false)
	w.eventually("read", func() bool { return w.answers("kw-alpha", "a.md") })
	if n := len(w.log.lines("cannot be read")); n > 1 {
		t.Errorf("said %d times", n)
	}
}

// SPEC 4.1: documents of a folder that is closed for a while are neither gone nor forgotten, whoever asks for a look at
// them; new ones are found when it opens.
func TestClosedFolderKeepsItsDocuments_4_1(t *testing.T) {
	w := newWorld(t)
	w.cfg.Watch.PollInterval = config.Duration(50 * time.Millisecond)
	w.save("priv/a.md", doc("Alpha", "kw-alpha"))
	w.save("b.md", doc("Beta", "kw-beta"))
	w.open()
	gate := &closable{folder: w.pipeline.folder, part: "priv/"}
	w.pipeline.folder = gate
	w.run()
	w.idle()
	before := w.record("priv/a.md")
	gate.closed.Store(true)
	if _, err := w.Reconcile(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	if job, err := w.Reindex(context.Background(), before.DocID); err != nil || job.Documents.Failed != 1 || len(job.Problems) != 1 {
		t.Errorf("reindex %+v, %v", job, err)
	}
	w.save("priv/new.md", doc("New", "kw-new"))
	w.eventually("seen", func() bool { return w.has("priv/new.md") })
	if rec := w.record("priv/a.md"); rec.DocID != before.DocID || rec.Status != ipc.StatusIndexed || !w.answers("kw-alpha", "priv/a.md") {
		t.Errorf("record %+v", rec)
	}
	if rec := w.record("priv/new.md"); rec.Status != ipc.StatusFailed {
		t.Errorf("record %+v", rec)
	}
	gate.closed.Store(false)
	w.eventually("read", func() bool { return w.answers("kw-new", "priv/new.md") })
}
