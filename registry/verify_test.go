package registry

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Verify says of every damage to a page that something is wrong, and leaves the file as it is.
func TestVerify(t *testing.T) {
	data, want := grown(t)
	dir := t.TempDir()
	if _, err := Verify(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	file := filepath.Join(dir, "registry.db")
	check := func(data []byte) (int, error) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := Verify(dir)
		if now, readErr := os.ReadFile(file); readErr != nil || !bytes.Equal(now, data) {
			t.Errorf("the file was changed: %v", readErr)
		}
		return n, err
	}
	if n, err := check(data); err != nil || n != len(want) {
		t.Errorf("%d documents, %v, want %d", n, err, len(want))
	}
	broken := bytes.Clone(data)
	for i := len(broken) / 4; i < len(broken)*3/4; i++ {
		broken[i] ^= 0x5a
	}
	if n, err := check(broken); err == nil {
		t.Errorf("damaged: %d documents and no error", n)
	}
	if _, err := check([]byte("not a file of ours")); err == nil {
		t.Error("another file: no error")
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, dir)
	if _, err := Verify(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
