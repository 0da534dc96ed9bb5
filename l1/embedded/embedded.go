package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"knowledged/embedding"
	"knowledged/embedding/vecfile"
	"knowledged/l1"
)

// Format is the version of the records; files of an older one are set aside.
const Format = 1

const suffix = ".vec"

// Store is the index of one model's vectors.
type Store struct {
	dims int
	log  *slog.Logger

	writing sync.Mutex // held by the one writer; guards file and live
	file    *vecfile.File
	live    int64 // bytes of the file that records of present rows take
	closed  bool

	mu    sync.RWMutex // guards table; a writer of it holds writing too
	table *table
}

// Open opens the index of a model in dir, or makes an empty one. A damaged file is set aside with a WARN. Several models'
// files may lie side by side; Retire removes the others.
func Open(dir, model string, dims int, log *slog.Logger) (*Store, error) {
	if dims < 1 {
		return nil, fmt.Errorf("open vectors of %s: %d dimensions", model, dims)
	}
	s := &Store{dims: dims, log: log}
	path := filepath.Join(dir, fileName(model, dims))
	header := fmt.Sprintf("knowledged vectors %d, %d dimensions, %s", Format, dims, model)
	f, err := vecfile.Open(path, header, s.load, log)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	s.file = f
	s.recentre()
	return s, nil
}

// fileName keeps models apart by name and dimensions; characters that a file name cannot hold are written as hex.
func fileName(model string, dims int) string {
	var b strings.Builder
	for i := range len(model) {
		c := model[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	name := b.String()
	const longest = 120
	if len(name) > longest { // the header still tells such models apart
		name = name[:longest]
	}
	return fmt.Sprintf("%s-%d%s", name, dims, suffix)
}

func (s *Store) load(records func(func(vecfile.Record) bool)) error {
	s.table, s.live = newTable(s.dims), 0
	code := make([]int8, s.dims)
	for r := range records {
		op, id, category, err := decode(r.Payload, code)
		if err != nil {
			return fmt.Errorf("at byte %d: %w", r.At, err)
		}
		s.live -= s.table.recordSize(id)
		if op == opDelete {
			s.table.remove(id)
			continue
		}
		s.table.put(id, category, code)
		s.live += vecfile.RecordSize(len(r.Payload))
	}
	return nil
}

// Upsert adds or replaces rows: on disk first, then in memory.
func (s *Store) Upsert(ctx context.Context, rows []l1.Row) error {
	for i := range rows {
		if err := embedding.Check(rows[i].Vector, s.dims); err != nil {
			return fmt.Errorf("store vector of %s: %w", rows[i].ID, err)
		}
	}
	codes := make([]int8, len(rows)*s.dims)
	records := make([][]byte, len(rows))
	for i := range rows {
		code := codes[i*s.dims : (i+1)*s.dims]
		quantize(code, rows[i].Vector)
		records[i] = appendPut(nil, rows[i].ID, rows[i].Category, code)
	}
	return s.write(ctx, records, func(t *table) {
		for i := range rows {
			s.live -= t.recordSize(rows[i].ID)
			t.put(rows[i].ID, rows[i].Category, codes[i*s.dims:(i+1)*s.dims])
			s.live += vecfile.RecordSize(len(records[i]))
		}
	})
}

// Delete removes rows and notes it in the file.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	s.mu.RLock()
	known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := s.table.rowOf[id]; return !ok })
	s.mu.RUnlock()
	records := make([][]byte, len(known))
	for i, id := range known {
		records[i] = appendOp(nil, opDelete, id)
	}
	return s.write(ctx, records, func(t *table) {
		for _, id := range known {
			s.live -= t.recordSize(id)
			t.remove(id)
		}
	})
}

// write appends records, waits for the disk once, and applies them to the table.
func (s *Store) write(ctx context.Context, records [][]byte, apply func(*table)) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return errors.New("store vectors: closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := s.file.Append(records...); err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	if err := s.file.Sync(); err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	s.mu.Lock()
	apply(s.table)
	s.mu.Unlock()
	s.recentre()
	if s.file.Size() > minCompact && s.live < s.file.Size()/2 {
		if err := s.compact(); err != nil {
			s.log.Warn("vectors not compacted, the file keeps growing", "path", s.file.Path(), "err", err)
		}
	}
	return nil
}

// minCompact is the file size below which dead records are not worth a rewrite.
const minCompact = 1 << 20

// compact rewrites the file with the present rows alone. It needs writing; searches go on.
func (s *Store) compact() error {
	t := s.table
	var live int64
	err := s.file.Rewrite(func(add func([]byte) (int64, error)) error {
		var buf []byte
		for row := range t.n {
			b, i := t.at(row)
			buf = appendPut(buf[:0], b.ids[i], t.cats[b.cats[i]], b.code(i, t.dims))
			live += vecfile.RecordSize(len(buf))
			if _, err := add(buf); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.live = live
	}
	return err
}

// recordSize is what the record of a present row takes in the file, 0 if there is no such row.
func (t *table) recordSize(id string) int64 {
	row, ok := t.rowOf[id]
	if !ok {
		return 0
	}
	b, i := t.at(int(row))
	return vecfile.RecordSize(putSize(id, t.cats[b.cats[i]], t.dims))
}

// recentre takes the mean anew when the index has grown to double since, as a mean of the first rows need not be that of
// all. It needs writing (so that only searches run beside it) and holds mu just to put the new signs in place.
func (s *Store) recentre() {
	t := s.table
	if t.n <= scanRows || t.centre != nil && t.n < 2*t.centre.rows {
		return
	}
	c := t.newCentre()
	signs := make([][]uint64, len(t.blocks))
	for n := range signs {
		signs[n] = make([]uint64, blockRows*t.words)
	}
	for row := range t.n {
		b, i := t.at(row)
		c.signs(signs[row/blockRows][i*t.words:(i+1)*t.words], b.code(i, t.dims), b.scale[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, b := range t.blocks {
		b.signs = signs[n]
	}
	t.centre = c
}

// IDs lists the rows.
func (s *Store) IDs(ctx context.Context) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.table.rowOf)), ctx.Err()
}

// Count is the number of rows.
func (s *Store) Count() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table.n
}

// Bytes is the memory of the rows.
func (s *Store) Bytes() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table.bytes()
}

// Retire removes the files of other models, now that this one is complete. Files set aside stay.
func (s *Store) Retire(ctx context.Context) error {
	dir, own := filepath.Split(s.file.Path())
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove vectors of other models: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if name := e.Name(); name == own || !strings.HasSuffix(name, suffix) || e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err := os.Remove(path); err != nil {
			errs = append(errs, fmt.Errorf("remove vectors of another model: %w", err))
			continue
		}
		s.log.Info("removed the vectors of another model", "path", path)
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// Close writes out and closes the file. Searches still answer.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.file.Close()
}
