package registry

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	bolt "go.etcd.io/bbolt"
)

const deleted = "dir0/doc000.md"

// grown returns the bytes of a registry file of several levels of pages, with free ones among them, and what it holds.
func grown(t testing.TB) ([]byte, map[string]Change) {
	t.Helper()
	dir := t.TempDir()
	r := mustOpen(t, dir)
	want := map[string]Change{}
	for version := range 3 {
		var changes []Change
		for i := version; i < 60; i += version + 1 {
			c := sample(fmt.Sprintf("dir%d/doc%03d.md", i%7, i), version, 1+i%4)
			changes = append(changes, c)
			want[c.Path] = c
		}
		mustApply(t, r, changes...)
	}
	mustApply(t, r, Change{Path: deleted})
	delete(want, deleted)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	return data, want
}

// openDamaged opens a registry over these bytes and checks that nothing in it is wrong: a record is as it was stored or
// asks to be read anew, and a chunk is as it was stored or not there. Then the registry must work as ever.
func openDamaged(t *testing.T, dir string, data []byte, want map[string]Change) (kept int) {
	t.Helper()
	file := filepath.Join(dir, "registry.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var log warnings
	r, err := Open(dir, log.log())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer r.Close()
	for _, rec := range r.All() {
		c, known := want[rec.Path]
		if rec.Path == deleted {
			continue // with the newest meta page damaged, the state before the last write is what there is
		}
		if !known {
			t.Fatalf("made-up record %s", rec.Path)
		}
		if rec.FileHash == "" {
			continue
		}
		if diff := diffRecord(c.Record, rec); diff != "" {
			t.Fatalf("wrong record:\n%s", diff)
		}
		chunks, err := r.Chunks(rec.Path)
		if diff := diff(c.Chunks, chunks); err != nil || diff != "" {
			t.Fatalf("%s: %v, chunks:\n%s", rec.Path, err, diff)
		}
		kept++
	}
	if kept < len(want) && log.count() == 0 {
		t.Fatalf("%d of %d documents are lost without a WARN", len(want)-kept, len(want))
	}
	fresh := sample("fresh.md", 9, 3)
	all := []Change{fresh}
	mustApply(t, r, Change{Path: deleted})
	for _, c := range want {
		all = append(all, c)
	}
	mustApply(t, r, all...)
	expect(t, r, all...)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	expect(t, again, all...)
	return kept
}

// clean empties the folder between two damaged files.
func clean(t *testing.T, dir string) {
	t.Helper()
	old, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// SPEC 2.10: a broken file is set aside and rebuilt, at whatever length it was cut.
func TestOpen_2_10_Truncated(t *testing.T) {
	data, want := grown(t)
	dir := t.TempDir()
	lengths := []int{0, 1, 15, 16, 79, 80, 4095, 4096, 4097, 8191, 8192, 12288, 16384, 20480, len(data) / 2, len(data) - 1, len(data) - 4096, len(data)}
	for step := 1; step < 12; step++ {
		lengths = append(lengths, len(data)*step/12)
	}
	for _, n := range lengths {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			clean(t, dir)
			kept := openDamaged(t, dir, data[:n], want)
			if n == len(data) && kept != len(want) {
				t.Errorf("whole file: %d of %d documents", kept, len(want))
			}
			if n == len(data)/2 && kept != 0 {
				t.Errorf("half a file: %d documents", kept)
			}
			aside, _ := filepath.Glob(filepath.Join(dir, "registry.db.broken-*"))
			if kept == 0 && n > 0 && len(aside) != 1 {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

func TestOpen_2_10_Garbage(t *testing.T) {
	_, want := grown(t)
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for name, data := range map[string][]byte{
		"noise": noise, "short noise": noise[:100], "zeros": make([]byte, 1<<16), "text": bytes.Repeat([]byte("# not a database\n"), 5000),
		"foreign": foreignBolt(t),
	} {
		t.Run(name, func(t *testing.T) {
			if kept := openDamaged(t, t.TempDir(), data, want); kept != 0 {
				t.Errorf("%d documents", kept)
			}
		})
	}
}

// foreignBolt is a sound file of bbolt that is not ours.
func foreignBolt(t *testing.T) []byte {
	file := filepath.Join(t.TempDir(), "x.db")
	db, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("accounts"))
		if err != nil {
			return err
		}
		return b.Put([]byte("k"), []byte("v"))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Flipped bytes: a few anywhere, and in the headers and elements of pages, which bbolt would follow blindly.
func TestOpen_2_10_Flipped(t *testing.T) {
	data, want := grown(t)
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	pages := len(data) / 4096
	places := map[string]func() int{
		"anywhere":    func() int { return rng.IntN(len(data)) },
		"page header": func() int { return rng.IntN(pages)*4096 + rng.IntN(16) },
		"elements":    func() int { return rng.IntN(pages)*4096 + 16 + rng.IntN(64) },
		"meta":        func() int { return rng.IntN(2)*4096 + rng.IntN(80) },
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			for range 15 {
				damaged := bytes.Clone(data)
				for range 1 + rng.IntN(4) {
					damaged[place()] ^= byte(1 + rng.IntN(255))
				}
				clean(t, dir)
				openDamaged(t, dir, damaged, want)
			}
		})
	}
}

// A page that leads to itself would have bbolt's cursor go in circles until memory ends.
func TestOpen_2_10_PageCycle(t *testing.T) {
	data, want := grown(t)
	found := false
	for id := 2; id < len(data)/4096; id++ {
		p := data[id*4096:]
		if native.Uint16(p[8:]) != flagBranch || native.Uint64(p) != uint64(id) {
			continue
		}
		found = true
		damaged := bytes.Clone(data)
		native.PutUint64(damaged[id*4096+pageHeader+8:], uint64(id))
		openDamaged(t, t.TempDir(), damaged, want)
	}
	if !found {
		t.Fatal("the sample has no branch page")
	}
}

func TestOpen_DamagedTextIsReadAgain(t *testing.T) {
	data, want := grown(t)
	c := want["dir1/doc001.md"]
	at := bytes.LastIndex(data, []byte(c.Chunks[0].Text))
	damaged := bytes.Clone(data)
	for i := 0; i < len(damaged); i++ { // older copies may lie on free pages: damage all
		j := bytes.Index(damaged[i:], []byte(c.Chunks[0].Text))
		if j < 0 {
			break
		}
		damaged[i+j] ^= 1
		i += j
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "registry.db"), damaged, 0o600); err != nil || at < 0 {
		t.Fatal(err, at)
	}
	var log warnings
	r, err := Open(dir, log.log())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec := mustGet(t, r, c.Path)
	if rec.DocID != c.Record.DocID || rec.FileHash != "" || rec.FileSize != -1 || rec.ChunkCount() != len(c.Chunks) {
		t.Errorf("record: %+v", rec)
	}
	if r.Len() != len(want) || log.count() != 1 {
		t.Errorf("%d of %d documents, %d WARNs", r.Len(), len(want), log.count())
	}
	if _, _, ok := r.Chunk(c.Chunks[0].ID); ok {
		t.Error("damaged text was returned")
	}
}

func TestOpen_Locked(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir)
	start := time.Now()
	_, err := Open(dir, testLog(t))
	if !errors.Is(err, ErrLocked) || !bytes.Contains([]byte(err.Error()), []byte(filepath.Join(dir, "registry.db"))) {
		t.Errorf("second Open: %v", err)
	}
	if took := time.Since(start); took > 10*lockTimeout {
		t.Errorf("took %v", took)
	}
}

func TestOpen_Newer(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	mustApply(t, r, sample("a.md", 1, 1))
	err := r.store.update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketFormat)).Put([]byte(formatKey), []byte("2"))
	})
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "registry.db"))
	for range 2 { // the lock is released, too
		if _, err := Open(dir, testLog(t)); !errors.Is(err, ErrNewer) {
			t.Errorf("Open: %v", err)
		}
	}
	after, _ := os.ReadFile(filepath.Join(dir, "registry.db"))
	if !bytes.Equal(before, after) {
		t.Error("the newer file was changed")
	}
}

func TestOpen_NoRights(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "file", "state"), testLog(t)); err == nil {
		t.Error("a state folder below a file: no error")
	}
	if err := os.Mkdir(filepath.Join(dir, "registry.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, testLog(t)); err == nil {
		t.Error("a folder in the file's place: no error")
	}
}

// A full disk: memory is the newer truth, and the next Apply brings the disk up to it.
func TestApply_DiskFull(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	first := sample("kept.md", 1, 2)
	mustApply(t, r, first)
	moved, lost := sample("moved.md", 1, 3), sample("gone.md", 1, 1)
	mustApply(t, r, lost)
	r.store.db.MaxSize = 1 // bbolt refuses to grow, as with ENOSPC
	big := sample("big.md", 1, 4000)
	if err := r.Apply([]Change{big, moved, {Path: lost.Path}}); err == nil {
		t.Fatal("no error")
	}
	expect(t, r, first, big, moved)
	touched := *mustGet(t, r, "big.md")
	touched.ModTime++
	if err := r.Apply([]Change{{Path: "big.md", Record: &touched, KeepChunks: true}}); err == nil {
		t.Fatal("no error")
	}
	big.Record.ModTime++
	expect(t, r, first, big, moved)
	r.store.db.MaxSize = 0
	mustApply(t, r)
	if len(r.pending) != 0 {
		t.Errorf("%d changes still pending", len(r.pending))
	}
	expect(t, r, first, big, moved)
	r.Close()
	expect(t, mustOpen(t, dir), first, big, moved)
}

// The file is cut while in use: neither a crash nor a hang nor wrong text, and the next start begins anew.
func TestRegistry_CutWhileInUse(t *testing.T) {
	dir := t.TempDir()
	var log warnings
	r, err := Open(dir, log.log())
	if err != nil {
		t.Fatal(err)
	}
	var docs []Change
	for i := range 200 {
		docs = append(docs, sample(fmt.Sprintf("%03d.md", i), 1, 4))
	}
	mustApply(t, r, docs...)
	if err := os.Truncate(filepath.Join(dir, "registry.db"), 8192); err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		for _, c := range d.Chunks {
			if got, _, ok := r.Chunk(c.ID); ok && got.Text != c.Text {
				t.Fatal("wrong text")
			}
		}
	}
	if log.count() == 0 {
		t.Error("no WARN")
	}
	if rec := mustGet(t, r, "000.md"); rec.FileHash != "" {
		t.Error("the record does not ask to be read again")
	}
	for i := range 3 {
		d := sample(fmt.Sprintf("new%d.md", i), 1, 2)
		_ = r.Apply([]Change{d}) // may fail; must return, and be seen
		if got, _, ok := r.Chunk(d.Chunks[1].ID); !ok || got.Text != d.Chunks[1].Text {
			t.Errorf("a new document is not found after the file was cut")
		}
	}
	_ = r.Close()
	data, err := os.ReadFile(filepath.Join(dir, "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	next := t.TempDir() // the next process: this one may hold the lock to its end
	if err := os.WriteFile(filepath.Join(next, "registry.db"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, next)
	mustApply(t, again, docs...)
	expect(t, again, docs...)
}

func TestSetAside_KeepsFew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*c") // a name that Glob would take for a pattern
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "registry.db")
	var last string
	for i := range 5 {
		if err := os.WriteFile(file, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if last, err = setAside(file); err != nil {
			t.Fatal(err)
		}
	}
	entries, _ := os.ReadDir(dir)
	if data, err := os.ReadFile(last); len(entries) != keepBroken || err != nil || data[0] != 4 {
		t.Errorf("%v; last %v, %v", entries, data, err)
	}
}

func FuzzDecode(f *testing.F) {
	c := sample("a.md", 1, 3)
	texts, ids, err := encodeChunks(c.Chunks)
	if err != nil {
		f.Fatal(err)
	}
	c.Record.chunkIDs = ids
	f.Add(encodeRecord(c.Record), texts)
	f.Fuzz(func(t *testing.T, record, texts []byte) {
		// The checksum would stop nearly all: give it, and have the decoder stand alone.
		if len(record) >= 4 {
			sum := checksum([]byte("a.md"), record[4:])
			record[0], record[1], record[2], record[3] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
		}
		rec, err := decodeRecord("a.md", record)
		if err == nil {
			again, err := decodeRecord("a.md", encodeRecord(rec))
			if err != nil || !cmp.Equal(rec, again, cmp.AllowUnexported(Record{}), cmpopts.EquateEmpty()) {
				t.Fatalf("%v after a round trip: %+v, %+v", err, rec, again)
			}
		}
		for i := range c.Record.ChunkCount() {
			_, _ = decodeChunk(texts, c.Record, i)
		}
		_ = checkChunks(texts, c.Record)
	})
}
