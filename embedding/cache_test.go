package embedding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// counting is a provider that notes what it is asked.
type counting struct {
	Hash
	mu    sync.Mutex
	asked []Passage
	fail  func(Passage) error // of one passage
	err   error               // of the call
	made  int                 // vectors that there are in spite of err
	short bool                // leaves out a vector
	wrong []float32
}

func (c *counting) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, passages...)
	if c.err != nil {
		out, _ := c.Hash.EmbedPassages(ctx, passages)
		clear(out[min(c.made, len(out)):])
		return out, c.err
	}
	out, err := c.Hash.EmbedPassages(ctx, passages)
	if err != nil {
		return nil, err
	}
	if c.short {
		return out[1:], nil
	}
	var failed PassageErrors
	for i, p := range passages {
		if c.wrong != nil {
			out[i] = c.wrong
		}
		if c.fail != nil && c.fail(p) != nil {
			out[i] = nil
			failed.Add(i, c.fail(p))
		}
	}
	return out, failed.OrNil()
}

func (c *counting) take() []Passage {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

func openCache(t *testing.T, p Provider, file string) (*Cache, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	c, err := NewCache(p, file, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, &log
}

func embed(t *testing.T, c Provider, passages ...Passage) [][]float32 {
	t.Helper()
	out, err := c.EmbedPassages(t.Context(), passages)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// SPEC 3.4: embeddings are cached by content and model, over restarts.
func TestCache_3_4(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache")
	p := &counting{}
	c, _ := openCache(t, p, file)
	a, b := Passage{"x", "alpha"}, Passage{"x", "beta"}
	first := embed(t, c, a, b)
	if got := p.take(); len(got) != 2 {
		t.Fatalf("asked for %v", got)
	}
	if again := embed(t, c, b, a); !slices.Equal(again[0], first[1]) || !slices.Equal(again[1], first[0]) {
		t.Error("other vectors the second time")
	}
	moved := Passage{"xalpha", ""} // the same letters, cut elsewhere
	embed(t, c, a, moved, Passage{"y", "alpha"})
	if got := p.take(); len(got) != 2 || got[0] != moved {
		t.Errorf("asked for %v, want the two new ones", got)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, log := openCache(t, p, file)
	if again := embed(t, c, a, b); !slices.Equal(again[0], first[0]) || !slices.Equal(again[1], first[1]) || len(p.take()) != 0 {
		t.Errorf("not kept over a restart; log: %s", log)
	}
	c.Close()
	other := &counting{Hash: Hash{Model: "other"}}
	c, _ = openCache(t, other, file)
	if embed(t, c, a); len(other.take()) != 1 {
		t.Error("another model got this one's vector")
	}
	c.Close()
	longer := &counting{Hash: Hash{Dims: 64}}
	c, _ = openCache(t, longer, file)
	if v := embed(t, c, a); len(v[0]) != 64 || len(longer.take()) != 1 {
		t.Errorf("a vector of %d dimensions for a model of 64", len(v[0]))
	}
	if c.Name() != "hash" || c.Dimensions() != 64 {
		t.Errorf("name %s, %d dimensions", c.Name(), c.Dimensions())
	}
	if v, err := c.EmbedQuery(t.Context(), "alpha"); err != nil || len(v) != 64 {
		t.Errorf("query: %v", err)
	}
}

func TestCacheKeepsFailuresApart(t *testing.T) {
	bad := errors.New("gives NaN")
	p := &counting{fail: func(p Passage) error {
		if strings.Contains(p.Text, "poison") {
			return bad
		}
		return nil
	}}
	c, _ := openCache(t, p, filepath.Join(t.TempDir(), "cache"))
	embed(t, c, Passage{"", "one"})
	p.take()
	in := []Passage{{"", "one"}, {"", "poison"}, {"", "two"}}
	for range 2 {
		out, err := c.EmbedPassages(t.Context(), in)
		var failed *PassageErrors
		if !errors.As(err, &failed) || len(failed.Errs) != 1 || !errors.Is(failed.Errs[1], bad) {
			t.Fatalf("%v", err)
		}
		if out[0] == nil || out[1] != nil || out[2] == nil {
			t.Errorf("vectors %v %v %v", out[0] != nil, out[1] != nil, out[2] != nil)
		}
	}
	if got := p.take(); len(got) != 3 || got[2].Text != "poison" {
		t.Errorf("asked for %v", got)
	}
	if s := (&PassageErrors{Errs: map[int]error{4: bad, 2: bad}}).Error(); s != "2 passages not embedded, the first is number 2: gives NaN" {
		t.Error(s)
	}
}

// SPEC 3.4: what was made before a call failed is not paid for twice.
func TestCacheKeepsWhatAFailedCallMade_3_4(t *testing.T) {
	p := &counting{Hash: Hash{Dims: 8}, err: errors.New("503"), made: 2}
	c, _ := openCache(t, p, filepath.Join(t.TempDir(), "cache"))
	all := []Passage{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}}
	for range 2 { // the second time, from the file alone
		got, err := c.EmbedPassages(t.Context(), all)
		if !errors.Is(err, p.err) {
			t.Fatalf("error %v", err)
		}
		if len(got) != 4 || got[0] == nil || got[1] == nil || got[2] != nil || got[3] != nil {
			t.Errorf("given %v", got)
		}
		p.made = 0
	}
	p.take()
	p.err = nil
	embed(t, c, all...)
	if asked := p.take(); len(asked) != 2 || asked[0].Text != "c" || asked[1].Text != "d" {
		t.Errorf("asked again for %v", asked)
	}
}

func TestCacheTakesNoBadVectors(t *testing.T) {
	p := &counting{wrong: make([]float32, 128)}
	c, _ := openCache(t, p, filepath.Join(t.TempDir(), "cache"))
	if _, err := c.EmbedPassages(t.Context(), []Passage{{"", "one"}}); err == nil {
		t.Error("a zero vector is taken")
	}
	p.wrong, p.err = nil, errors.New("away")
	if _, err := c.EmbedPassages(t.Context(), []Passage{{"", "one"}}); !errors.Is(err, p.err) {
		t.Errorf("%v", err)
	}
	p.err, p.short = nil, true
	if _, err := c.EmbedPassages(t.Context(), []Passage{{"", "one"}, {"", "two"}}); err == nil {
		t.Error("too few vectors are taken")
	}
	p.short = false
	embed(t, c, Passage{"", "one"})
}

// What was used last survives a full cache.
func TestCacheIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache")
	p := &counting{}
	c, _ := openCache(t, p, file)
	c.limit = 100 << 10 // 190 vectors
	often := Passage{"", "often"}
	for i := range 1000 {
		embed(t, c, Passage{"", fmt.Sprint("p", i)}, often)
		if info, err := os.Stat(file); err != nil || info.Size() > c.limit+1000 {
			t.Fatalf("after %d: %v, %v", i, info.Size(), err)
		}
	}
	p.take()
	embed(t, c, often, Passage{"", "p999"}, Passage{"", "p998"}, Passage{"", "p0"})
	if got := p.take(); len(got) != 1 || got[0].Text != "p0" {
		t.Errorf("asked for %v", got)
	}
	c.Close()
	c, log := openCache(t, p, file)
	embed(t, c, often, Passage{"", "p999"})
	if got := p.take(); len(got) != 0 || log.Len() > 0 {
		t.Errorf("after reopening asked for %v; log: %s", got, log)
	}
}

// SPEC 2.10: a broken cache is set aside, and a full disk makes one WARN and no error.
func TestCacheOnBrokenDisk_2_10(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(file, []byte("garbage of some length"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &counting{}
	c, log := openCache(t, p, file)
	if !strings.Contains(log.String(), "set aside") {
		t.Errorf("log: %s", log)
	}
	embed(t, c, Passage{"", "one"})
	log.Reset()
	c.file.Close() // stands for a disk that takes nothing more
	for range 3 {
		if v := embed(t, c, Passage{"", "one"}, Passage{"", "two"}); v[0] == nil || v[1] == nil {
			t.Error("no vectors")
		}
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d WARNs: %s", n, log)
	}
	if _, err := NewCache(p, t.TempDir(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a folder serves as a cache")
	}
}

func TestCacheRefusesSenselessRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache")
	p := &counting{}
	c, _ := openCache(t, p, file)
	if _, err := c.file.Append([]byte("short")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, log := openCache(t, p, file); !strings.Contains(log.String(), "set aside") {
		t.Errorf("log: %s", log)
	}
}

func TestCacheConcurrently(t *testing.T) {
	p := &counting{}
	c, _ := openCache(t, p, filepath.Join(t.TempDir(), "cache"))
	c.limit = 20 << 10
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 100 {
				in := Passage{"", fmt.Sprint("p", (i*7+w)%60)}
				got, err := c.EmbedPassages(t.Context(), []Passage{in})
				want, _ := p.Hash.EmbedPassages(t.Context(), []Passage{in})
				if err != nil || !slices.Equal(got[0], want[0]) {
					t.Errorf("%v: %v", in, err)
				}
			}
		})
	}
	wg.Wait()
}
