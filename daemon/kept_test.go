package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/text/unicode/norm"

	"knowledged/ipc"
)

// SPEC 5.1: a file far larger than a document may be is replaced, and put back if that fails, without being read into
// memory.
func TestUploadOverAHugeFile_5_1(t *testing.T) {
	const size = 200 << 20
	w := newWorld(t)
	f, err := os.Create(w.abs("big.md"))
	w.must(err)
	w.must(f.Truncate(size))
	w.must(f.Close())
	w.open()
	faulty := &faultyL0{Index: w.l0}
	w.pipeline.l0, w.pipeline.retry = faulty, 1
	w.run()
	w.idle()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := w.Put(context.Background(), ipc.PutRequest{FileName: "big.md", Body: []byte(doc("B", "kw-b")), IfMatch: ipc.Match{Given: true, Hashes: []string{"x"}}}); !errors.As(err, new(*ipc.StaleError)) {
		t.Errorf("If-Match: %v", err)
	}
	faulty.fail.Store(1)
	if _, _, err := w.put("", "big.md", doc("B", "kw-b")); err == nil {
		t.Error("no fault")
	}
	if info, err := os.Stat(w.abs("big.md")); err != nil || info.Size() != size {
		t.Errorf("not put back: %v, %v", info, err)
	}
	w.idle()
	if rec := w.mustPut("", "big.md", doc("B", "kw-b")); rec.Title != "B" {
		t.Errorf("record %+v", rec)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size {
		t.Errorf("%d MB allocated", n>>20)
	}
	if files := w.files(); !slices.Equal(files, []string{"big.md"}) {
		t.Errorf("files %q", files)
	}
	if _, err := os.Stat(w.pipeline.intent.file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note stays: %v", err)
	}
}

// SPEC 1.4: composed and decomposed spellings of a name are one, of folders too.
func TestUploadUnderAnotherSpelling_1_4(t *testing.T) {
	composed, decomposed := norm.NFC.String("é"), norm.NFD.String("é")
	w := newWorld(t)
	w.save(decomposed+"/"+decomposed+".md", doc("Alpha", "kw-alpha"))
	w.start()
	if _, created, err := w.put(composed, composed+".md", doc("Beta", "kw-beta")); created || err != nil {
		t.Errorf("created %t, %v", created, err)
	}
	w.mustPut(composed, "new.md", doc("New", "kw-new"))
	w.settle()
	if got, want := w.paths(), []string{decomposed + "/" + decomposed + ".md", decomposed + "/new.md"}; !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
}

// A document below a link that is followed is not deleted through it; the caller learns why.
func TestDeleteBelowALink(t *testing.T) {
	w := newWorld(t)
	w.cfg.Watch.FollowSymlinks = true
	outside := t.TempDir()
	w.must(os.WriteFile(filepath.Join(outside, "a.md"), []byte(doc("Alpha", "kw-alpha")), 0o644))
	w.must(os.Symlink(outside, w.abs("linked")))
	w.start()
	var invalid *ipc.InvalidError
	if _, err := w.Delete(context.Background(), w.record("linked/a.md").DocID, ipc.Match{}); !errors.As(err, &invalid) || invalid.Field != "docId" {
		t.Errorf("delete: %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "a.md")); err != nil || !w.has("linked/a.md") {
		t.Errorf("documents %q, %v", w.paths(), err)
	}
}
