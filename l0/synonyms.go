package l0

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"knowledged/hanzi"
)

// Synonym says that a query with From is asking for To as well.
type Synonym struct{ From, To string }

const bySynonym = "synonym"

// Bounds of what one query is expanded to.
const (
	maxOccurrences = 32
	maxOthers      = 8 // of one occurrence
)

// lexicon finds the words of a query that others may stand in for: the folder's synonyms, and the words that Taiwan and
// the mainland have for one thing.
type lexicon struct {
	others map[string][]other    // by folded word
	heads  map[rune]uint64       // first rune → bit n: a word of n runes
	ascii  [utf8.RuneSelf]uint64 // the same of ASCII: most of most queries
}

type other struct {
	word     string // as written
	regional bool
}

// shortRegional is up to how many characters a regional word is believed only in a query with traditional characters: 支援,
// 品质 and 资料 are words of the mainland as well, 资料库 is none.
const shortRegional = 2

var regionalLexicon = sync.OnceValue(func() *lexicon { return newLexicon(nil) })

func newLexicon(synonyms []Synonym) *lexicon {
	x := &lexicon{others: map[string][]other{}, heads: map[rune]uint64{}}
	for _, s := range synonyms {
		x.add(s.From, other{word: s.To})
	}
	for _, p := range hanzi.Regional() {
		x.add(p.Mainland, other{p.Taiwan, true})
		x.add(p.Taiwan, other{p.Mainland, true})
	}
	return x
}

func (x *lexicon) add(from string, to other) {
	t := newText(from)
	if t.len() < 2 || t.len() > longName || len(x.others[t.str]) == maxOthers {
		return
	}
	x.others[t.str] = append(x.others[t.str], to)
	if r := t.runes[0]; r < utf8.RuneSelf {
		x.ascii[r] |= 1 << t.len()
	} else {
		x.heads[r] |= 1 << t.len()
	}
}

// occurrence is a word of a query, in runes, and what may stand in for it.
type occurrence struct {
	start, end int
	others     []string
}

// in finds the words that q has, the longest at each place; they do not overlap.
func (x *lexicon) in(q *text) []occurrence {
	var list []occurrence
	traditional := sync.OnceValue(q.traditional) // it reads the whole query: once, and only if asked for
	for i := 0; i < q.len() && len(list) < maxOccurrences; {
		var lengths uint64
		if r := q.runes[i]; r < utf8.RuneSelf {
			lengths = x.ascii[r]
		} else {
			lengths = x.heads[r]
		}
		if lengths == 0 || !q.opens(i) {
			i++
			continue
		}
		next := i + 1
		for n := min(longName, q.len()-i); n > 1; n-- {
			if lengths&(1<<n) == 0 || !q.closes(i+n) || !q.holds(i, i+n) {
				continue
			}
			if others := x.wordsFor(q, i, i+n, traditional); len(others) > 0 {
				list = append(list, occurrence{i, i + n, others})
				next = i + n
				break
			}
		}
		i = next
	}
	return list
}

func (x *lexicon) wordsFor(q *text, start, end int, traditional func() bool) (words []string) {
	for _, o := range x.others[q.sub(start, end)] {
		if !o.regional || end-start > shortRegional || traditional() {
			words = append(words, o.word)
		}
	}
	return words
}

// traditional says whether the text was written with characters that the mainland does not use.
func (t *text) traditional() bool {
	for _, r := range t.cased {
		if r >= firstHan && hanzi.Traditional(r) {
			return true
		}
	}
	return false
}

// SetSynonyms replaces the synonyms. Lookups under way may still have the old ones.
func (x *Index) SetSynonyms(list []Synonym) { x.lexicon.Store(newLexicon(list)) }

func (x *Index) words() *lexicon {
	if l := x.lexicon.Load(); l != nil {
		return l
	}
	return regionalLexicon()
}

// namesBySynonym finds names that the query has once a word is replaced by one that stands for it. A word that is part of a
// name as typed is meant as typed: a synonym never makes two matches of a word that names one document. The caller holds mu.
func (t *table) namesBySynonym(q *text, x *lexicon, f *found) {
	words := x.in(q)
	if len(words) == 0 || slices.ContainsFunc(f.uses, func(u foundUse) bool { return u.how == nameContainsQuery }) {
		return
	}
	typed := spans(q, f.uses)
	variant := texts.Get().(*text)
	defer texts.Put(variant)
	for _, w := range words {
		if slices.ContainsFunc(typed, func(s span) bool { return s.start < w.end && w.start < s.end }) {
			continue
		}
		around := q.around(w)
		before, after := q.str[q.off[around.start]:q.off[w.start]], q.str[q.off[w.end]:q.off[around.end]]
		for _, o := range w.others {
			if variant.set(before + o + after); variant.len() < around.len()-(w.end-w.start) {
				continue // what stood apart has become one character
			}
			t.namesAcross(q, w, around, variant, f)
		}
	}
}

// reach is how far from a word a name that has it may begin or end, in runes. What a long question says elsewhere is read
// once, not once more for each word that stands for another.
const reach = 2 * longName

// around is the part of a query that a name with the word w can have. It neither begins nor ends with what text.set leaves out.
func (t *text) around(w occurrence) span {
	s := span{max(0, w.start-reach), min(t.len(), w.end+reach)}
	outer := func(i int) bool { return t.class[i] == blank || isJoiner(t.runes[i]) }
	for s.start < w.start && outer(s.start) {
		s.start++
	}
	for s.end > w.end && outer(s.end-1) {
		s.end--
	}
	return s
}

// namesAcross adds the names that variant, which is the part of q with another word for w, has where it differs from q.
func (t *table) namesAcross(q *text, w occurrence, part span, variant *text, f *found) {
	grown := variant.len() - part.len()
	from, to := w.start-part.start, w.end-part.start+grown // of the other word in variant
	var more found
	t.namesIn(variant, &more)
	for i, u := range more.uses {
		for _, s := range spans(variant, more.uses[i:i+1]) {
			if s.start < to && from < s.end {
				u.how, u.as = bySynonym, q.sub(part.start+min(s.start, from), min(part.start+max(s.end, to)-grown, q.len()))
				f.uses = append(f.uses, u)
				break
			}
		}
	}
	if start, end := q.withoutFrame(); start == w.start && end == w.end { // the word is all that is asked for
		whole := texts.Get().(*text)
		defer texts.Put(whole)
		whole.set(variant.sub(from, to))
		var more found
		t.namesAround(whole, &more)
		for _, u := range more.uses {
			u.how, u.as = bySynonym, q.sub(start, end)
			f.uses = append(f.uses, u)
		}
	}
}

type span struct{ start, end int }

func (s span) len() int { return s.end - s.start }

// spans lists where in q the names found stand, in runes.
func spans(q *text, uses []foundUse) (list []span) {
	for i, u := range uses {
		if i > 0 && u.name == uses[i-1].name {
			continue
		}
		name := u.name.text
		for from := 0; ; {
			at := strings.Index(q.str[from:], name)
			if at < 0 {
				break
			}
			start, _ := slices.BinarySearch(q.off, int32(from+at))
			if end := start + int(u.name.runes); q.holds(start, end) {
				list = append(list, span{start, end})
			}
			_, size := utf8.DecodeRuneInString(name)
			from += at + size
		}
	}
	return list
}
