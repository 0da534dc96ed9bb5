package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"knowledged/l1"
	"knowledged/l1/l1test"
)

func TestStoreContract(t *testing.T) {
	root := t.TempDir()
	l1test.TestStore(t, func(t *testing.T) l1.Store {
		s, err := Open(filepath.Join(root, t.Name()), "test", l1test.Dims, slog.New(slog.NewTextHandler(t.Output(), nil)))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// open gives a store that logs to the buffer.
func open(t testing.TB, dir, model string, dims int) (*Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := Open(dir, model, dims, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, &log
}

func fill(t testing.TB, s *Store, from, to int) {
	t.Helper()
	var rows []l1.Row
	for i := from; i < to; i++ {
		rows = append(rows, l1.Row{ID: fmt.Sprintf("%032x", i), Vector: vector(i, s.dims), Category: "api"})
	}
	if err := s.Upsert(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
}

var vectors sync.Map // of vector, which is slow under -race

// vector is a point near one of 40 centres, off the origin as real embeddings are.
func vector(seed, dims int) []float32 {
	key := [2]int{seed, dims}
	if v, ok := vectors.Load(key); ok {
		return v.([]float32)
	}
	v := make([]float32, dims)
	defer vectors.Store(key, v)
	centre, own := rand.New(rand.NewPCG(uint64(seed%40), 1)), rand.New(rand.NewPCG(uint64(seed), 2))
	for d := range v {
		v[d] = float32(0.3 + centre.NormFloat64() + own.NormFloat64())
	}
	return v
}

func TestOpenRefusesNoDimensions(t *testing.T) {
	if _, err := Open(t.TempDir(), "m", 0, slog.New(slog.DiscardHandler)); err == nil {
		t.Fatal("0 dimensions are accepted")
	}
}

func TestOpenNamesTheFolderItCannotUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, "m", 4, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), file) {
		t.Fatalf("got %v, want an error that names %s", err, file)
	}
}

// SPEC 2.10: a broken index on disk is set aside and rebuilt, not fatal.
func TestBrokenFile_2_10(t *testing.T) {
	for name, tc := range map[string]struct {
		damage func(b []byte) []byte
		rows   int  // that are left of 4,000
		aside  bool // and the file set aside
	}{
		"untouched":            {func(b []byte) []byte { return b }, 4000, false},
		"torn last record":     {func(b []byte) []byte { return b[:len(b)-3] }, 3999, false},
		"half a header":        {func(b []byte) []byte { return append(b, 1, 2, 3) }, 4000, false},
		"zeros at the end":     {func(b []byte) []byte { return append(b, make([]byte, 5000)...) }, 4000, false},
		"lost page near end":   {func(b []byte) []byte { clear(b[len(b)-4096-100 : len(b)-100]); return b }, 3985, false},
		"truncated to half":    {func(b []byte) []byte { return b[:len(b)/2] }, 1999, false},
		"damage in the middle": {func(b []byte) []byte { b[len(b)/3] ^= 0x10; return b }, 0, true},
		"garbage":              {func(b []byte) []byte { return bytes.Repeat([]byte("garbage!"), 1000) }, 0, true},
		"short garbage":        {func(b []byte) []byte { return []byte("?") }, 0, true},
		"other version":        {func(b []byte) []byte { return bytes.Replace(b, []byte("vectors 1,"), []byte("vectors 9,"), 1) }, 0, true},
		"empty":                {func(b []byte) []byte { return nil }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := open(t, dir, "m", 256)
			fill(t, s, 0, 4000)
			path := s.file.Path()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tc.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			s, log := open(t, dir, "m", 256)
			if s.Count() != tc.rows {
				t.Errorf("%d rows are left, want %d", s.Count(), tc.rows)
			}
			aside, _ := filepath.Glob(path + ".broken-*")
			if (len(aside) == 1) != tc.aside || strings.Contains(log.String(), "set aside") != tc.aside {
				t.Errorf("set aside: %v, log: %s", aside, log)
			}
			// It goes on working, and what it writes is there the next time.
			fill(t, s, 4000, 4010)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, log = open(t, dir, "m", 256); s.Count() != tc.rows+10 || log.Len() > 0 {
				t.Errorf("afterwards %d rows, log: %s", s.Count(), log)
			}
		})
	}
}

// A record whose checksum is right may still make no sense: the same file written for fewer dimensions.
func TestSenselessRecordIsDamage(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir, "m", 8)
	if _, err := s.file.Append(appendPut(nil, "a", "", make([]int8, 4))); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, log := open(t, dir, "m", 8); s.Count() != 0 || !strings.Contains(log.String(), "set aside") {
		t.Errorf("%d rows, log: %s", s.Count(), log)
	}
}

func TestDecodeRefusesNonsense(t *testing.T) {
	good := appendPut(nil, "id", "api", []int8{1, -2, 3})
	code := make([]int8, 3)
	op, id, category, err := decode(good, code)
	if err != nil || op != opPut || id != "id" || category != "api" || !slices.Equal(code, []int8{1, -2, 3}) {
		t.Fatalf("round trip: %d %q %q %v %v", op, id, category, code, err)
	}
	if n := putSize("id", "api", 3); n != len(good) {
		t.Errorf("putSize %d, is %d", n, len(good))
	}
	for i := range good {
		if _, _, _, err := decode(good[:i], code); err == nil {
			t.Errorf("the first %d bytes are accepted", i)
		}
	}
	for _, bad := range [][]byte{append(slices.Clone(good), 0), {9, 1, 'a'}, {opDelete | opHexID, 1}, append(appendOp(nil, opDelete, "a"), 0)} {
		if _, _, _, err := decode(bad, code); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

func TestCompaction(t *testing.T) {
	dir := t.TempDir()
	s, log := open(t, dir, "m", 256)
	largest := int64(0)
	for round := range 12 { // the same 2,000 rows again and again, a few of them deleted
		fill(t, s, 0, 2000)
		if err := s.Delete(t.Context(), []string{fmt.Sprintf("%032x", round)}); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, s.file.Size())
	}
	oneRound := 2000 * int64(281)
	if largest > 4*oneRound {
		t.Errorf("the file grew to %d bytes, a round is %d; log: %s", largest, oneRound, log)
	}
	want, _ := s.IDs(t.Context())
	live := s.live
	hits, _ := s.Search(t.Context(), vector(77, 256), 10, "")
	s.Close()
	s, _ = open(t, dir, "m", 256)
	got, _ := s.IDs(t.Context())
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(got) != 1999 {
		t.Errorf("%d rows after reopening, %d before", len(got), len(want))
	}
	if again, _ := s.Search(t.Context(), vector(77, 256), 10, ""); !slices.Equal(again, hits) {
		t.Errorf("hits %v, before %v", again, hits)
	}
	if s.live != live || live > s.file.Size() {
		t.Errorf("live bytes %d, counted anew %d, file %d", live, s.live, s.file.Size())
	}
}

// SPEC 3.5: a changed model builds beside the old one; Retire removes that.
func TestModelsLieSideBySide_3_5(t *testing.T) {
	dir := t.TempDir()
	old, _ := open(t, dir, "BAAI/bge-m3", 32)
	fill(t, old, 0, 10)
	old.Close()
	for _, m := range []struct {
		model string
		dims  int
	}{{"baai/bge-m3", 32}, {"BAAI/bge-m3", 16}, {"../../etc", 32}, {"", 32}, {strings.Repeat("长", 200), 32}} {
		s, _ := open(t, dir, m.model, m.dims)
		if s.Count() != 0 {
			t.Errorf("%q of %d starts with %d rows", m.model, m.dims, s.Count())
		}
		if filepath.Dir(s.file.Path()) != dir {
			t.Errorf("%q lies at %s", m.model, s.file.Path())
		}
		s.Close()
	}
	old, _ = open(t, dir, "BAAI/bge-m3", 32)
	if old.Count() != 10 {
		t.Fatalf("the old model has %d rows", old.Count())
	}
	old.Close()
	now, _ := open(t, dir, "new", 32)
	fill(t, now, 0, 3)
	if err := now.Retire(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 || files[0] != now.file.Path() {
		t.Errorf("left over: %v", files)
	}
	if now.Count() != 3 {
		t.Errorf("%d rows", now.Count())
	}
}

func TestClosedStoreRefusesWrites(t *testing.T) {
	s, _ := open(t, t.TempDir(), "m", 8)
	fill(t, s, 0, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), []l1.Row{{ID: "x", Vector: vector(1, 8)}}); err == nil {
		t.Error("a closed store takes rows")
	}
	if hits, err := s.Search(t.Context(), vector(1, 8), 1, ""); err != nil || len(hits) != 1 {
		t.Errorf("a lookup that outlives Close: %v, %v", hits, err)
	}
}
