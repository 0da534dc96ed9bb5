package vecfile

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// contents opens path and gives its records.
func contents(t *testing.T, path, header string) (*File, []string, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	var got []string
	f, err := Open(path, header, func(records func(func(Record) bool)) error {
		got = nil
		for r := range records {
			got = append(got, string(r.Payload))
		}
		return nil
	}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, got, &log
}

func appendAll(t *testing.T, f *File, payloads ...string) []int64 {
	t.Helper()
	var raw [][]byte
	for _, p := range payloads {
		raw = append(raw, []byte(p))
	}
	places, err := f.Append(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return places
}

func TestAppendAndReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "f")
	f, got, _ := contents(t, path, "h")
	if len(got) != 0 || f.Path() != path {
		t.Fatalf("a new file has %q", got)
	}
	places := appendAll(t, f, "one", "", "three")
	places = append(places, appendAll(t, f, "four")...)
	want := []string{"one", "", "three", "four"}
	for i, at := range places {
		if p, err := f.ReadAt(at); err != nil || string(p) != want[i] {
			t.Errorf("at %d: %q, %v", at, p, err)
		}
	}
	if _, err := f.ReadAt(places[1] + 1); err == nil {
		t.Error("a record is read from where none starts")
	}
	if _, err := f.ReadAt(f.Size()); err == nil {
		t.Error("a record is read from the end")
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != f.Size() || info.Mode().Perm() != 0o600 {
		t.Errorf("size %d, counted %d, mode %v, %v", info.Size(), f.Size(), info.Mode(), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, got, log := contents(t, path, "h"); !slices.Equal(got, want) || log.Len() > 0 {
		t.Errorf("%q, log: %s", got, log)
	}
}

// Whatever length a killed process leaves, the whole records before it are kept, and appending goes on.
func TestCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, _, _ := contents(t, path, "header")
	start := f.Size()
	appendAll(t, f, "one", "two", "three")
	f.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		f, got, log := contents(t, path, "header")
		aside, _ := filepath.Glob(path + ".broken-*")
		wantAside := 0
		if cut > 0 && cut < int(start) {
			wantAside = 1
		}
		if len(aside) != wantAside {
			t.Fatalf("cut at %d: set aside %v; log: %s", cut, aside, log)
		}
		for _, a := range aside {
			if b, _ := os.ReadFile(a); !bytes.Equal(b, whole[:cut]) {
				t.Errorf("cut at %d: what was set aside was changed", cut)
			}
			os.Remove(a)
		}
		all := []string{"one", "two", "three"}
		if !slices.Equal(got, all[:len(got)]) || cut == len(whole) && len(got) != 3 {
			t.Errorf("cut at %d: %q", cut, got)
		}
		appendAll(t, f, "more")
		f.Close()
		if _, again, log := contents(t, path, "header"); !slices.Equal(again, append(got, "more")) || log.Len() > 0 {
			t.Errorf("cut at %d: then %q, log: %s", cut, again, log)
		}
	}
}

func TestAnotherHeaderIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for i, header := range []string{"version 1", "version 2", "version 10", "version 1"} {
		f, got, log := contents(t, path, header)
		if len(got) != 0 || strings.Contains(log.String(), "level=WARN") != (i > 0) {
			t.Errorf("%s: %q, log: %s", header, got, log)
		}
		appendAll(t, f, "x")
		f.Close()
	}
	if aside, _ := filepath.Glob(path + ".broken-*"); len(aside) != 3 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestLoadMayRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, _, _ := contents(t, path, "h")
	appendAll(t, f, "good", "senseless", "good")
	f.Close()
	calls := 0
	load := func(records func(func(Record) bool)) error {
		calls++
		for r := range records {
			if string(r.Payload) == "senseless" {
				return errors.New("makes no sense")
			}
		}
		return nil
	}
	f, err := Open(path, "h", load, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if aside, _ := filepath.Glob(path + ".broken-*"); len(aside) != 1 || calls != 2 {
		t.Errorf("set aside %v, loaded %d times", aside, calls)
	}
	// A load that refuses even an empty file is an error and no loop.
	if _, err := Open(path, "other", func(func(func(Record) bool)) error { return errors.New("never") }, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("opened")
	}
}

func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, _, _ := contents(t, path, "h")
	appendAll(t, f, "one", "two", "three")
	before := f.Size()
	var at int64
	err := f.Rewrite(func(add func([]byte) (int64, error)) error {
		var err error
		at, err = add([]byte("two"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := f.ReadAt(at); err != nil || string(p) != "two" || f.Size() >= before {
		t.Errorf("%q, %v; %d bytes after %d", p, err, f.Size(), before)
	}
	appendAll(t, f, "four")
	if err := f.Rewrite(func(add func([]byte) (int64, error)) error {
		_, err := add([]byte("lost"))
		return errors.Join(err, errors.New("stopped"))
	}); err == nil {
		t.Error("a failed rewrite says nothing")
	}
	appendAll(t, f, "five")
	f.Close()
	// A process killed in the middle of a rewrite leaves a half of it.
	if err := os.WriteFile(path+newSuffix, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, got, log := contents(t, path, "h"); !slices.Equal(got, []string{"two", "four", "five"}) || log.Len() > 0 {
		t.Errorf("%q, log: %s", got, log)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
}

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, "h", nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder is opened: %v", err)
	}
	f, _, _ := contents(t, filepath.Join(dir, "f"), "h")
	places := appendAll(t, f, "x")
	f.Close()
	if _, err := f.Append([]byte("y")); err == nil {
		t.Error("a closed file takes records")
	}
	if _, err := f.ReadAt(places[0]); err == nil {
		t.Error("a closed file is read")
	}
	if err := f.Sync(); err == nil {
		t.Error("a closed file is synced")
	}
	if err := f.Close(); err == nil {
		t.Error("closed twice")
	}
}

// Any bytes after the header open: as records, cut off, or set aside, never as a panic or an error.
func FuzzOpen(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add(appendRecord(nil, []byte("one")), 0)
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0}, 3)
	f.Add(bytes.Repeat([]byte{0}, 100), tornBytes+5)
	f.Fuzz(func(t *testing.T, tail []byte, pad int) {
		path := filepath.Join(t.TempDir(), "f")
		head := (&File{header: "h"}).encodeHeader()
		data := slices.Concat(head, appendRecord(nil, []byte("first")), tail, make([]byte, max(0, min(pad, 2*tornBytes))))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, got, _ := contents(t, path, "h")
		aside, _ := filepath.Glob(path + ".broken-*")
		if len(aside) == 0 && (len(got) == 0 || got[0] != "first") {
			t.Fatalf("the sound first record is gone: %q", got)
		}
		appendAll(t, file, "last")
		file.Close()
		_, again, log := contents(t, path, "h")
		if len(again) != len(got)+1 || again[len(got)] != "last" || log.Len() > 0 {
			t.Fatalf("%d records, then %d; log: %s", len(got), len(again), log)
		}
	})
}

func BenchmarkAppend500(b *testing.B) {
	f, err := Open(filepath.Join(b.TempDir(), "f"), "h", func(func(func(Record) bool)) error { return nil }, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	batch := make([][]byte, 500)
	for i := range batch {
		batch[i] = fmt.Appendf(nil, "%0280d", i)
	}
	for b.Loop() {
		if _, err := f.Append(batch...); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}
