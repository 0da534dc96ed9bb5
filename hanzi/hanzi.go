// Package hanzi makes traditional and simplified Chinese comparable: characters one by one, and the words that Taiwan and
// the mainland have different ones for. The data are OpenCC's (Apache-2.0), made smaller by generate.go.
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
var pages, rare = load()

func load() (pages [(last-first)>>8 + 1]*page, rare map[rune]rune) {
	from, to, _ := strings.Cut(strings.TrimSuffix(characters, "\n"), "\n")
	simple := []rune(to)
	rare = map[rune]rune{}
	for i, r := range []rune(from) {
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
	return pages, rare
}

// Simplify maps a traditional character to its simplified form and leaves all others alone. Where several traditional ones
// became one (後 and 后, 發 and 髮) they are one from here on; where one became several, the usual one stands for it: both
// sides of a comparison go through here, so neither is missed.
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
