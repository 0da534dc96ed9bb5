package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"knowledged/l0"
	"knowledged/synonyms"
)

// thesaurus keeps L0's synonyms as the base folder's file says. Only the pipeline's goroutine uses it after the start.
type thesaurus struct {
	file string
	set  func([]l0.Synonym)
	log  *slog.Logger
	last []byte // what was read last; nil: there was no file
}

// refresh reads the file if it is not what it was. One that cannot be read leaves the words as they are; a broken entry
// costs itself alone.
func (t *thesaurus) refresh() {
	data, err := readSmall(t.file, synonyms.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if t.last != nil {
			t.last = nil
			t.set(nil)
			t.log.Info("synonyms are gone", "path", t.file)
		}
		return
	case err != nil:
		t.log.Warn("synonyms cannot be read; the last ones stay", "path", t.file, "err", err)
		return
	case t.last != nil && bytes.Equal(data, t.last):
		return
	}
	t.last = data
	pairs, problems, whole := synonyms.Parse(data)
	lost := 0
	var first synonyms.Problem
	for _, p := range problems {
		if p.Lost {
			if lost++; lost == 1 {
				first = p
			}
		}
	}
	if !whole {
		t.log.Warn("synonyms cannot be read; the last ones stay", "path", t.file, "line", first.Line, "err", first.Message)
		return
	}
	if lost > 0 {
		t.log.Warn("synonyms have entries that are left out; `knowledged lint` lists them", "path", t.file, "line", first.Line, "err", first.Message, "entries", lost)
	}
	list := make([]l0.Synonym, len(pairs))
	for i, p := range pairs {
		list[i] = l0.Synonym(p)
	}
	t.set(list)
	t.log.Info("synonyms read", "path", t.file, "pairs", len(list))
}

// readSmall reads a regular file, at most a byte more than limit. It is never nil without an error.
func readSmall(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", filepath.Base(file)) // opening a FIFO would block
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if data == nil {
		data = []byte{}
	}
	return data, err
}
