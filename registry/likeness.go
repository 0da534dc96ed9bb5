package registry

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"knowledged/document"
)

const (
	// likeEnough is the Jaccard similarity of two queries' features from which they ask for the same: two of three words
	// shared of "parental leave Spain" and "parental leave", but not one of "parental leave" and "sick leave".
	likeEnough = 0.4

	statsGroups   = 50
	groupExamples = 5
)

// QueryGroup is a set of queries that are alike: one document might answer them all.
type QueryGroup struct {
	Count    int       `json:"count"`    // how often any of them was asked
	Queries  int       `json:"queries"`  // different ones
	Examples []string  `json:"examples"` // most asked first; at most 5
	Last     time.Time `json:"last"`
}

// groupAlike puts queries, most asked first, into groups: each joins the group whose first member is most like it. That
// keeps groups about one thing, where chains of likeness would run together.
func groupAlike(queries []QueryCount) []QueryGroup {
	groups := []QueryGroup{}
	leaders := []map[string]bool{} // features of each group's first member
	holding := map[string][]int{}  // feature → groups whose first member has it, ascending
	for _, q := range queries {
		features := featuresOf(q.Query)
		best, likeness := -1, 0.0
		for group, shared := range overlaps(features, holding) {
			all := len(features) + len(leaders[group]) - shared
			if l := float64(shared) / float64(all); l >= likeEnough && (l > likeness || l == likeness && group < best) {
				best, likeness = group, l
			}
		}
		if best < 0 {
			best = len(groups)
			groups, leaders = append(groups, QueryGroup{}), append(leaders, features)
			for f := range features {
				holding[f] = append(holding[f], best)
			}
		}
		g := &groups[best]
		g.Count += q.Count
		g.Queries++
		if len(g.Examples) < groupExamples {
			g.Examples = append(g.Examples, q.Query)
		}
		if q.Last.After(g.Last) {
			g.Last = q.Last
		}
	}
	slices.SortStableFunc(groups, func(a, b QueryGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last))
	})
	return groups[:min(len(groups), statsGroups)]
}

// overlaps counts the features that a query shares with the first member of each group that has any of them.
func overlaps(features map[string]bool, holding map[string][]int) map[int]int {
	shared := map[int]int{}
	for f := range features {
		for _, group := range holding[f] {
			shared[group]++
		}
	}
	return shared
}

// asking are the Chinese words with which one asks, longest first: they part what is asked about.
var asking = strings.NewReplacer(func() []string {
	var pairs []string
	for _, w := range strings.Fields(`为什么 有没有 能不能 是不是 怎么办 怎么样 请问 怎么 怎样 如何 什么 哪里 哪个 哪些 多少 是否 可以 我们 你们 一下 吗 呢 的 了 吧 我 是 在`) {
		pairs = append(pairs, w, " ")
	}
	return pairs
}()...)

var askingEnglish = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`a an the is are was were be been do does did can could should would will how what why where when
		which who i my me we our us you your to of in on for with and or not no it its this that these from by at as there if
		get have has please s t m re`) {
		words[w] = true
	}
	return words
}()

// featuresOf are what a query is about: words without those one asks with, singular; and of Chinese, pairs of characters.
func featuresOf(query string) map[string]bool {
	features := map[string]bool{}
	folded := document.Fold(query)
	for run := range runsOf(asking.Replace(folded)) {
		runes := []rune(run)
		switch {
		case !unicode.Is(unicode.Han, runes[0]):
			if !askingEnglish[run] {
				features[singular(run)] = true
			}
		case len(runes) == 1:
			features[run] = true
		default:
			for i := range len(runes) - 1 {
				features[string(runes[i:i+2])] = true
			}
		}
	}
	if len(features) == 0 { // nothing but words to ask with, or signs
		features[strings.TrimFunc(folded, func(r rune) bool { return unicode.IsPunct(r) && len(folded) > utf8.RuneLen(r) })] = true
	}
	return features
}

// runsOf yields the longest runs of Han characters, and of other letters and digits.
func runsOf(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		const none, han, other = 0, 1, 2
		start, kind := 0, none
		for i, r := range s {
			k := none
			switch {
			case unicode.Is(unicode.Han, r):
				k = han
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
				k = other
			}
			if k == kind {
				continue
			}
			if kind != none && !yield(s[start:i]) {
				return
			}
			start, kind = i, k
		}
		if kind != none {
			yield(s[start:])
		}
	}
}

func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}
