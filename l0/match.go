package l0

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"knowledged/document"
)

const (
	queryContainsName = "query_contains_name"
	nameContainsQuery = "name_contains_query"
)

// texts holds query texts for reuse: a lookup then allocates little more than its answer.
var texts = sync.Pool{New: func() any { return new(text) }}

// match lists the documents that the query names, by path.
func (t *table) match(query string) []document.Match { return t.matchWith(query, nil) }

// matchWith is match with words that others may stand in for; nil: there are none.
func (t *table) matchWith(query string, words *lexicon) []document.Match {
	q := texts.Get().(*text)
	defer texts.Put(q)
	q.set(query)
	if q.len() == 0 {
		return []document.Match{}
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	var f found
	t.namesIn(q, &f)
	asked := q
	if end := q.len(); end <= t.longest+8 { // 8: what withoutFrame may take off
		if start, end := q.withoutFrame(); start > 0 || end < q.len() {
			framed := q
			q = texts.Get().(*text)
			defer texts.Put(q)
			q.set(framed.sub(start, end))
		}
		t.namesAround(q, &f)
	}
	if words != nil {
		t.namesBySynonym(asked, words, &f)
	}
	return t.answer(&f)
}

// found collects uses by document.
type found struct {
	uses  []foundUse
	taken []uint32 // names that the query contains, by their first entry: a second time they say nothing new
}

type foundUse struct {
	use
	how  string
	as   string // what the query has instead of the name
	name *entry // valid while the table is locked
}

func (f *found) add(e *entry, how string, titles bool) {
	e.uses(func(u use) {
		if titles || u.kind != title {
			f.uses = append(f.uses, foundUse{use: u, how: how, name: e})
		}
	})
}

// namesIn finds the names that the query contains.
func (t *table) namesIn(q *text, f *found) {
	n := q.len()
	for i := range n {
		if !q.opens(i) {
			continue
		}
		if t.single[q.runes[i]] > 0 && q.holds(i, i+1) {
			t.take(q.sub(i, i+1), f)
		}
		if i+1 == n {
			break
		}
		key := pair(q.runes[i], q.runes[i+1])
		h, ok := t.heads[key]
		if !ok {
			continue
		}
		for length := 2; length < longName && i+length <= n; length++ {
			if h.lengths&(1<<length) != 0 && q.closes(i+length) && q.holds(i, i+length) {
				t.take(q.sub(i, i+length), f)
			}
		}
		if h.lengths&(1<<longName) == 0 {
			continue
		}
		for _, id := range t.long[key] {
			name := &t.entries[id]
			if end := i + int(name.runes); end <= n && strings.HasPrefix(q.str[q.off[i]:], name.text) && q.holds(i, end) {
				t.take(name.text, f)
			}
		}
	}
}

// take adds all entries of the text.
func (t *table) take(name string, f *found) {
	first, ok := t.byText[name]
	if !ok || slices.Contains(f.taken, first) {
		return
	}
	f.taken = append(f.taken, first)
	for id := int32(first); id >= 0; id = t.entries[id].next {
		f.add(&t.entries[id], queryContainsName, true)
	}
}

// namesAround finds the keywords and aliases that contain the query.
func (t *table) namesAround(q *text, f *found) {
	n := q.len()
	if n == 0 || n > t.longest {
		return
	}
	whole := n == 1 && q.class[0].inWord() || q.isPunct(0, n)
	if n == 1 || whole { // rare, and the pairs of runes don't help: look at all
		for id := range t.entries {
			if e := &t.entries[id]; e.listed > 0 && strings.Contains(e.text, q.str) && (!whole || newText(e.text).find(q)) {
				f.add(e, nameContainsQuery, false)
			}
		}
		return
	}
	list := t.starts[pair(q.runes[0], q.runes[1])]
	for i := 1; i+1 < n && len(list) > 0; i++ { // where a name that contains q opens too: take the rarest
		if q.class[i] == ideo || q.class[i] == letter && !q.class[i-1].inWord() {
			if other := t.starts[pair(q.runes[i], q.runes[i+1])]; len(other) < len(list) {
				list = other
			}
		}
	}
	for _, id := range list {
		if e := &t.entries[id]; e.contains(q) {
			f.add(e, nameContainsQuery, false)
		}
	}
}

// find says whether q, a single character or punctuation, stands in t by itself.
func (t *text) find(q *text) bool {
	for i := 0; i+q.len() <= t.len(); i++ {
		if slices.Equal(t.runes[i:i+q.len()], q.runes) && t.holds(i, i+q.len()) {
			return true
		}
	}
	return false
}

// contains says whether the name contains the query, beginning and ending where its parts do.
func (e *entry) contains(q *text) bool {
	for from := 0; ; {
		at := strings.Index(e.text[from:], q.str)
		if at < 0 {
			return false
		}
		from += at
		first := utf8.RuneCountInString(e.text[:from])
		last := first + q.len() - 1
		if last > 63 { // beyond the edges kept: see afresh; camelCase parts are lost there
			if t := newText(e.text); t.opens(first) && t.closes(last+1) {
				return true
			}
		} else if e.opens&(1<<first) != 0 && e.closes&(1<<last) != 0 {
			return true
		}
		_, size := utf8.DecodeRuneInString(e.text[from:])
		from += size
	}
}

// withoutFrame leaves out the punctuation that people put around what they mean (quotes, a question mark): no keyword
// contains "支付?". Punctuation that may be part of a name is kept (".net", "/etc", "c++", "--flag").
func (t *text) withoutFrame() (start, end int) {
	start, end = 0, t.len()
	for start < end && t.class[start] == punct && frames(t.runes[start]) {
		start++
	}
	for end > start && (t.class[end-1] == blank || t.class[end-1] == punct && (frames(t.runes[end-1]) || t.runes[end-1] == '.')) {
		end--
	}
	for start < end && t.class[start] == blank {
		start++
	}
	if t.isPunct(start, end) {
		return 0, t.len()
	}
	return start, end
}

func frames(r rune) bool {
	switch r {
	case '?', '!', ',', ';', ':', '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', '“', '”', '¿', '¡', '«', '»':
		return true
	}
	return r >= 0x3001 && r <= 0x301f
}

// answer groups the uses by document and sorts: documents by path, names as the document gives them.
func (t *table) answer(f *found) []document.Match {
	slices.SortStableFunc(f.uses, func(a, b foundUse) int { return int(a.doc) - int(b.doc) })
	matches := []document.Match{}
	for i := 0; i < len(f.uses); {
		end := i + 1
		for end < len(f.uses) && f.uses[end].doc == f.uses[i].doc {
			end++
		}
		matches = append(matches, t.docs[f.uses[i].doc].match(f.uses[i:end]))
		i = end
	}
	slices.SortFunc(matches, func(a, b document.Match) int { return strings.Compare(a.Path, b.Path) })
	return matches
}

// match describes one document's uses. A name that is the query, or occurs in it twice, is reported once.
func (d *tableDoc) match(uses []foundUse) document.Match {
	slices.SortStableFunc(uses, func(a, b foundUse) int {
		if a.kind != b.kind {
			return int(a.kind) - int(b.kind)
		}
		return int(a.order) - int(b.order)
	})
	m := document.Match{Path: d.path, Names: make([]document.MatchedName, 0, len(uses))}
	for i, u := range uses {
		if i > 0 && u.use == uses[i-1].use {
			continue
		}
		m.Names = append(m.Names, document.MatchedName{Name: d.names.name(u.use), Kind: u.kind.String(), How: u.how, As: u.as})
	}
	return m
}
