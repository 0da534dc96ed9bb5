package l0

import "sync"

// cacheBytes bounds the cache of decoded postings: some two million of them.
const cacheBytes = 16 << 20

// entryBytes is what a cached list takes beside its postings and its term.
const entryBytes = 160

type postingsKey struct {
	segment uint64
	term    string
	lone    bool
}

// postingsCache keeps decoded postings of terms that were asked for lately; bleve's form takes ten times as long to walk.
// Segments never change, so nothing in here becomes wrong; what belongs to merged segments falls out unused.
//
// It has two generations. What is used moves to the young one; when that holds half the room, the old one is dropped and
// the young one becomes old.
type postingsCache struct {
	mu         sync.Mutex // guards below; the postings themselves are never written to
	young, old map[postingsKey]*postings
	bytes      int64 // of young
	oldBytes   int64
}

func (c *postingsCache) get(key postingsKey) *postings {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.young[key]; p != nil {
		return p
	}
	p := c.old[key]
	if p != nil {
		c.add(key, p)
	}
	return p
}

func (c *postingsCache) put(key postingsKey, p *postings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young[key] == nil {
		c.add(key, p)
	}
}

func (c *postingsCache) add(key postingsKey, p *postings) {
	if c.young == nil {
		c.young = map[postingsKey]*postings{}
	}
	c.young[key] = p
	c.bytes += entryBytes + int64(len(key.term)) + 8*int64(cap(p.list))
	if c.bytes > cacheBytes/2 {
		c.old, c.oldBytes = c.young, c.bytes
		c.young, c.bytes = nil, 0
	}
}

func (c *postingsCache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes + c.oldBytes
}
