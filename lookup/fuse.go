package lookup

import (
	"cmp"
	"slices"
)

// Fusion methods.
const (
	FusionScore = "score"
	FusionRRF   = "rrf"
)

// Fusion are the settings of `lookup.fusion`. Zero fields mean the defaults.
type Fusion struct {
	Method string // score (default) | rrf
	RRF    RRF
	Score  ScoreWeights
}

// RRF is reciprocal rank fusion: a ranking gives a document weight/(K+rank).
type RRF struct {
	K        float64 // default 60
	Exact    float64 // weights of the rankings; where all are zero, 1 each
	Fulltext float64
	Semantic float64
}

// ScoreWeights are the weights of the score fusion; the cosine weighs 1. Where both are zero: 1.5 and 0.5, the model
// card's. 1.5 to 2 is flat for full text.
type ScoreWeights struct {
	Fulltext float64 // of BM25 as a share of the ideal score
	Soft     float64 // of the soft token match
}

func (f Fusion) withDefaults() Fusion {
	if f.Method == "" {
		f.Method = FusionScore
	}
	if f.RRF.K == 0 {
		f.RRF.K = 60
	}
	if f.RRF.Exact == 0 && f.RRF.Fulltext == 0 && f.RRF.Semantic == 0 {
		f.RRF.Exact, f.RRF.Fulltext, f.RRF.Semantic = 1, 1, 1
	}
	if f.Score == (ScoreWeights{}) {
		f.Score = ScoreWeights{Fulltext: 1.5, Soft: 0.5}
	}
	return f
}

// exactBonus is what a full-strength exact match adds to a fused score. Cosines of good passages lie around .4, so it
// outweighs a better neighbour but not two rankings that agree on another document. (nDCG on the judged set: .733 without
// it, .736 at .3, .731 at .6.)
const exactBonus = 0.3

// candidate is a chunk that full text or meaning found.
type candidate struct {
	id, path string
	text     float64 // BM25 / ideal
	cosine   float64
	soft     float64
	bm25     float64 // raw
	inText   bool
	inL1     bool
	head     bool // the document's title + summary + keywords
	why      int  // position in the full-text hits, for explain; -1: not there
}

// value is a chunk's part in the score fusion.
func (c *candidate) value(w ScoreWeights) float64 {
	return c.cosine + w.Fulltext*c.text + w.Soft*c.soft
}

// fused is a document of the fused list. text, cosine and soft are each the best of any of its chunks: title and body
// may each be right by a measure of their own.
type fused struct {
	path     string
	score    float64
	ranks    Ranks
	best     *candidate // its best passage; nil if only its name matched
	text     float64
	cosine   float64
	soft     float64
	strength float64 // of its exact match, 0 without one
	cover    float64
	parts    ExplainDoc
}

// fuse merges the three rankings, best first. exact is in L0 order; chunks are those found, in any order. It is a pure
// function of its arguments.
func (f Fusion) fuse(exact []exactMatch, chunks []candidate) []fused {
	docs := make(map[string]*fused, len(chunks)/2+len(exact))
	at := func(path string) *fused {
		d := docs[path]
		if d == nil {
			d = &fused{path: path}
			docs[path] = d
		}
		return d
	}
	for i := range chunks {
		c := &chunks[i]
		d := at(c.path)
		d.text, d.cosine, d.soft = max(d.text, c.text), max(d.cosine, c.cosine), max(d.soft, c.soft)
		d.parts.BM25 = max(d.parts.BM25, c.bm25)
		if d.best == nil || f.better(c, d.best) {
			d.best = c
		}
	}
	rank(docs, chunks, func(c *candidate) (float64, bool) { return c.bm25, c.inText }, func(r *Ranks) *int { return &r.Fulltext })
	rank(docs, chunks, func(c *candidate) (float64, bool) { return c.cosine, c.inL1 }, func(r *Ranks) *int { return &r.Semantic })
	for i, m := range exact {
		d := at(m.path)
		d.ranks.Exact, d.strength, d.cover = i+1, m.strength, m.cover
	}
	list := make([]fused, 0, len(docs))
	for _, d := range docs {
		f.weigh(d)
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b fused) int {
		return cmp.Or(-compareBool(a.leads(), b.leads()), -cmp.Compare(a.score, b.score), cmp.Compare(a.path, b.path))
	})
	keepKeywordRank(list)
	return list
}

// headMargin is how much a head chunk must lead by to stand for its document: a passage says where to look, a head chunk
// only repeats what the entry says anyway. (Right sections on the judged set: .72 without it, .74 at .15, .76 at .3.)
const headMargin = 0.3

func (f Fusion) better(a, b *candidate) bool {
	va, vb := a.value(f.Score), b.value(f.Score)
	if a.head {
		va -= headMargin
	}
	if b.head {
		vb -= headMargin
	}
	return cmp.Or(cmp.Compare(va, vb), -cmp.Compare(a.id, b.id)) > 0
}

// weigh fills in a document's score and its parts.
func (f Fusion) weigh(d *fused) {
	p := &d.parts
	if f.Method == FusionRRF {
		p.Exact = f.RRF.part(f.RRF.Exact, d.ranks.Exact)
		p.Fulltext = f.RRF.part(f.RRF.Fulltext, d.ranks.Fulltext)
		p.Semantic = f.RRF.part(f.RRF.Semantic, d.ranks.Semantic)
	} else {
		p.Exact = exactBonus * d.strength
		p.Fulltext = f.Score.Fulltext * d.text
		p.Semantic = d.cosine
		p.Soft = f.Score.Soft * d.soft
	}
	p.Cosine = d.cosine
	d.score = p.Exact + p.Fulltext + p.Semantic + p.Soft
	p.Score, p.Ranks = d.score, d.ranks
}

func (r RRF) part(weight float64, rank int) float64 {
	if rank == 0 {
		return 0
	}
	return weight / (r.K + float64(rank))
}

// leads reports an exact match that names what was asked for: it comes before everything that only resembles it.
func (d *fused) leads() bool { return d.strength >= leadStrength }

// keepKeywordRank moves exact matches up to where full text alone puts them, if their names cover much of the query:
// fusion never costs an exact hit. Going by ascending rank, a move leaves those already placed where they are.
func keepKeywordRank(list []fused) {
	var held []int // full-text ranks to hold
	for i := range list {
		if d := &list[i]; d.cover >= leadStrength && d.ranks.Fulltext > 0 {
			held = append(held, d.ranks.Fulltext)
		}
	}
	slices.Sort(held)
	for _, want := range held {
		i := slices.IndexFunc(list, func(d fused) bool { return d.ranks.Fulltext == want })
		if i >= want {
			d := list[i]
			copy(list[want:i+1], list[want-1:i])
			list[want-1] = d
		}
	}
}

// rank numbers the documents by their best chunk in one ranking; equal scores by path.
func rank(docs map[string]*fused, chunks []candidate, score func(*candidate) (float64, bool), field func(*Ranks) *int) {
	best := make(map[string]float64)
	for i := range chunks {
		if s, ok := score(&chunks[i]); ok {
			if old, seen := best[chunks[i].path]; !seen || s > old {
				best[chunks[i].path] = s
			}
		}
	}
	paths := make([]string, 0, len(best))
	for p := range best {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(-cmp.Compare(best[a], best[b]), cmp.Compare(a, b)) })
	for i, p := range paths {
		*field(&docs[p].ranks) = i + 1
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// wholeList is the list length from which a reader wants to see all exact matches rather than the best of all.
const wholeList = 20

// choose cuts the fused list to topK and sees to it that exact matches are in it (SPEC 2.2): all that fit in a long list;
// in a short one its better half stays as fused, lest a keyword that ten documents share crowd out the answer.
func choose(list []fused, topK int) []fused {
	if len(list) <= topK {
		return list
	}
	stay := topK / 2
	if topK >= wholeList {
		stay = 0
	}
	picked := make([]bool, len(list))
	n := 0
	pick := func(from int, want func(*fused) bool) {
		for i := from; i < len(list) && n < topK; i++ {
			if !picked[i] && want(&list[i]) {
				picked[i] = true
				n++
			}
		}
	}
	for i := range stay {
		picked[i] = true
	}
	n = stay
	pick(stay, func(d *fused) bool { return d.ranks.Exact > 0 })
	pick(stay, func(*fused) bool { return true })
	out := make([]fused, 0, topK)
	for i := range list {
		if picked[i] {
			out = append(out, list[i])
		}
	}
	return out
}
