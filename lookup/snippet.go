package lookup

import (
	"math/bits"
	"strings"
	"unicode"

	"knowledged/hanzi"
)

// snippetChars is the length of a snippet, in characters.
const snippetChars = 300

// snippet returns the part of a passage that holds most of the query's terms: whole sentences or lines where they fit.
func snippet(text, query string) string {
	r := []rune(strings.TrimSpace(text))
	if len(r) <= snippetChars {
		return squeeze(string(r))
	}
	terms := queryTerms(query)
	units := sentences(r, terms)
	from, to, best := 0, 0, -1
	for i := range units {
		// A window starts where a match is; only a passage without any match is shown from its start.
		if units[i].terms == 0 && i > 0 {
			continue
		}
		var mask uint64
		for j := i; j < len(units) && (j == i || units[j].end-units[i].start <= snippetChars); j++ {
			mask |= units[j].terms
			if w := weight(mask, terms); w > best {
				from, to, best = i, j, w
			}
		}
	}
	start, end := units[from].start, units[to].end
	for to+1 < len(units) && units[to+1].end-start <= snippetChars {
		to++
		end = units[to].end
	}
	if end-start <= snippetChars {
		return squeeze(string(r[start:end]))
	}
	return cutAround(r[start:end], terms)
}

// span is a sentence or line of a passage, in runes, and which terms it holds (a bit each).
type span struct {
	start, end int
	terms      uint64
}

// sentences splits at line ends and at full stops of both scripts.
func sentences(r []rune, terms [][]rune) []span {
	var out []span
	add := func(start, end int) {
		for start < end && unicode.IsSpace(r[start]) {
			start++
		}
		if start < end {
			out = append(out, span{start, end, held(r[start:end], terms)})
		}
	}
	start := 0
	for i, c := range r {
		switch {
		case c == '\n', strings.ContainsRune("。！？；", c),
			strings.ContainsRune(".!?;", c) && i+1 < len(r) && unicode.IsSpace(r[i+1]):
			add(start, i+1)
			start = i + 1
		}
	}
	add(start, len(r))
	return out
}

func held(r []rune, terms [][]rune) uint64 {
	folded := foldedRunes(r)
	var mask uint64
	for i, t := range terms {
		if indexRunes(folded, t, 0) >= 0 {
			mask |= 1 << i
		}
	}
	return mask
}

// weight prefers long terms: an identifier says more than a two-character piece of a sentence.
func weight(mask uint64, terms [][]rune) int {
	w := 0
	for m := mask; m != 0; m &= m - 1 {
		w += len(terms[bits.TrailingZeros64(m)])
	}
	return w
}

// queryTerms are the words of a query and the two-character pieces of its Chinese, folded; at most 64, since a bit each.
func queryTerms(query string) [][]rune {
	var out [][]rune
	seen := make(map[string]bool)
	add := func(t []rune) {
		if len(t) > 1 && len(out) < 64 && !seen[string(t)] {
			seen[string(t)] = true
			out = append(out, t)
		}
	}
	var word []rune
	var last rune // the ideograph before this one, if any
	for _, c := range query {
		c = foldRune(c)
		switch {
		case c >= 0x2E80 && unicode.IsLetter(c):
			add(word)
			word = nil
			if last != 0 {
				add([]rune{last, c})
			}
			last = c
			continue
		case unicode.IsLetter(c) || unicode.IsNumber(c) || c == '_':
			word = append(word, c)
		default:
			add(word)
			word = nil
		}
		last = 0
	}
	add(word)
	return out
}

// foldRune is case, width and script folding rune by rune, so that offsets stay true.
func foldRune(c rune) rune {
	if c >= 0xFF01 && c <= 0xFF5E {
		c -= 0xFEE0
	}
	return hanzi.Simplify(unicode.ToLower(c))
}

func foldedRunes(r []rune) []rune {
	folded := make([]rune, len(r))
	for i, c := range r {
		folded[i] = foldRune(c)
	}
	return folded
}

// cutAround cuts one overlong sentence (a log line, a table row) around the first term in it.
func cutAround(r []rune, terms [][]rune) string {
	folded := foldedRunes(r)
	first := -1
	for _, t := range terms {
		if i := indexRunes(folded, t, 0); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	start := max(0, first-snippetChars/4)
	for start > 0 && start < first && wordRune(r[start-1]) && wordRune(r[start]) {
		start++ // do not begin inside a word
	}
	end := min(len(r), start+snippetChars-6)
	out := strings.TrimSpace(string(r[start:end]))
	if start > 0 {
		out = "..." + out
	}
	if end < len(r) {
		out += "..."
	}
	return squeeze(out)
}

func wordRune(c rune) bool {
	return c < 0x2E80 && (unicode.IsLetter(c) || unicode.IsNumber(c) || c == '_')
}

// squeeze drops blank lines and blanks at line ends.
func squeeze(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	out := lines[:0]
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t"); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
