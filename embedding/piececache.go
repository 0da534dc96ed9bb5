package embedding

import (
	"hash/maphash"
	"slices"
	"sync"
)

// pieceCacheBytes bounds the memory of one generation of the piece cache; two are kept. A passage of 800 characters takes
// some 600 bytes, so that the passages of 10,000 documents in daily use mostly fit.
const pieceCacheBytes = 4 << 20

// pieceCache keeps the distinct pieces of passages, since tokenising 90 candidates anew costs several milliseconds a query.
// It holds two generations: what is found in the old one moves to the young one, and when that is full the old one is dropped.
type pieceCache struct {
	seed  maphash.Seed
	limit int // bytes of one generation

	mu         sync.Mutex // guards below
	young, old map[uint64][]int32
	bytes      int // of young
}

func (c *pieceCache) get(m *model, p Passage, s *scratch) []int32 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(p.Breadcrumb)
	h.WriteByte(0)
	h.WriteString(p.Text)
	key := h.Sum64()

	c.mu.Lock()
	set, ok := c.young[key]
	if !ok {
		if set, ok = c.old[key]; ok {
			c.put(key, set)
		}
	}
	c.mu.Unlock()
	if ok {
		return set
	}
	set = slices.Clone(m.tokenize(clip(p.Breadcrumb), s))
	set = append(set, m.tokenize(clip(p.Text), s)...)
	slices.Sort(set)
	set = slices.Clip(slices.Clone(slices.Compact(set)))
	c.mu.Lock()
	c.put(key, set)
	c.mu.Unlock()
	return set
}

// put needs mu.
func (c *pieceCache) put(key uint64, set []int32) {
	const entryBytes = 64 // map slot, slice header, allocation
	if c.young == nil || c.bytes > c.limit {
		c.old, c.young, c.bytes = c.young, make(map[uint64][]int32), 0
	}
	c.young[key] = set
	c.bytes += entryBytes + 4*cap(set)
}
