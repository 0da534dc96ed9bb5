package l0

import (
	"slices"
	"strings"
)

// Analysis is the same for documents and queries, in one pass over the normalised text:
//
//   - Han, kana, Korean: pairs of characters; a lone one as it is. So that a query of one character finds something,
//     titles and keywords get all single characters as well, other fields the last one of each run: with that, every
//     occurrence of X is the beginning of a term (see reader.lone).
//   - Latin and the like: the identifier as a whole (err_timeout, c++, v7.5.0, .net) and its parts (err, timeout).
//   - Nothing is dropped as a stop word: "not" and "all" are keywords to some.
//
// A change here needs a new indexVersion.

// maxTerm is the length in runes to which words are cut: beyond it are hashes and encoded data.
const maxTerm = 64

// role says what a term stands for.
type role uint8

const (
	plain role = iota
	whole      // an identifier whose parts follow; if no document spells it so, the parts speak for it
	lone       // a single Han character or the like
)

// mode says what single characters are wanted for.
type mode uint8

const (
	forQuery mode = iota
	forBody
	forName
)

// terms calls emit for each term of t, in order, with repetition.
func (t *text) terms(m mode, emit func(term string, r role)) {
	for i := 0; i < len(t.runes); {
		switch {
		case t.class[i] == ideo:
			end := i + 1
			for end < len(t.runes) && t.class[end] == ideo {
				end++
			}
			t.ideoTerms(i, end, m, emit)
			i = end
		case t.class[i].inWord():
			end := t.identifierEnd(i)
			t.identifierTerms(i, end, emit)
			i = end
		default:
			i++
		}
	}
}

func (t *text) ideoTerms(start, end int, m mode, emit func(string, role)) {
	for i := start; i < end; i++ {
		if i+1 < end {
			emit(t.sub(i, i+2), plain)
		}
		if end == start+1 || m == forName || m == forBody && i+1 == end {
			emit(t.sub(i, i+1), lone)
		}
	}
}

// identifierEnd returns the end of the word at start and of the words joined to it by single dots, hyphens and
// apostrophes or by underscores.
func (t *text) identifierEnd(start int) int {
	end := start
	for {
		for end < len(t.runes) && t.class[end].inWord() {
			end++
		}
		next := end
		for next < len(t.runes) && t.runes[next] == '_' {
			next++
		}
		if next == end && next < len(t.runes) && joins(t.runes[next]) {
			next++
		}
		if next == end || next == len(t.runes) || !t.class[next].inWord() {
			return end
		}
		end = next
	}
}

func joins(r rune) bool { return r == '.' || r == '-' || r == '\'' }

// identifierTerms emits the identifier [start, end) and, if it has several parts, those. Parts of one character are left
// out: they say nothing.
func (t *text) identifierTerms(start, end int, emit func(string, role)) {
	if start > 0 && t.runes[start-1] == '.' && t.class[start] == letter && t.opens(start-1) {
		emit(t.sub(start-1, min(end, start+maxTerm)), whole) // .net, .gitignore
	}
	if t.partEnd(start, end) == end {
		emit(singular(t.sub(start, min(end, start+maxTerm))), plain)
		return
	}
	var buf [8]string
	parts := buf[:0]
	for from := start; from < end; {
		to := t.partEnd(from, end)
		if to-from > 1 {
			parts = append(parts, t.sub(from, min(to, from+maxTerm)))
		}
		for from = to; from < end && !t.class[from].inWord(); {
			from++
		}
	}
	r := whole
	if len(parts) == 0 { // "e.g", "a_b": nothing else stands for it
		r = plain
	}
	emit(t.sub(start, min(end, start+maxTerm)), r)
	for _, part := range parts {
		emit(singular(part), plain)
	}
}

// partEnd returns the end of the identifier part at start. A number goes on across dots: 7.5.0 is one part.
func (t *text) partEnd(start, end int) int {
	for i := start + 1; i < end; i++ {
		switch {
		case t.class[i].inWord():
			if t.part[i] || t.class[i-1] == sign && t.class[i] != sign {
				return i
			}
		case t.runes[i] != '.' || t.class[i-1] != digit || t.class[i+1] != digit:
			return i
		}
	}
	return end
}

// plurals are those that no rule below makes of their singular.
var plurals = map[string]string{
	"analyses": "analysis", "appendices": "appendix", "children": "child", "criteria": "criterion", "indices": "index",
	"matrices": "matrix", "people": "person", "schemata": "schema", "vertices": "vertex",
}

// singular folds the English plural, so that "timeouts" finds "timeout". Words that merely end in s come out odd
// ("kubernete") but alike in documents and queries; so do those whose singular ends as if a plural had been cut off
// ("cach", "cooky"). Verbs stay as they are: with -ing and -ed cut as well, the judged set's nDCG@10 was .713 after .715 by
// full text and .769 after .764 fused, both within noise, and questions that the folder cannot answer found more that was
// not about them.
func singular(word string) string {
	n := len(word)
	if n < 4 {
		return word
	}
	for i := 0; i < n; i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	if s, ok := plurals[word]; ok {
		return s
	}
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(word, s) })
	}
	switch {
	case ends("ie") && n > 4:
		return word[:n-2] + "y"
	case ends("che") && n > 4:
		return word[:n-1]
	case word[n-1] != 's' || word == "https", ends("ss", "us", "is"):
		return word
	case ends("ies") && n > 4:
		return word[:n-3] + "y"
	case ends("sses", "xes", "ches", "shes", "tuses", "ruses", "nuses"):
		return word[:n-2]
	}
	return word[:n-1]
}
