package l0

import (
	"context"

	"knowledged/document"
)

// synonymWeight is what a word counts that stands in for the one asked for.
const synonymWeight = 0.6

// expansion is a word of a query with the words that stand in for it, as terms.
type expansion struct {
	own    []queryTerm
	others []replacement
}

type replacement struct {
	word  string
	terms []queryTerm
}

func (x *lexicon) expansions(query string) (list []expansion) {
	q := texts.Get().(*text)
	defer texts.Put(q)
	q.set(query)
	for _, w := range x.in(q) {
		e := expansion{own: queryTerms(q.sub(w.start, w.end))}
		for _, o := range w.others {
			e.others = append(e.others, replacement{o, queryTerms(o)})
		}
		list = append(list, e)
	}
	return list
}

// tally is what chunks score by one word. Slices are indexed by chunk.
type tally struct {
	score, covered []float32
	hits           []uint32
	mass           float64 // idf of the word's terms that count towards I(q)
	found          float64 // of those that any chunk has
	whole          float64 // of all that a chunk must have to have the word
}

// expand adds what the words score that stand in for others. A chunk has of a word and its replacements the best, not the
// sum, so that saying a thing in all its words is no merit. Where no chunk has the word itself, the query is taken to ask
// for the replacement that says most: change is what I(q)'s mass becomes by that. why explains scores by chunk.
func (r *ranking) expand(ctx context.Context, list []expansion, explain bool) (why map[uint32][]document.Contribution, change float64, err error) {
	if explain {
		why = map[uint32][]document.Contribution{}
	}
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		own, err := r.tally(e.own)
		if err != nil {
			return nil, 0, err
		}
		most := 0.0
		for _, o := range e.others {
			other, err := r.tally(o.terms)
			if err != nil {
				return nil, 0, err
			}
			share := float32(1) // of the query's mass that the replacement stands for
			if own.found > 0 {
				share = float32(own.mass / other.mass)
			}
			for _, chunk := range other.hits {
				if float64(other.covered[chunk]) < 0.999*other.whole {
					continue // 资料 is not 资料库
				}
				counts, err := r.counts(chunk)
				if err != nil {
					return nil, 0, err
				}
				if counts {
					most = max(most, other.mass)
				}
				gain := synonymWeight*other.score[chunk] - own.score[chunk]
				if gain <= 0 {
					continue
				}
				if r.score[chunk] == 0 {
					r.hits = append(r.hits, chunk)
				}
				r.score[chunk] += gain
				own.score[chunk] += gain
				if more := share*other.covered[chunk] - own.covered[chunk]; more > 0 {
					r.covered[chunk] += more
					own.covered[chunk] += more
				}
				if explain {
					why[chunk] = append(why[chunk], document.Contribution{Term: o.word, Field: bySynonym, Score: float64(gain)})
				}
			}
		}
		if own.found == 0 && most > 0 {
			change += most - own.mass
			r.known += most
		}
	}
	return why, change, nil
}

// tally scores the terms by themselves.
func (r *ranking) tally(terms []queryTerm) (tally, error) {
	t := tally{score: make([]float32, len(r.score)), covered: make([]float32, len(r.score))}
	for _, term := range terms {
		weight, err := r.gather(term)
		if err != nil {
			return t, err
		}
		for _, chunk := range r.touched {
			if t.score[chunk] == 0 {
				t.hits = append(t.hits, chunk)
			}
			t.score[chunk] += float32(weight) * saturate(r.tf[chunk])
			t.covered[chunk] += float32(weight)
			r.tf[chunk] = 0
		}
		found, err := r.present()
		if err != nil {
			return t, err
		}
		if found {
			t.found += weight
		}
		if term.role != whole {
			t.whole += weight
		}
		if found || term.role != whole {
			t.mass += weight
		}
	}
	return t, nil
}
