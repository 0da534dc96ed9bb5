package l0

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
)

// fill makes an index of several segments on disk and returns its folder.
func fill(t *testing.T) (dir string, total int) {
	dir = t.TempDir()
	x := openIndex(t, dir)
	for i := range 6 {
		apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), strings.Repeat("缓存穿透 timeout ", 50))}})
		if i%2 == 1 { // a segment of its own
			x.writing.Lock()
			x.flush()
			x.writing.Unlock()
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, 6
}

// A disk that is full, a used up share of it or one that is read-only says nothing of the files: they stay where they are.
func TestFaultsOfTheDiskAreNoDamage(t *testing.T) {
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, errors.New("persist: " + syscall.EDQUOT.Error())} {
		if !blameless(of) {
			t.Errorf("%v", of)
		}
	}
	if blameless(syscall.EIO) {
		t.Error("what cannot be read is made anew")
	}
}

// SPEC 2.10: a broken index on disk is set aside and rebuilt, not fatal.
func TestOpen_2_10_Damage(t *testing.T) {
	segment := func(dir string) string { // one in use; others may wait for removal
		db, err := bbolt.Open(filepath.Join(dir, indexVersion, "root.bolt"), 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var files []string
		err = db.View(func(tx *bbolt.Tx) (err error) {
			files, err = segmentFiles(tx)
			return err
		})
		if err != nil || len(files) == 0 {
			t.Fatalf("segments %v: %v", files, err)
		}
		return filepath.Join(dir, indexVersion, files[0])
	}
	bolt := func(dir string) string { return filepath.Join(dir, indexVersion, "root.bolt") }
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damages := map[string]func(dir string){
		"segment removed":   func(dir string) { os.Remove(segment(dir)) },
		"segment truncated": func(dir string) { os.Truncate(segment(dir), 200) },
		"segment empty":     func(dir string) { os.Truncate(segment(dir), 0) },
		"segment garbage":   func(dir string) { write(segment(dir), []byte(strings.Repeat("garbage!", 500))) },
		"segment bit flipped": func(dir string) {
			data, _ := os.ReadFile(segment(dir))
			data[len(data)/2] ^= 1
			write(segment(dir), data)
		},
		"root.bolt removed":   func(dir string) { os.Remove(bolt(dir)) },
		"root.bolt truncated": func(dir string) { os.Truncate(bolt(dir), 5000) },
		"root.bolt empty":     func(dir string) { os.Truncate(bolt(dir), 0) },
		"root.bolt garbage":   func(dir string) { write(bolt(dir), []byte(strings.Repeat("garbage!", 8192))) },
		"root.bolt zeros in the middle": func(dir string) {
			data, _ := os.ReadFile(bolt(dir))
			clear(data[8192:])
			write(bolt(dir), data)
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir, total := fill(t)
			damage(dir)
			var log strings.Builder
			x, err := Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if name != "root.bolt empty" { // which is how bleve begins; IDs tell
				if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "rebuilding") {
					t.Errorf("want one WARN that names the remedy:\n%s", &log)
				}
				if aside, _ := filepath.Glob(filepath.Join(dir, indexVersion+".broken-*")); len(aside) != 1 {
					t.Errorf("set aside: %v", aside)
				}
			}
			if got := ids(t, x); len(got) != 0 {
				t.Errorf("a broken index must start empty, has %v", got)
			}
			for i := range total { // the rebuilding that the caller does
				apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
			}
			if got := search(t, x, "缓存"); len(got) != total {
				t.Errorf("after rebuilding: %v", got)
			}
		})
	}
}

// What reading walks through may all be there in a file that was cut: it is set aside even so, since the first write would
// break on what is missing.
func TestOpen_2_10_CutBehindWhatIsRead(t *testing.T) {
	for pages := 2; ; pages++ {
		dir, _ := fill(t)
		path := filepath.Join(dir, indexVersion, "root.bolt")
		used := boltSize(t, path)
		cut := int64(pages * os.Getpagesize())
		if cut >= used {
			if pages < 6 {
				t.Fatalf("root.bolt uses %d bytes: nothing to cut", used)
			}
			break
		}
		if err := os.Truncate(path, cut); err != nil {
			t.Fatal(err)
		}
		x, err := Open(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(t, x); len(got) != 0 {
			t.Errorf("cut at %d of %d: it was not set aside: %v", cut, used, got)
		}
		x.Close()
	}
}

// boltSize is up to where a file's pages are in use.
func boltSize(t *testing.T, path string) (size int64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil }); err != nil {
		t.Fatal(err)
	}
	return size
}

// A crash leaves the files of some moment: what is missing then is told by IDs, what is there is right.
func TestOpen_AfterCrash(t *testing.T) {
	dir := t.TempDir()
	x := openIndex(t, dir)
	for i := range 30 {
		apply(t, x, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
	}
	crashed := t.TempDir()
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	y := openIndex(t, crashed)
	there := ids(t, y)
	if got := len(search(t, y, "缓存")); got != len(there) {
		t.Errorf("finds %d of %d chunks", got, len(there))
	}
	for i := range 30 {
		apply(t, y, Batch{Put: []Put{passage(fmt.Sprint("c", i), "缓存穿透")}})
	}
	if got := len(search(t, y, "缓存")); got != 30 {
		t.Errorf("after putting all again: %d", got)
	}
}

func TestOpen_InUseIsNotDamage(t *testing.T) {
	dir := t.TempDir()
	x := openIndex(t, dir)
	apply(t, x, Batch{Put: []Put{passage("a", "text")}})
	if y, err := Open(dir, slog.New(slog.DiscardHandler)); err == nil {
		y.Close()
		t.Fatal("opened twice")
	}
	if got := search(t, x, "text"); len(got) != 1 {
		t.Errorf("the first lost its content: %v", got)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*.broken-*")); len(aside) != 0 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestOpen_RemovesOldVersions(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"v0", "v99", "v0.broken-20250101T000000.000", "v1.broken-20250102T000000.000", "mine", "v99x"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	openIndex(t, dir)
	entries, _ := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"mine", "v1.broken-20250102T000000.000", indexVersion, "v99x"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestOpen_NoPermissionIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if x, err := Open(dir, slog.New(slog.DiscardHandler)); err == nil {
		x.Close()
		t.Error("opened below a file")
	} else if !strings.Contains(err.Error(), dir) {
		t.Errorf("error does not name the folder: %v", err)
	}
}

// A segment that loses its content under a running daemon must cost an answer, not the process.
func TestSearch_FaultInMappedFile(t *testing.T) {
	dir, _ := fill(t)
	x := openIndex(t, dir)
	found, _ := filepath.Glob(filepath.Join(dir, indexVersion, "*.zap"))
	for _, path := range found {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Search(context.Background(), "缓存", SearchOptions{K: 5}); err == nil {
		t.Error("search of a vanished file gave no error")
	}
	if got := x.Match("缓存"); got == nil {
		t.Error("the exact table must go on")
	}
}

// Verify finds what Open would set aside, and changes nothing.
func TestVerify_2_10(t *testing.T) {
	dir, _ := fill(t)
	if err := Verify(dir); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.TempDir()); err != nil {
		t.Errorf("nothing there: %v", err)
	}
	if x := openIndex(t, dir); x.SetAside() {
		t.Error("a whole index was set aside")
	} else if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, indexVersion, "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if err := os.Truncate(file, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := Verify(dir); err == nil {
		t.Error("cut files are whole")
	}
	x := openIndex(t, dir)
	defer x.Close()
	if !x.SetAside() {
		t.Error("a damaged index was not set aside")
	}
}
