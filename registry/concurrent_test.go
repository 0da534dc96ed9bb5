package registry

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Readers beside a writer never see a half-made change: a chunk belongs to the record it comes with, and its text is of
// that record's version.
func TestRegistry_ReadersBesideWriter(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	const docs = 20
	var versions [docs]atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for reader := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(reader), 1))
			for !stop.Load() {
				i := rng.IntN(docs)
				rec, ok := r.Get(fmt.Sprintf("%d.md", i))
				if !ok {
					continue
				}
				for _, id := range rec.ChunkIDs() {
					c, owner, ok := r.Chunk(id)
					if !ok {
						continue // replaced meanwhile
					}
					if c.ID != id || !strings.HasPrefix(owner.Title, "支付") || !strings.HasPrefix(c.Text, strings.TrimPrefix(owner.Title, "支付网关错误码定义 ")) {
						t.Errorf("chunk %s: text %.20q comes with record %q", id, c.Text, owner.Title)
						return
					}
				}
				if chunks, err := r.Chunks(rec.Path); err == nil && len(chunks) == 0 {
					t.Errorf("%s has no chunks", rec.Path)
					return
				}
				r.All()
				r.ByHash(rec.FileHash)
				for range r.ChunkIDs() {
					break
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for round := 1; round <= 60; round++ {
		var batch []Change
		for _, i := range rng.Perm(docs)[:1+rng.IntN(4)] {
			c := sample(fmt.Sprintf("%d.md", i), round, 1+rng.IntN(5))
			if rng.IntN(5) == 0 {
				c, round := Change{Path: c.Path}, 0
				versions[i].Store(int64(round))
				batch = append(batch, c)
				continue
			}
			versions[i].Store(int64(round))
			batch = append(batch, c)
		}
		mustApply(t, r, batch...)
		for _, c := range batch { // visible before Apply returns
			if rec, ok := r.Get(c.Path); ok != (c.Record != nil) || ok && rec.Title != c.Record.Title {
				t.Errorf("%s is not what was applied", c.Path)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	live := 0
	for i := range versions {
		if versions[i].Load() > 0 {
			live++
		}
	}
	if r.Len() != live {
		t.Errorf("%d documents, want %d", r.Len(), live)
	}
}

func TestRegistry_CloseBesideReaders(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	c := sample("a.md", 1, 5)
	mustApply(t, r, c)
	started := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if _, _, ok := r.Chunk(c.Chunks[i%5].ID); !ok {
					return // closed
				}
				if i == 10 {
					started <- struct{}{}
				}
			}
		})
	}
	for range 4 {
		<-started
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// What a thousand random changes leave behind is what a map would hold, in memory, on disk, and for the page check: a
// sound file is never taken for a broken one.
func TestRegistry_RandomChanges(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 7))
	var log warnings
	want := map[string]Change{}
	for version := range 12 {
		r, err := Open(dir, log.log())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			batch := map[string]Change{}
			for range 1 + rng.IntN(40) {
				path := fmt.Sprintf("d%d/%s%d.md", rng.IntN(3), strings.Repeat("x", rng.IntN(60)), rng.IntN(30))
				if rng.IntN(3) == 0 {
					batch[path] = Change{Path: path}
					delete(want, path)
					continue
				}
				c := sample(path, version, rng.IntN(20)*rng.IntN(5))
				batch[path], want[path] = c, c
			}
			var list []Change
			for _, c := range batch {
				list = append(list, c)
			}
			mustApply(t, r, list...)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir, log.log())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []Change
	for _, c := range want {
		all = append(all, c)
	}
	expect(t, r, all...)
	if log.count() != 0 {
		t.Errorf("WARNs about a sound file:\n%s", log.buf.String())
	}
}
