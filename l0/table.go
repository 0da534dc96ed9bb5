package l0

import (
	"sync"
	"unsafe"

	"knowledged/document"
)

// Names are what a document can be called by (SPEC 2.2).
type Names struct {
	Title    string
	Keywords []string
	Aliases  []string
}

type kind uint8

const (
	keyword kind = iota
	alias
	title
)

func (k kind) String() string { return [...]string{"keyword", "alias", "title"}[k] }

// use says that a document has a name, and which of its names that is.
type use struct {
	doc   uint32
	kind  kind
	order uint16 // position in the document's keywords or aliases
}

type tableDoc struct {
	path  string
	names Names
}

// table finds the documents that a query names. Keys are pairs of runes: a cheap filter, everything found is verified.
type table struct {
	mu      sync.RWMutex // guards all below
	docs    []tableDoc
	paths   map[string]uint32
	free    []uint32
	entries []entry
	spare   []uint32
	byText  map[string]uint32

	heads      map[uint64]head            // names by their first two runes: which lengths there are
	long       map[uint64][]uint32        // entries of more than longName runes
	single     map[rune]int               // number of one-rune entries
	starts     map[uint64][]uint32        // keywords and aliases by the two runes at each place where a query may begin in them
	vocabulary map[rune]map[string]uint32 // words of keywords and aliases by first letter → names that have them
	longest    int                        // runes of the longest keyword or alias ever put
	bytes      int64                      // of strings that only the table holds
}

type head struct {
	lengths uint64 // bit n: there is (or was, while count > 0) a name of n runes
	count   uint32
}

const (
	longName = 63
	maxName  = 1 << 12 // runes; a longer "name" is a mistake in the document and cannot be meant by a query
)

func newTable() *table {
	return &table{
		paths: map[string]uint32{}, byText: map[string]uint32{}, heads: map[uint64]head{}, long: map[uint64][]uint32{},
		single: map[rune]int{}, starts: map[uint64][]uint32{}, vocabulary: map[rune]map[string]uint32{},
	}
}

func pair(a, b rune) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// update takes the documents named gone out of the table and puts or replaces the others.
func (t *table) update(put []Put, gone []string) {
	var buf text
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range gone {
		t.remove(path, &buf)
	}
	for i := range put {
		t.remove(put[i].Path, &buf)
		if put[i].InTable {
			t.add(put[i].Path, put[i].Names, &buf)
		}
	}
}

// add puts a document whose path is not in the table. With a title alone a document has no names (SPEC 1.3).
func (t *table) add(path string, names Names, buf *text) {
	if len(names.Keywords)+len(names.Aliases) == 0 {
		return
	}
	id := uint32(len(t.docs))
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
		t.docs[id] = tableDoc{path, names}
	} else {
		t.docs = append(t.docs, tableDoc{path, names})
	}
	t.paths[path] = id
	named := false
	names.each(func(name string, k kind, order int) {
		if k != title || named {
			named = t.link(name, use{id, k, uint16(order)}, buf) || named
		}
	})
}

func (t *table) remove(path string, buf *text) {
	id, ok := t.paths[path]
	if !ok {
		return
	}
	delete(t.paths, path)
	names := t.docs[id].names
	t.docs[id] = tableDoc{}
	t.free = append(t.free, id)
	names.each(func(name string, k kind, order int) { t.unlink(name, use{id, k, uint16(order)}, buf) })
}

func (n *Names) each(f func(name string, k kind, order int)) {
	for i, name := range n.Keywords[:min(len(n.Keywords), 1<<16)] {
		f(name, keyword, i)
	}
	for i, name := range n.Aliases[:min(len(n.Aliases), 1<<16)] {
		f(name, alias, i)
	}
	f(n.Title, title, 0)
}

func (n *Names) name(u use) string {
	switch u.kind {
	case keyword:
		return n.Keywords[u.order]
	case alias:
		return n.Aliases[u.order]
	}
	return n.Title
}

// link gives the document of u the name; false if there is nothing to read in it.
func (t *table) link(name string, u use, buf *text) bool {
	buf.set(document.Unframed(name))
	if buf.len() == 0 || buf.len() > maxName {
		return false
	}
	id := t.intern(buf, name)
	e := &t.entries[id]
	if !e.used {
		e.used, e.first = true, u
	} else {
		if e.more == nil {
			e.more = new([]use)
		}
		*e.more = append(*e.more, u)
	}
	if u.kind == title {
		return true
	}
	t.longest = max(t.longest, buf.len())
	if e.listed++; e.listed == 1 {
		for _, key := range buf.startKeys() {
			t.starts[key] = append(t.starts[key], id)
		}
		t.learn(e)
	}
	return true
}

func (t *table) unlink(name string, u use, buf *text) {
	buf.set(document.Unframed(name))
	first, ok := t.byText[buf.str]
	if !ok || buf.len() == 0 {
		return
	}
	opens, closes := buf.edges()
	id := int32(first)
	for id >= 0 && (t.entries[id].opens != opens || t.entries[id].closes != closes) {
		id = t.entries[id].next
	}
	if id < 0 {
		return
	}
	e := &t.entries[id]
	if !e.drop(u) {
		return
	}
	if u.kind != title {
		if e.listed--; e.listed == 0 {
			for _, key := range buf.startKeys() {
				dropFrom(t.starts, key, uint32(id))
			}
			t.forget(e)
		}
	}
	if !e.used {
		t.release(uint32(id), first, buf)
	}
}

// size estimates the table's memory in bytes; names' strings belong to the registry's records and are counted there.
func (t *table) size() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	const mapSlot = 1.7 // slots per entry, measured
	n := t.bytes
	n += int64(cap(t.docs)) * int64(unsafe.Sizeof(tableDoc{}))
	n += int64(cap(t.entries)) * int64(unsafe.Sizeof(entry{}))
	n += int64(float64(len(t.paths)+len(t.byText)) * (16 + 4 + 1) * mapSlot)
	n += int64(float64(len(t.heads)) * (8 + 16 + 1) * mapSlot)
	n += int64(float64(len(t.starts)+len(t.long)) * (8 + 24 + 1) * mapSlot)
	for _, words := range t.vocabulary {
		n += int64(float64(len(words)) * (16 + 4 + 1) * mapSlot)
	}
	for _, list := range t.starts {
		n += 4 * int64(cap(list))
	}
	for i := range t.entries {
		if more := t.entries[i].more; more != nil {
			n += 24 + int64(cap(*more))*int64(unsafe.Sizeof(use{}))
		}
	}
	return n
}
