package l0

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Typos are looked for only in words that no text has: whatever is in the texts was meant. The first letter is believed,
// which typists seldom miss and which keeps a question about "bread" from becoming one about "thread".
const (
	minFuzzy = 4 // letters of a word that may be a typo of another
	farFuzzy = 8 // letters from which two mistakes are one typo

	// In a sentence most strange words are just words: "prod" is not "pod", "injection" not "ingestion". There a typo has
	// one mistake and this many letters at least. A word that is a third of the query is what was asked for.
	minInSentence = 6
	sentenceShare = 3

	maxFuzzyWords = 4  // of a query that are looked at
	maxFuzzy      = 64 // runes of a word, and of a Chinese query
	minSwap       = 4  // characters of a Chinese name in which two may have changed places
)

// Correct spells the words of a query that neither a name nor a text has as the keyword or alias that is nearest to each,
// where that makes the query name something (see Match). It is for queries that name nothing. ok is false if there is no
// such spelling.
func (x *Index) Correct(ctx context.Context, query string) (corrected string, ok bool) {
	q := newText(query)
	err := x.read(func(snapshot *scorch.IndexSnapshot) error {
		r := new(ranking)
		if _, _, err := r.open(snapshot); err != nil {
			return err
		}
		known := func(term string) bool {
			n, err := r.count([]byte(term))
			return err != nil || n > 0 || ctx.Err() != nil
		}
		corrected, ok = x.table.correct(q, known)
		return nil
	})
	if err != nil || !ok || len(x.Match(corrected)) == 0 {
		return "", false
	}
	return corrected, true
}

// correct finds the spelling; known says whether a text has a term.
func (t *table) correct(q *text, known func(term string) bool) (string, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out strings.Builder
	from, looked := 0, 0 // runes of q that out has; words looked at
	for i := 0; i < q.len() && looked < maxFuzzyWords; {
		if q.class[i] != letter && q.class[i] != digit {
			i++
			continue
		}
		end := q.identifierEnd(i)
		most := 1
		if sentence := sentenceShare*(end-i) < q.len(); sentence && end-i < minInSentence {
			i = end
			continue
		} else if !sentence && end-i >= farFuzzy {
			most = 2
		}
		if q.suspect(i, end, known) {
			looked++
			if word, ok := t.nearest(q.sub(i, end), most); ok {
				out.WriteString(q.written(from, i))
				out.WriteString(word)
				from = end
			}
		}
		i = end
	}
	if from > 0 {
		out.WriteString(q.written(from, q.len()))
		return out.String(), true
	}
	return t.swapped(q, known)
}

// suspect says whether the identifier [start, end) may be a typo: long enough, not a number or version, and with a part
// that no text has.
func (t *text) suspect(start, end int, known func(string) bool) bool {
	if end-start < minFuzzy || end-start > maxFuzzy {
		return false
	}
	for i := start; i < end; i++ {
		if t.class[i] == digit || t.class[i] == sign || t.class[i] == ideo {
			return false
		}
	}
	whollyKnown, unknown := false, false
	t.identifierTerms(start, end, func(term string, r role) {
		if r == whole {
			whollyKnown = known(term)
		} else if !whollyKnown {
			unknown = unknown || !known(term)
		}
	})
	return unknown && !whollyKnown
}

// written is sub as its author wrote it.
func (t *text) written(start, end int) string { return string(t.cased[start:end]) }

// nearest finds the word of a keyword or alias that word is likeliest a typo of, with most mistakes at most: the one with fewest mistakes, then the one
// most documents have, then the first by spelling.
func (t *table) nearest(word string, most int) (string, bool) {
	letters := []rune(word)
	var row [3][maxFuzzy + 3]int
	best, fewest, shared := "", most+1, uint32(0)
	for other, names := range t.vocabulary[letters[0]] {
		if n := utf8.RuneCountInString(other); n < len(letters)-most || n > len(letters)+most {
			continue
		}
		far := mistakes(letters, []rune(other), fewest, &row)
		if far == 0 || far > most {
			continue
		}
		if cmp.Or(cmp.Compare(far, fewest), -cmp.Compare(names, shared), strings.Compare(other, best)) < 0 {
			best, fewest, shared = other, far, names
		}
	}
	if best == "" {
		return "", false
	}
	return t.spelling(best), true
}

// spelling returns the word as one of the names that have it spells it.
func (t *table) spelling(word string) string {
	r := []rune(word)
	for _, id := range t.starts[pair(r[0], r[1])] {
		if e := &t.entries[id]; strings.Contains(e.text, word) {
			name := newText(t.docs[e.first.doc].names.name(e.first))
			if at := strings.Index(name.str, word); at >= 0 {
				start := utf8.RuneCountInString(name.str[:at])
				return name.written(start, start+len(r))
			}
		}
	}
	return word
}

// learn counts the words of a name that has become a keyword or alias, forget those of one that is none any more.
func (t *table) learn(e *entry) {
	e.words(func(word string) {
		first, _ := utf8.DecodeRuneInString(word)
		if n := utf8.RuneCountInString(word); n < minFuzzy-1 || n > maxFuzzy {
			return
		}
		if t.vocabulary[first] == nil {
			t.vocabulary[first] = map[string]uint32{}
		}
		t.vocabulary[first][word]++
	})
}

func (t *table) forget(e *entry) {
	e.words(func(word string) {
		first, _ := utf8.DecodeRuneInString(word)
		if words := t.vocabulary[first]; words[word] > 1 {
			words[word]--
		} else {
			delete(words, word)
		}
	})
}

// words calls f for the words of the name: runs of letters, and identifiers whole where they have parts. Those with a digit
// are left out.
func (e *entry) words(f func(string)) {
	isPart := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= utf8.RuneSelf }
	for i := 0; i < len(e.text); {
		end, parts, digits := i, 1, false
		for from := i; end < len(e.text) && end-i < 4*maxFuzzy; end++ {
			c := e.text[end]
			if isPart(c) {
				continue
			}
			if c >= '0' && c <= '9' {
				digits = true
				continue
			}
			if (c == '_' || c == '-' || c == '.') && end > i && end+1 < len(e.text) && isPart(e.text[end+1]) {
				if !digits {
					f(e.text[from:end])
				}
				from, parts = end+1, parts+1
				continue
			}
			break
		}
		if end > i && !digits {
			if parts > 1 {
				f(e.text[strings.LastIndexAny(e.text[:end], "_-.")+1 : end])
			}
			f(e.text[i:end])
		}
		i = end + 1
	}
}

// mistakes counts the letters that are wrong, missing, too much, or have changed places with the next (optimal string
// alignment). From limit on it may say more than there are.
func mistakes(a, b []rune, limit int, row *[3][maxFuzzy + 3]int) int {
	before, last, here := row[0][:len(b)+1], row[1][:len(b)+1], row[2][:len(b)+1]
	for j := range last {
		last[j] = j
	}
	fewest := 0 // of the row before
	for i := 1; i <= len(a); i++ {
		here[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			here[j] = min(last[j]+1, here[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				here[j] = min(here[j], before[j-2]+1)
			}
			least = min(least, here[j])
		}
		if min(least, fewest) > limit { // a swap reaches back two rows
			return limit + 1
		}
		fewest = least
		before, last, here = last, here, before
	}
	return last[len(b)]
}

// swapped finds two neighbouring Chinese characters that have changed places in a name (支付关网). Only a pair that no text
// has is tried.
func (t *table) swapped(q *text, known func(string) bool) (string, bool) {
	if q.len() < minSwap || q.len() > maxFuzzy {
		return "", false
	}
	for i := 0; i+1 < q.len(); i++ {
		if q.class[i] != ideo || q.class[i+1] != ideo || q.runes[i] == q.runes[i+1] || known(q.sub(i, i+2)) {
			continue
		}
		spelling := q.written(0, i) + q.written(i+1, i+2) + q.written(i, i+1) + q.written(i+2, q.len())
		variant := newText(spelling)
		var f found
		t.namesIn(variant, &f)
		for _, s := range spans(variant, f.uses) {
			if s.start <= i && s.end >= i+2 && s.end-s.start >= minSwap {
				return spelling, true
			}
		}
	}
	return "", false
}
