// Package hanzi makes traditional and simplified Chinese comparable: characters one by one, and the words that Taiwan and
// the mainland have different ones for. The data are OpenCC's (Apache-2.0), made smaller by generate.go, and a list of
// variants.
package hanzi

import (
	_ "embed"
	"strings"
	"sync"
)

//go:generate go run generate.go

//go:embed characters.txt
var characters string

//go:embed regional.txt
var regional string

// Characters that are mapped lie between first and 0x9fff or, rare ones, in the supplementary planes.
const (
	first = 0x3400
	last  = 0x9fff
)

type page [256]rune

// The table is looked at for each character of all text: a lock or a once would cost as much as the look. Building it takes
// some 50 µs.
var pages, rare, mainland = load()

func load() (pages [(last-first)>>8 + 1]*page, rare map[rune]rune, mainland string) {
	lines := strings.SplitN(strings.TrimSuffix(characters, "\n"), "\n", 3) // characters, what stands for them, and see Traditional
	simple := []rune(lines[1])
	rare = map[rune]rune{}
	for i, r := range []rune(lines[0]) {
		if r < first || r > last {
			rare[r] = simple[i]
			continue
		}
		p := &pages[(r-first)>>8]
		if *p == nil {
			*p = new(page)
		}
		(*p)[r&0xff] = simple[i]
	}
	return pages, rare, lines[2]
}

// Simplify maps a traditional character, or a variant, to the one that stands for it in comparisons, and leaves all others
// alone. Where several traditional ones became one (後 and 后, 發 and 髮) they are one from here on, and where one became
// several (畫: 画 and 划) or two are written for each other (帐 and 账), those are: both sides of a comparison go through here,
// so neither is missed, and what the author wrote is what is shown.
func Simplify(r rune) rune {
	if r < first {
		return r
	}
	if r > last {
		if s, ok := rare[r]; ok {
			return s
		}
		return r
	}
	if p := pages[(r-first)>>8]; p != nil {
		if s := p[r&0xff]; s != 0 {
			return s
		}
	}
	return r
}

// Traditional says whether the mainland does not write the character: 帳, but neither 帐 nor 账, which are one in comparisons.
func Traditional(r rune) bool { return Simplify(r) != r && !strings.ContainsRune(mainland, r) }

// Pair is one thing's words on the mainland and in Taiwan, both in simplified characters: 数据库, 资料库.
type Pair struct{ Mainland, Taiwan string }

// Regional lists the words that differ by more than characters. The slice is shared and read-only.
var Regional = sync.OnceValue(func() []Pair {
	var pairs []Pair
	for line := range strings.Lines(regional) {
		mainland, taiwan, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		pairs = append(pairs, Pair{mainland, taiwan})
	}
	return pairs
})
