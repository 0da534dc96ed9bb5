package l0

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"knowledged/document"
)

// SearchOptions says what Search returns.
type SearchOptions struct {
	K       int                       // number of chunks wanted; 0: only what Result says of the terms
	Keep    func(chunkID string) bool // chunks to consider; nil for all. Called for candidates only
	Explain bool
}

// Result is a ranking of chunks and what fusion needs to judge it.
type Result struct {
	Hits     []document.Hit // best first, equal scores by id; never nil
	Ideal    float64        // I(q): what a chunk would score that had every term of the query over and over
	Coverage float64        // share of the query's idf that the terms in the best hit hold; with K = 0, those in any chunk to consider
}

const (
	// maxTerms bounds a query's cost; of a longer one the terms that say most are taken.
	maxTerms = 64
	// maxLookups bounds the terms of which that is found out.
	maxLookups = 2048

	// maxLone is how many terms a query may have for its single characters to be looked for inside words too, which is
	// slow for frequent ones. In longer queries the other terms say enough.
	maxLone = 8
)

// queryTerm is a distinct term of a query.
type queryTerm struct {
	text string
	role role
	idf  float64
}

var rankings = sync.Pool{New: func() any { return new(ranking) }}

// Search ranks the chunks by BM25.
func (x *Index) Search(ctx context.Context, query string, opt SearchOptions) (Result, error) {
	result := Result{Hits: []document.Hit{}}
	terms := queryTerms(query)
	expansions := x.words().expansions(query)
	err := x.read(func(snapshot *scorch.IndexSnapshot) error {
		r := rankings.Get().(*ranking)
		size, live, err := r.open(snapshot)
		if err != nil {
			return err
		}
		r.cache, r.live = &x.cache, live
		if r.avg, err = x.lengths.averages(snapshot, &r.reader); err != nil {
			return err
		}
		if opt.K <= 0 {
			r.keep = opt.Keep
		}
		r.reset(size)
		mass, rest := 0.0, 0.0
		if terms, rest, err = r.telling(ctx, terms); err != nil {
			return err
		}
		if mass, err = r.run(ctx, terms); err != nil {
			return err
		}
		mass += rest
		more, change, err := r.expand(ctx, expansions, opt.Explain)
		if err != nil {
			return err
		}
		mass += change
		result.Ideal = (k1 + 1) * mass
		best, err := r.best(opt)
		if err != nil {
			return err
		}
		for _, c := range best {
			hit := document.Hit{ChunkID: c.id, Score: float64(c.score)}
			if opt.Explain {
				if hit.Why, err = r.explain(c.chunk, terms); err != nil {
					return err
				}
				if len(more[c.chunk]) > 0 {
					hit.Why = append(hit.Why, more[c.chunk]...)
					slices.SortStableFunc(hit.Why, byScore)
				}
			}
			result.Hits = append(result.Hits, hit)
		}
		switch {
		case mass == 0:
		case opt.K <= 0:
			result.Coverage = min(r.known/mass, 1)
		case len(best) > 0:
			result.Coverage = min(float64(r.covered[best[0].chunk])/mass, 1)
		}
		r.release()
		rankings.Put(r) // not after an error or a panic: its state is unknown then
		return nil
	})
	if err != nil {
		return Result{Hits: []document.Hit{}}, fmt.Errorf("search full text: %w", err)
	}
	return result, nil
}

// release lets go of what belongs to the snapshot.
func (r *ranking) release() {
	clear(r.segments)
	r.cache, r.keep = nil, nil
	r.list, r.iterator = nil, nil
}

// queryTerms lists the distinct terms of a query in their order.
func queryTerms(query string) []queryTerm {
	t := newText(query)
	seen := map[string]int{}
	var terms []queryTerm
	t.terms(forQuery, func(term string, r role) {
		if i, ok := seen[term]; ok {
			if terms[i].role == whole {
				terms[i].role = r
			}
			return
		}
		if len(terms) < maxLookups {
			seen[term] = len(terms)
			terms = append(terms, queryTerm{text: term, role: r})
		}
	})
	if len(terms) > maxLone {
		for i := range terms {
			if terms[i].role == lone {
				terms[i].role = plain
			}
		}
	}
	return terms
}

// telling cuts a long query down to the terms with the highest idf that occur at all. rest is the idf of the others,
// which still count towards I(q): the query did ask for them.
func (r *ranking) telling(ctx context.Context, terms []queryTerm) (kept []queryTerm, rest float64, err error) {
	if len(terms) <= maxTerms {
		return terms, 0, nil
	}
	for i := range terms {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		t := &terms[i]
		n, err := r.count([]byte(t.text))
		if err != nil {
			return nil, 0, err
		}
		t.idf = idf(r.live, min(n, r.live))
		if n > 0 {
			kept = append(kept, *t)
		} else if t.role != whole {
			rest += t.idf
		}
	}
	slices.SortStableFunc(kept, func(a, b queryTerm) int { return cmp.Compare(b.idf, a.idf) })
	for _, t := range kept[min(maxTerms, len(kept)):] {
		rest += t.idf
	}
	return kept[:min(maxTerms, len(kept))], rest, nil
}

// candidate is a chunk among the best so far.
type candidate struct {
	chunk uint32
	score float32
	id    string
}

// worst is a heap with the worst candidate on top.
type worst []candidate

func (w worst) Len() int           { return len(w) }
func (w worst) Less(i, j int) bool { return w[j].before(w[i]) }
func (w worst) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *worst) Push(c any)        { *w = append(*w, c.(candidate)) }
func (w *worst) Pop() any {
	c := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return c
}

func (c candidate) before(d candidate) bool {
	if c.score != d.score {
		return c.score > d.score
	}
	return c.id < d.id
}

// best picks the opt.K best chunks. Ids are read only of those that can be among them.
func (r *ranking) best(opt SearchOptions) ([]candidate, error) {
	if opt.K <= 0 {
		return nil, nil
	}
	var top worst
	for _, chunk := range r.hits {
		c := candidate{chunk: chunk, score: r.score[chunk]}
		full := len(top) == opt.K
		if full && c.score < top[0].score {
			continue
		}
		var err error
		if c.id, err = r.id(chunk); err != nil {
			return nil, err
		}
		if full && !c.before(top[0]) || opt.Keep != nil && !opt.Keep(c.id) {
			continue
		}
		if full {
			top[0] = c
			heap.Fix(&top, 0)
		} else {
			heap.Push(&top, c)
		}
	}
	slices.SortFunc(top, func(a, b candidate) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return top, nil
}

// segmentOf finds the segment of a chunk.
func (r *ranking) segmentOf(chunk uint32) *segmentReader {
	i := sort.Search(len(r.segments), func(i int) bool { return r.segments[i].base > chunk })
	return &r.segments[i-1]
}

func (r *ranking) id(chunk uint32) (string, error) {
	s := r.segmentOf(chunk)
	id, err := s.seg.DocID(uint64(chunk - s.base))
	return string(id), err
}

// explain splits a chunk's score by term and field, the largest part first; the parts add up to the score.
func (r *ranking) explain(chunk uint32, terms []queryTerm) ([]document.Contribution, error) {
	s := r.segmentOf(chunk)
	var why []document.Contribution
	for _, t := range terms {
		list, err := r.postings(s, t)
		if err != nil {
			return nil, err
		}
		var parts [numFields]float32
		var tf float32
		for f := range numFields {
			field := list.of(f)
			i, ok := slices.BinarySearchFunc(field, chunk-s.base, func(p posting, c uint32) int { return cmp.Compare(p.chunk, c) })
			if ok {
				parts[f] = r.weigh(f, field[i])
				tf += parts[f]
			}
		}
		for f, part := range parts {
			if part > 0 {
				score := t.idf * float64(saturate(tf)) * float64(part/tf)
				why = append(why, document.Contribution{Term: t.text, Field: fieldNames[f], Score: score})
			}
		}
	}
	slices.SortStableFunc(why, byScore)
	return why, nil
}

func byScore(a, b document.Contribution) int { return cmp.Compare(b.Score, a.Score) }
