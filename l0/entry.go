package l0

import "slices"

// entry is a name as compared. Names that differ only in where their camelCase parts are ("Github", "GitHub") fold to the
// same text but are different entries, chained by next.
type entry struct {
	text   string
	opens  uint64 // bit i: a query may begin at rune i of the name (first 64 runes)
	closes uint64 // bit i: a query may end with rune i
	first  use    // most names belong to one document; saves a slice for each of those
	more   *[]use
	next   int32  // next entry of the same text, -1 at the end
	listed uint32 // number of uses as keyword or alias (not title)
	runes  uint16
	used   bool
}

// uses calls f for each use.
func (e *entry) uses(f func(use)) {
	f(e.first)
	if e.more != nil {
		for _, u := range *e.more {
			f(u)
		}
	}
}

func (e *entry) drop(u use) bool {
	if e.first == u && e.more == nil {
		e.used = false
		return true
	}
	if e.more == nil {
		return false
	}
	more := *e.more
	last := more[len(more)-1]
	if e.first == u {
		e.first = last
	} else if i := slices.Index(more, u); i >= 0 {
		more[i] = last
	} else {
		return false
	}
	if *e.more = more[:len(more)-1]; len(*e.more) == 0 {
		e.more = nil
	}
	return true
}

// intern finds or makes the entry of a name; raw is the name as written.
func (t *table) intern(name *text, raw string) uint32 {
	opens, closes := name.edges()
	first, known := t.byText[name.str]
	if known {
		for id := int32(first); id >= 0; id = t.entries[id].next {
			if e := &t.entries[id]; e.opens == opens && e.closes == closes {
				return uint32(id)
			}
		}
	}
	e := entry{text: raw, opens: opens, closes: closes, next: -1, runes: uint16(name.len())}
	if raw != name.str { // else raw, which the document keeps anyway, does
		e.text = name.str
	}
	if known { // share the string and keep the chain's head, which is the map's value
		e.text, e.next = t.entries[first].text, t.entries[first].next
	}
	id := uint32(len(t.entries))
	if n := len(t.spare); n > 0 {
		id, t.spare = t.spare[n-1], t.spare[:n-1]
		t.entries[id] = e
	} else {
		t.entries = append(t.entries, e)
	}
	if known {
		t.entries[first].next = int32(id)
		return id
	}
	t.byText[e.text] = id
	t.bytes += int64(len(e.text)) // an upper bound: shared strings are counted too
	t.addHead(name, id)
	return id
}

func (t *table) addHead(name *text, id uint32) {
	if name.len() == 1 {
		t.single[name.runes[0]]++
		return
	}
	key := pair(name.runes[0], name.runes[1])
	h := t.heads[key]
	h.count++
	h.lengths |= 1 << min(name.len(), longName)
	t.heads[key] = h
	if name.len() >= longName {
		t.long[key] = append(t.long[key], id)
	}
}

// release takes an entry without uses out of its chain, and the text out of the table with its last entry.
func (t *table) release(id, first uint32, name *text) {
	e := t.entries[id]
	t.entries[id] = entry{}
	t.spare = append(t.spare, id)
	if id != first {
		for p := first; ; p = uint32(t.entries[p].next) {
			if t.entries[p].next == int32(id) {
				t.entries[p].next = e.next
				return
			}
		}
	}
	long := name.len() >= longName
	key := pair(name.runes[0], 0)
	if name.len() > 1 {
		key = pair(name.runes[0], name.runes[1])
	}
	if long {
		dropFrom(t.long, key, id)
	}
	if e.next >= 0 {
		t.byText[e.text] = uint32(e.next)
		if long {
			t.long[key] = append(t.long[key], uint32(e.next))
		}
		return
	}
	delete(t.byText, e.text)
	t.bytes -= int64(len(e.text))
	if name.len() == 1 {
		if t.single[name.runes[0]]--; t.single[name.runes[0]] == 0 {
			delete(t.single, name.runes[0])
		}
		return
	}
	h := t.heads[key]
	if h.count--; h.count == 0 {
		delete(t.heads, key)
	} else {
		t.heads[key] = h
	}
}

func dropFrom(lists map[uint64][]uint32, key uint64, id uint32) {
	list := lists[key]
	i := slices.Index(list, id)
	if i < 0 {
		return
	}
	if len(list) == 1 {
		delete(lists, key)
		return
	}
	list[i] = list[len(list)-1]
	lists[key] = list[:len(list)-1]
}

// edges packs for the first 64 runes where a query may begin and end.
func (t *text) edges() (opens, closes uint64) {
	for i := range min(t.len(), 64) {
		if t.opens(i) {
			opens |= 1 << i
		}
		if t.closes(i + 1) {
			closes |= 1 << i
		}
	}
	return opens, closes
}

// startKeys lists the pairs of runes with which a query contained in this name may begin, each once.
func (t *text) startKeys() []uint64 {
	keys := make([]uint64, 0, 8)
	for i := 0; i+1 < t.len(); i++ {
		if !t.opens(i) {
			continue
		}
		if key := pair(t.runes[i], t.runes[i+1]); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
