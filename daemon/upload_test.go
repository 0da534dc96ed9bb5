package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"knowledged/ipc"
)

func (w *world) put(category, name, body string) (ipc.Record, bool, error) {
	return w.Put(context.Background(), ipc.PutRequest{Category: category, FileName: name, Body: []byte(body)})
}

func (w *world) mustPut(category, name, body string) ipc.Record {
	w.t.Helper()
	rec, _, err := w.put(category, name, body)
	if err != nil {
		w.t.Fatalf("upload %s/%s: %v", category, name, err)
	}
	return rec
}

func (w *world) read(path string) string {
	data, err := os.ReadFile(w.abs(path))
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return string(data)
}

// files are all files and folders below the base.
func (w *world) files() (all []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.base, func(path string, _ os.DirEntry, err error) error {
		if err == nil && path != w.base {
			all = append(all, strings.TrimPrefix(path, w.base+"/"))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// SPEC 5.1: saved byte for byte, folders made, indexed once when the answer comes; the rules of doing it again.
func TestUpload_5_1(t *testing.T) {
	w := newWorld(t).start()
	text := "\ufeff" + strings.ReplaceAll(doc("Alpha", "kw-alpha"), "\n", "\r\n")
	rec, created, err := w.Put(context.Background(), ipc.PutRequest{Category: "api/new", FileName: "a.md", Body: []byte(text), WaitL1: true})
	if err != nil || !created || rec.Source != "kb/api/new/a.md" || rec.Status != ipc.StatusIndexed || !rec.InL0 || !rec.InL1 {
		t.Fatalf("record %+v, created %t, %v", rec, created, err)
	}
	if w.read("api/new/a.md") != text || !w.answers("kw-alpha", "api/new/a.md") {
		t.Error("not saved byte for byte, or not searchable")
	}
	w.settle()
	if n := w.status().Updates; n != 1+settleUpdates {
		t.Errorf("%d updates: the watcher indexed it again", n)
	}
	id := rec.DocID
	n := w.updatesOf(func() {
		if rec, created, err := w.put("api/new", "a.md", text); err != nil || created || rec.DocID != id {
			t.Errorf("the same again: %+v, %t, %v", rec, created, err)
		}
	})
	if n != 0 {
		t.Errorf("the same bytes made %d updates", n)
	}
	var exists *ipc.ExistsError
	if _, _, err := w.put("ops", "copy.md", text); !errors.As(err, &exists) || exists.Record.DocID != id {
		t.Errorf("the same bytes elsewhere: %v", err)
	}
	rec, created, err = w.Put(context.Background(), ipc.PutRequest{Category: "ops", FileName: "copy.md", Body: []byte(text), Force: true})
	if err != nil || !created || rec.DocID == id {
		t.Errorf("forced: %+v, %t, %v", rec, created, err)
	}
	if again, created, err := w.put("ops", "copy.md", text); err != nil || created || again.DocID != rec.DocID {
		t.Errorf("the same at the same place, with a twin: %+v, %t, %v", again, created, err)
	}
	other := doc("Beta", "kw-beta")
	rec, created, err = w.put("api/new", "a.md", other)
	if err != nil || created || rec.DocID != id || !w.answers("kw-beta", "api/new/a.md") || w.read("api/new/a.md") != other {
		t.Errorf("replaced: %+v, %t, %v", rec, created, err)
	}
	if rec := w.mustPut("", "top.md", doc("Top", "kw-top")); rec.Source != "kb/top.md" || rec.Category != "" {
		t.Errorf("without a category: %+v", rec)
	}
}

// SPEC 5.1: no edit is lost.
func TestUploadMatch_5_1(t *testing.T) {
	w := newWorld(t).start()
	first := w.mustPut("", "a.md", doc("One", "kw-one"))
	put := func(body string, match, none ipc.Match) error {
		_, _, err := w.Put(context.Background(), ipc.PutRequest{FileName: "a.md", Body: []byte(body), IfMatch: match, IfNoneMatch: none})
		return err
	}
	hash := func(h string) ipc.Match { return ipc.Match{Given: true, Hashes: []string{h}} }
	any := ipc.Match{Given: true, Any: true}
	if err := put(doc("Two", "kw-two"), hash(first.FileHash), ipc.Match{}); err != nil {
		t.Fatal(err)
	}
	var stale *ipc.StaleError
	if err := put(doc("Three", "kw-three"), hash(first.FileHash), ipc.Match{}); !errors.As(err, &stale) || stale.Hash != w.record("a.md").FileHash {
		t.Errorf("a stale If-Match: %v", err)
	}
	// An edit that the watcher has not seen yet counts as well: what is on disk is compared.
	known := w.record("a.md").FileHash
	w.save("a.md", doc("Edited", "kw-edited"))
	if err := put(doc("Three", "kw-three"), hash(known), ipc.Match{}); !errors.As(err, &stale) {
		t.Errorf("an edit on disk: %v", err)
	}
	if w.read("a.md") != doc("Edited", "kw-edited") {
		t.Error("the edit is lost")
	}
	if err := put(doc("Three", "kw-three"), ipc.Match{}, any); !errors.As(err, &stale) {
		t.Errorf("If-None-Match *, and there is one: %v", err)
	}
	if err := put(doc("Three", "kw-three"), any, ipc.Match{}); err != nil {
		t.Errorf("If-Match *: %v", err)
	}
	rec := w.record("a.md")
	if _, err := w.Delete(context.Background(), rec.DocID, hash(first.FileHash)); !errors.As(err, &stale) {
		t.Errorf("stale delete: %v", err)
	}
}

// SPEC 5.1, 5.2: what would not become a document is refused, and nothing is written.
func TestUploadRefused_5_2(t *testing.T) {
	w := newWorld(t)
	w.cfg.Knowledge.MaxFileSize = 2000
	w.save(".gitignore", "drafts/\nsecret-*\n")
	w.save("file.md", doc("File", "kw-file"))
	if err := os.Mkdir(w.abs("folder.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, w.abs("linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside+"/x.md", w.abs("link.md")); err != nil {
		t.Fatal(err)
	}
	w.start()
	before := w.files()
	cases := []struct{ category, name, body, field string }{
		{"drafts", "a.md", "text", "category"},
		{"drafts/deep", "a.md", "text", "category"},
		{"", "secret-a.md", "text", "fileName"},
		{"", ".hidden.md", "text", "fileName"},
		{"", "a.txt", "text", "fileName"},
		{"", "a.md~", "text", "fileName"},
		{"linked", "a.md", "text", "category"},
		{"linked/deep", "a.md", "text", "category"},
		{"", "link.md", "text", "fileName"},
		{"file.md", "a.md", "text", "category"},
		{"", "folder.md", "text", "fileName"},
		{"", "empty.md", "", "body"},
		{"", "binary.md", "\x00\x01\xff\x00", "body"},
	}
	for _, c := range cases {
		var invalid *ipc.InvalidError
		if _, _, err := w.put(c.category, c.name, c.body); !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("%s/%s: %v, want one of %s", c.category, c.name, err, c.field)
		}
	}
	if _, _, err := w.put("", "large.md", strings.Repeat("x", 3000)); !errors.Is(err, ipc.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if after := w.files(); !slices.Equal(before, after) {
		t.Errorf("files %q, before %q", after, before)
	}
	if there, _ := os.ReadDir(outside); len(there) != 0 {
		t.Errorf("%q was written outside", there)
	}
}

// SPEC 5.2: file, record, L0 entry and vectors go; the same upload later is a new document.
func TestDelete_5_2(t *testing.T) {
	w := newWorld(t).start()
	rec := w.mustPut("api", "a.md", doc("Alpha", "kw-alpha"))
	w.idle()
	done, err := w.Delete(context.Background(), rec.DocID, ipc.Match{Given: true, Hashes: []string{rec.FileHash}})
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if _, err := os.Stat(w.abs("api/a.md")); err == nil || w.has("api/a.md") || w.known("kw-alpha") || w.inL0() != 0 || w.l1.Status().Chunks != 0 {
		t.Errorf("files %q, %d chunks, %d vectors", w.files(), w.inL0(), w.l1.Status().Chunks)
	}
	if _, err := w.Delete(context.Background(), rec.DocID, ipc.Match{}); !errors.Is(err, ipc.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	if again := w.mustPut("api", "a.md", doc("Alpha", "kw-alpha")); again.DocID == rec.DocID {
		t.Error("the deleted document's docId came back")
	}
	// One whose file somebody removed a moment ago.
	rec = w.record("api/a.md")
	w.delete("api/a.md")
	if _, err := w.Delete(context.Background(), rec.DocID, ipc.Match{}); err != nil && !errors.Is(err, ipc.ErrNotFound) {
		t.Error(err)
	}
	w.settle()
	if n := w.status().Documents.Total; n != 0 {
		t.Errorf("%d documents", n)
	}
}

// Without its folder nothing is written, there or elsewhere, nothing is deleted, and the answer names the folder: SPEC 5.2.
func TestWritesWithoutFolder_5_2(t *testing.T) {
	for name, take := range map[string]func(w *world){
		"gone":                 func(w *world) {},
		"a file has its place": func(w *world) { w.must(os.WriteFile(w.base, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).start()
			rec := w.mustPut("api", "a.md", doc("Alpha", "kw-alpha"))
			w.idle()
			w.must(os.Rename(w.base, w.base+".away"))
			take(w)
			missing := func(what string, err error) {
				t.Helper()
				if m, ok := errors.AsType[*ipc.MissingError](err); !ok || m.Path != w.base {
					t.Errorf("%s: %v", what, err)
				}
			}
			ctx := context.Background()
			for _, put := range []ipc.PutRequest{{Category: "api", FileName: "b.md"}, {FileName: "b.md"}, {Category: "api", FileName: "a.md", Force: true}} {
				put.Body = []byte(doc("Beta", "kw-beta"))
				_, _, err := w.Put(ctx, put)
				missing("put", err)
			}
			_, err := w.Delete(ctx, rec.DocID, ipc.Match{})
			missing("delete", err)
			_, err = w.Reindex(ctx, rec.DocID)
			missing("reindex", err)
			w.eventually("missing", func() bool { return w.watcher.BaseMissing() })
			w.must(os.RemoveAll(w.base)) // the file, where there is one
			w.must(os.Rename(w.base+".away", w.base))
			w.settle()
			if again := w.record("api/a.md"); again.DocID != rec.DocID || len(w.files()) != 2 {
				t.Errorf("docId %s after %s, files %q", again.DocID, rec.DocID, w.files())
			}
		})
	}
}

// A call after the daemon has stopped ends; it doesn't wait for a writer that is no more.
func TestWritesAfterStop(t *testing.T) {
	w := newWorld(t).start()
	w.halt()
	if _, _, err := w.put("", "a.md", "text"); !errors.Is(err, ipc.ErrUnavailable) {
		t.Errorf("upload: %v", err)
	}
	if _, err := w.Delete(context.Background(), "x", ipc.Match{}); !errors.Is(err, ipc.ErrUnavailable) {
		t.Errorf("delete: %v", err)
	}
	if _, err := w.Reindex(context.Background(), "x"); !errors.Is(err, ipc.ErrUnavailable) {
		t.Errorf("reindex: %v", err)
	}
	for _, dry := range []bool{false, true} {
		if _, err := w.Reconcile(context.Background(), dry); !errors.Is(err, ipc.ErrUnavailable) {
			t.Errorf("reconcile: %v", err)
		}
	}
}

// Uploads, saves, deletions and lookups at once: each write is there when it was answered, and in the end index and folder
// agree.
func TestEverythingAtOnce(t *testing.T) {
	w := newWorld(t).start()
	var g sync.WaitGroup
	for worker := range 3 {
		g.Go(func() {
			for i := range 15 {
				kw := fmt.Sprintf("kw-up%dx%d", worker, i)
				rec, _, err := w.put(fmt.Sprintf("up%d", worker), fmt.Sprintf("%d.md", i), doc("Up "+kw, kw))
				if err != nil {
					t.Errorf("upload: %v", err)
					return
				}
				a, err := w.Lookup(context.Background(), lookupRequest(kw))
				if err != nil || a.Primary == nil || a.Primary.DocID != rec.DocID {
					t.Errorf("%s was answered and is not found: %v", kw, err)
				}
				if i%3 == 0 {
					if _, err := w.Delete(context.Background(), rec.DocID, ipc.Match{}); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
			}
		})
	}
	for i := range 40 {
		w.save(fmt.Sprintf("saved/%d.md", i%9), doc(fmt.Sprintf("Saved %d", i), fmt.Sprintf("kw-saved%d", i)))
		w.status()
		w.ask("Saved")
	}
	g.Wait()
	w.settle()
	if n := len(w.paths()); n != 3*10+9 {
		t.Errorf("%d documents", n)
	}
	chunks := 0
	for _, path := range w.paths() {
		chunks += len(w.chunkIDs(path))
	}
	if w.inL0() != chunks || w.l1.Status().Chunks != chunks {
		t.Errorf("%d chunks in L0, %d in L1, want %d", w.inL0(), w.l1.Status().Chunks, chunks)
	}
}
