package embedding

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// dimensions is the length of a model's vectors: set, or learned from the first answer and then kept in a file, so that the
// stored vectors can be opened while the server is down.
type dimensions struct {
	file  string // empty for none
	model string // key in the file
	set   bool   // by the configuration, and so neither learned nor kept
	log   *slog.Logger

	mu    sync.Mutex // guards below, and the file
	n     int        // 0 if unknown
	saved bool
}

// dimensionsError is a vector of another length than the model's others.
type dimensionsError struct {
	got, want int
	set       bool
}

func (e *dimensionsError) Error() string {
	if e.set {
		return fmt.Sprintf("vector has %d dimensions, and embedding.openai.dimensions says %d", e.got, e.want)
	}
	return fmt.Sprintf("vector has %d dimensions, and those of this model had %d; if the model was changed, restart knowledged to embed all anew", e.got, e.want)
}

func openDimensions(file, model string, set int, log *slog.Logger) *dimensions {
	d := &dimensions{file: file, model: model, set: set > 0, n: set, log: log}
	if !d.set {
		known, err := d.read()
		if err != nil {
			log.Info("dimensions of embedding models not read, they will be learned anew", "path", file, "err", err)
		}
		d.n = max(known[model], 0)
		d.saved = d.n > 0
	}
	return d
}

func (d *dimensions) get() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// learn gives the length that vectors must have. If that is not known yet, it is that of the first valid one, which is the
// only one: as long as the length is unknown, calls have one text.
func (d *dimensions) learn(vectors [][]float32) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range vectors {
		if d.n == 0 && Check(v, len(v)) == nil {
			d.n = len(v)
		}
		if len(v) == d.n && !d.saved && !d.set && d.n > 0 {
			d.saved = true // even if not: a full disk is said once
			if err := d.write(func(known map[string]int) { known[d.model] = d.n }); err != nil {
				d.log.Warn("dimensions of the embedding model not kept", "path", d.file, "err", err)
			}
		}
	}
	return d.n
}

func (d *dimensions) check(got, want int) error {
	if got != want {
		return &dimensionsError{got: got, want: want, set: d.set}
	}
	return nil
}

// heed forgets what was kept if err says that it is not true any more: this process goes on with the vectors it has, the
// next one learns anew.
func (d *dimensions) heed(err error) {
	var other *dimensionsError
	if !errors.As(err, &other) || d.set {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.saved {
		return
	}
	d.saved = false
	if err := d.write(func(known map[string]int) { delete(known, d.model) }); err != nil {
		d.log.Warn("dimensions of the embedding model not forgotten, remove the file to have them learned anew", "path", d.file, "err", err)
	}
}

// DimensionsFormat is the version of the file's form. Of a later one, package state refuses the folder before it is read here.
const DimensionsFormat = 1

// dimensionsFile is the file; before it had a version, it was Models alone.
type dimensionsFile struct {
	Format int            `json:"format"`
	Models map[string]int `json:"models"`
}

// read gives the lengths by model; none if the file is not there.
func (d *dimensions) read() (map[string]int, error) {
	known := make(map[string]int)
	if d.file == "" {
		return known, nil
	}
	data, err := os.ReadFile(d.file)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return known, err
	}
	var file dimensionsFile
	if err := json.Unmarshal(data, &file); err == nil && file.Models != nil {
		return file.Models, nil
	}
	err = json.Unmarshal(data, &known)
	if err != nil || known == nil {
		known = make(map[string]int)
	}
	return known, err
}

// write changes the file, whole or not at all. What could not be read is given up.
func (d *dimensions) write(change func(map[string]int)) error {
	if d.file == "" {
		return nil
	}
	before, readErr := d.read()
	known := maps.Clone(before)
	change(known)
	if readErr == nil && maps.Equal(known, before) {
		return nil
	}
	data, err := json.Marshal(dimensionsFile{Format: DimensionsFormat, Models: known})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(d.file), 0o700); err != nil {
		return err
	}
	const newSuffix = ".new"
	if err := os.WriteFile(d.file+newSuffix, data, 0o600); err != nil {
		return err
	}
	return os.Rename(d.file+newSuffix, d.file)
}
