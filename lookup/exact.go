package lookup

import (
	"cmp"
	"math"
	"slices"
	"unicode"

	"knowledged/document"
)

// leadStrength is the strength from which an exact match comes before all others: its names cover half the query and are
// its own, or the whole query is a name that up to four documents share.
const leadStrength = 0.5

// exactMatch is an exact match with what it is worth.
type exactMatch struct {
	path     string
	doc      *Doc
	names    []document.MatchedName
	cover    float64 // share of the query's words of content that its names cover, by their width, 0..1
	strength float64 // the same, each letter weighed by how few documents share the name, 0..1
	text     float64 // best full-text score of its chunks, for the order of L0
}

// weighMatches fills in cover and strength. A name that many documents share says little about any of them: it is worth
// 1/sqrt(documents). A query that is part of a name is covered whole.
func weighMatches(query string, matches []exactMatch) {
	sharers := make(map[string]int)
	for _, m := range matches {
		seen := make(map[string]bool, len(m.names)) // a document may match one name twice, as keyword and title
		for _, n := range m.names {
			if k := shareKey(n); !seen[k] {
				seen[k] = true
				sharers[k]++
			}
		}
	}
	q := []rune(document.Fold(query))
	content := contentMask(q)
	worth := make([]float64, len(q)) // of each letter, by the best name that covers it
	for i := range matches {
		m := &matches[i]
		clear(worth)
		for _, n := range m.names {
			w := 1 / math.Sqrt(float64(sharers[shareKey(n)]))
			if n.How == "name_contains_query" {
				for j := range worth {
					worth[j] = max(worth[j], w)
				}
				continue
			}
			typed := n.Name
			if n.As != "" { // a word that stands for it
				typed = n.As
			}
			name := []rune(document.FoldName(typed))
			for at := indexRunes(q, name, 0); at >= 0; at = indexRunes(q, name, at+1) {
				for j := range name {
					worth[at+j] = max(worth[at+j], w)
				}
			}
		}
		all, covered, sum := 0.0, 0.0, 0.0
		for j, w := range worth {
			if !content[j] && w == 0 {
				continue
			}
			all += width(q[j])
			if w > 0 {
				covered += width(q[j])
				sum += w * width(q[j])
			}
		}
		if all == 0 { // the query is punctuation, and so is the name
			all, covered, sum = 1, 1, slices.Max(append(worth, 0))
		}
		m.cover, m.strength = covered/all, sum/all
	}
}

// shareKey says by what a match is shared: the name, or, where names contain the query, the query itself.
func shareKey(n document.MatchedName) string {
	if n.How == "name_contains_query" {
		return "\x00query"
	}
	return document.FoldName(n.Name)
}

// significant leaves blanks and punctuation out of the reckoning, save those that belong to words (C++, C#).
func significant(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '+' || r == '#'
}

func indexRunes(s, sub []rune, from int) int {
	if len(sub) == 0 {
		return -1
	}
	for i := from; i+len(sub) <= len(s); i++ {
		if slices.Equal(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}

// orderMatches puts matches in the order of L0 (SPEC 2.3): by full-text score, equal scores by path.
func orderMatches(matches []exactMatch) {
	slices.SortFunc(matches, func(a, b exactMatch) int {
		return cmp.Or(-cmp.Compare(a.text, b.text), cmp.Compare(a.path, b.path))
	})
}
