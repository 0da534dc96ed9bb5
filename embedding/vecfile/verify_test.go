package vecfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.vec")
	f, _, _ := contents(t, path, "h")
	long := strings.Repeat("x", tornBytes)
	appendAll(t, f, "one", long, long)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 1
		return data
	}
	for name, c := range map[string]struct {
		data    []byte
		records int
		damaged bool
	}{
		"whole":               {whole, 3, false},
		"unfinished end":      {whole[:len(whole)-10], 2, false}, // what kill -9 leaves
		"magic":               {flipped(0), 0, true},
		"header":              {flipped(12), 0, true},
		"record":              {flipped(13 + headBytes), 0, true},
		"shorter than a head": {whole[:5], 0, true},
	} {
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := Verify(path)
		if n != c.records || (err != nil) != c.damaged {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, c.data) {
			t.Errorf("%s: the file was changed: %v", name, err)
		}
	}
	if _, err := Verify(path + ".none"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
