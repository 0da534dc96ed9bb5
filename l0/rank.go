package l0

import (
	"context"
	"math"
	"slices"
)

// Scoring is BM25 over fields (BM25F): a term's occurrences are counted with the weight of the field they stand in, each
// field normalised by its own length, and the sum is saturated once:
//
//	tf(t, c)    = Σ over fields f of weight(f) × occurrences(t, f, c) / (1 - b(f) + b(f) × length(f, c) / mean length(f))
//	score(q, c) = Σ over terms t of q of idf(t) × tf (k1 + 1) / (k1 + tf)
//
// Saturating the sum keeps score ≤ I(q) = (k1 + 1) Σ idf, by which fusion normalises it.
const (
	k1 = 1.2

	// bShort is for fields of a few words: that a title is longer than others makes a word in it hardly less telling.
	bShort = 0.3
	bBody  = 0.75
)

// weights order the fields as SPEC 2.3 does; one occurrence in a body of average length counts 1. On the judged set nDCG@10
// hardly moves with them. Headings count little more than the body: a passage's breadcrumb is among them, and a title that
// all passages of a document repeat would weigh as much as what they say (fused: .759 at 2, .764 at 1.5).
var weights = [numFields]float32{fieldTitle: 6, fieldKeywords: 5, fieldSummary: 3, fieldHeadings: 1.5, fieldBody: 1}

var lengthWeights = [numFields]float32{fieldTitle: bShort, fieldKeywords: bShort, fieldSummary: bShort, fieldHeadings: bShort, fieldBody: bBody}

// minLength is the least part of the mean at which a field's length is counted: a one-word body is not worth more than a
// title.
const minLength = 0.5

// idf uses the numbers of chunks; it is positive also for a term in every chunk.
func idf(live, with int) float64 {
	return math.Log(1 + (float64(live-with)+0.5)/(float64(with)+0.5))
}

func saturate(tf float32) float32 { return tf * (k1 + 1) / (k1 + tf) }

// ranking scores all chunks, term by term. Slices are indexed by chunk number over all segments.
type ranking struct {
	reader
	avg     [numFields]float32
	live    int
	score   []float32
	covered []float32 // idf of the query's terms that the chunk has
	tf      []float32 // of the term at hand
	touched []uint32  // chunks that have the term at hand
	hits    []uint32  // chunks that have any term
	known   float64   // idf of the query's terms that any chunk has

	keep func(chunkID string) bool // which chunks count for known; nil: all
	kept []int8                    // what keep said of a chunk: 1, -1, 0 if it was not asked
}

func (r *ranking) reset(size int) {
	for _, s := range []*[]float32{&r.score, &r.covered, &r.tf} {
		*s = slices.Grow((*s)[:0], size)[:size]
		clear(*s)
	}
	r.hits = r.hits[:0]
	r.known = 0
	if r.keep != nil {
		r.kept = slices.Grow(r.kept[:0], size)[:size]
		clear(r.kept)
	}
}

// weigh returns what a posting adds to tf.
func (r *ranking) weigh(f field, p posting) float32 {
	b := lengthWeights[f]
	return weights[f] * float32(p.freq) / (1 - b + b*max(float32(p.length)/r.avg[f], minLength))
}

// gather fills in tf of the chunks that have the term; they are touched. It returns the term's idf.
func (r *ranking) gather(term queryTerm) (weight float64, err error) {
	r.touched = r.touched[:0]
	for i := range r.segments {
		s := &r.segments[i]
		list, err := r.postings(s, term)
		if err != nil {
			return 0, err
		}
		if len(list.list) == 0 {
			continue
		}
		for f := range numFields {
			for _, p := range list.of(f) {
				if s.deleted != nil && s.deleted.Contains(p.chunk) {
					continue
				}
				chunk := s.base + p.chunk
				if r.tf[chunk] == 0 {
					r.touched = append(r.touched, chunk)
				}
				r.tf[chunk] += r.weigh(f, p)
			}
		}
	}
	return idf(r.live, len(r.touched)), nil
}

// present says whether a chunk that counts has the term just gathered.
func (r *ranking) present() (bool, error) {
	for _, chunk := range r.touched {
		if counts, err := r.counts(chunk); counts || err != nil {
			return counts, err
		}
	}
	return false, nil
}

// counts says whether a chunk is one to consider.
func (r *ranking) counts(chunk uint32) (bool, error) {
	if r.keep == nil {
		return true, nil
	}
	if r.kept[chunk] == 0 {
		id, err := r.id(chunk)
		if err != nil {
			return false, err
		}
		if r.kept[chunk] = -1; r.keep(id) {
			r.kept[chunk] = 1
		}
	}
	return r.kept[chunk] > 0, nil
}

// add scores one term and returns its idf.
func (r *ranking) add(term queryTerm) (weight float64, found bool, err error) {
	if weight, err = r.gather(term); err != nil {
		return 0, false, err
	}
	for _, chunk := range r.touched {
		if r.score[chunk] == 0 {
			r.hits = append(r.hits, chunk)
		}
		r.score[chunk] += float32(weight) * saturate(r.tf[chunk])
		r.covered[chunk] += float32(weight)
		r.tf[chunk] = 0
	}
	found, err = r.present()
	return weight, found, err
}

// run scores all terms; it returns Σ idf over those that count towards I(q).
func (r *ranking) run(ctx context.Context, terms []queryTerm) (mass float64, err error) {
	for i := range terms {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		t := &terms[i]
		weight, found, err := r.add(*t)
		if err != nil {
			return 0, err
		}
		t.idf = weight
		if found {
			r.known += weight
		}
		if found || t.role != whole {
			mass += weight
		}
	}
	return mass, nil
}
