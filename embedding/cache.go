package embedding

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"

	"knowledged/embedding/vecfile"
)

// cacheLimit bounds the cache's file: some 120,000 vectors of 1,024 dimensions. Past it, the half used last is kept.
const cacheLimit = 512 << 20

// CacheFormat is the version of the cache's records; a file of an older one is set aside.
const CacheFormat = 1

// Cache is a provider that asks another one only for passages that it has not embedded before, in this run or an earlier
// one. Vectors are kept in a file by model and content, so a file may serve several models in turn. Queries pass through.
type Cache struct {
	provider Provider
	log      *slog.Logger
	limit    int64

	mu       sync.Mutex // guards below
	file     *vecfile.File
	entries  map[cacheKey]cacheEntry
	clock    uint64 // counts uses
	unusable bool   // the last write failed; said once
}

// cacheKey is the first half of SHA-256 over model, breadcrumb and text.
type cacheKey [16]byte

type cacheEntry struct {
	at   int64
	used uint64
}

// NewCache wraps provider with the vectors in file, which is created if need be. Close it when done.
func NewCache(provider Provider, file string, log *slog.Logger) (*Cache, error) {
	c := &Cache{provider: provider, log: log, limit: cacheLimit}
	f, err := vecfile.Open(file, fmt.Sprintf("knowledged embedding cache %d", CacheFormat), func(records func(func(vecfile.Record) bool)) error {
		c.entries, c.clock = make(map[cacheKey]cacheEntry), 0
		for r := range records {
			if len(r.Payload) <= len(cacheKey{}) {
				return errors.New("record without a vector")
			}
			c.clock++
			c.entries[cacheKey(r.Payload)] = cacheEntry{at: r.At, used: c.clock}
		}
		return nil
	}, log)
	if err != nil {
		return nil, fmt.Errorf("embedding cache: %w", err)
	}
	c.file = f
	return c, nil
}

// Name is the model's id.
func (c *Cache) Name() string { return c.provider.Name() }

// Dimensions is the length of its vectors.
func (c *Cache) Dimensions() int { return c.provider.Dimensions() }

// EmbedQuery asks the provider.
func (c *Cache) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	return c.provider.EmbedQuery(ctx, query)
}

// Ailment is the provider's.
func (c *Cache) Ailment() error { return ailmentOf(c.provider) }

// EmbedPassages takes what it can from the file and asks the provider for the others. Of a call that fails altogether it keeps
// what the provider had made by then: trying again goes on from there. That, and what the file had, is given with the error.
func (c *Cache) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	out := make([][]float32, len(passages))
	keys := make([]cacheKey, len(passages))
	var missing []Passage
	var positions []int
	c.mu.Lock()
	for i, p := range passages {
		keys[i] = keyOf(c.provider.Name(), p)
		if out[i] = c.get(keys[i]); out[i] == nil {
			missing = append(missing, p)
			positions = append(positions, i)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return out, ctx.Err()
	}
	vectors, err := c.provider.EmbedPassages(ctx, missing)
	var failed *PassageErrors
	if err != nil && !errors.As(err, &failed) {
		c.salvage(keys, positions, vectors, out)
		return out, err
	}
	if len(vectors) != len(missing) {
		return nil, fmt.Errorf("%s gave %d vectors for %d passages", c.provider.Name(), len(vectors), len(missing))
	}
	var errs PassageErrors
	var fresh []int
	for k, i := range positions {
		if failed != nil && failed.Errs[k] != nil {
			errs.Add(i, failed.Errs[k])
			continue
		}
		if err := Check(vectors[k], c.provider.Dimensions()); err != nil {
			errs.Add(i, err)
			continue
		}
		out[i] = vectors[k]
		fresh = append(fresh, i)
	}
	c.put(keys, out, fresh)
	return out, errs.OrNil()
}

// salvage keeps the valid vectors of a call that failed, and puts them into out.
func (c *Cache) salvage(keys []cacheKey, positions []int, vectors, out [][]float32) {
	if len(vectors) != len(positions) {
		return
	}
	var fresh []int
	for k, i := range positions {
		if vectors[k] != nil && Check(vectors[k], c.provider.Dimensions()) == nil {
			out[i] = vectors[k]
			fresh = append(fresh, i)
		}
	}
	c.put(keys, out, fresh)
}

// Close writes out the file and closes it; it does not close the provider.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.Close()
}

// get needs mu. A record that cannot be read, or is of another length, is missing.
func (c *Cache) get(key cacheKey) []float32 {
	e, ok := c.entries[key]
	if !ok {
		return nil
	}
	payload, err := c.file.ReadAt(e.at)
	if err != nil || len(payload) != len(key)+4*c.provider.Dimensions() || cacheKey(payload) != key {
		delete(c.entries, key)
		return nil
	}
	c.clock++
	c.entries[key] = cacheEntry{at: e.at, used: c.clock}
	return floats(payload[len(key):])
}

func (c *Cache) put(keys []cacheKey, vectors [][]float32, which []int) {
	if len(which) == 0 {
		return
	}
	records := make([][]byte, len(which))
	for n, i := range which {
		b := append(make([]byte, 0, len(keys[i])+4*len(vectors[i])), keys[i][:]...)
		for _, v := range vectors[i] {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		records[n] = b
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	places, err := c.file.Append(records...)
	if err == nil {
		err = c.file.Sync()
	}
	if err == nil {
		for n, i := range which {
			c.clock++
			c.entries[keys[i]] = cacheEntry{at: places[n], used: c.clock}
		}
		if c.file.Size() > c.limit {
			err = c.compact()
		}
	}
	if err != nil && !c.unusable {
		c.log.Warn("embedding cache not written, vectors will be asked for again", "path", c.file.Path(), "err", err)
	}
	c.unusable = err != nil
}

// compact keeps the entries used last, up to half the limit. It needs mu.
func (c *Cache) compact() error {
	type kept struct {
		key cacheKey
		cacheEntry
	}
	all := make([]kept, 0, len(c.entries))
	for key, e := range c.entries {
		all = append(all, kept{key, e})
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Compare(b.used, a.used) })
	var size int64
	var keep []kept
	for _, e := range all {
		if size += vecfile.RecordSize(len(e.key) + 4*c.provider.Dimensions()); size > c.limit/2 {
			break
		}
		keep = append(keep, e)
	}
	slices.Reverse(keep) // oldest first: the order in the file is the order of use at the next start
	entries := make(map[cacheKey]cacheEntry, len(keep))
	err := c.file.Rewrite(func(add func([]byte) (int64, error)) error {
		for _, e := range keep {
			payload, err := c.file.ReadAt(e.at)
			if err != nil {
				continue // lost, and made again when it is asked for
			}
			at, err := add(payload)
			if err != nil {
				return err
			}
			entries[e.key] = cacheEntry{at: at, used: e.used}
		}
		return nil
	})
	if err == nil {
		c.entries = entries
	}
	return err
}

func keyOf(model string, p Passage) cacheKey {
	h := sha256.New()
	for _, part := range []string{model, p.Breadcrumb, p.Text} {
		writePart(h, part)
	}
	return cacheKey(h.Sum(nil))
}

// writePart writes the length first, so that no two lists of parts give the same bytes.
func writePart(h hash.Hash, part string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
	h.Write(n[:])
	_, _ = io.WriteString(h, part)
}
