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
		f.Score = ScoreWeights{Fulltext: 1.5, Soft: 0.75}
	}
	return f
}

// exactBonus is what a full-strength exact match adds to a fused score. Cosines of good passages lie around .4, so it
// outweighs a better neighbour but not two rankings that agree on another document. (nDCG on the judged set: .733 without
// it, .736 at .3, .731 at .6.)
const exactBonus = 0.3

// A document is worth the best of each measure over its chunks, title and body may each be right by a measure of their own;
// in part the best sum of them in one passage, where they agree; and on top what its first chunk is worth, since a document
// about the subject beats one that mentions it. (nDCG on the judged set: .760 without the last, .773 with it; flat from .3
// to .5.)
const (
	jointWeight = 0.3
	firstWeight = 0.4
)

// candidate is a chunk that full text or meaning found.
type candidate struct {
	id, path string
	text     float64 // BM25 / ideal
	cosine   float64 // on the built-in model's scale, as everywhere in here
	soft     float64
	bm25     float64 // raw
	inText   bool
	inL1     bool
	head     bool   // the document's title + summary + keywords
	first    bool   // its first chunk: the head, or where it has none how it begins
	hash     uint64 // of title and text, 0 if they were not looked at
	why      int    // position in the full-text hits, for explain; -1: not there
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
	body     *candidate // its best passage but for the head
	text     float64
	cosine   float64
	soft     float64
	strength float64 // of its exact match, 0 without one
	cover    float64
	joint    *candidate // the passage with the best sum of all measures
	first    *candidate // its first chunk, if it is a candidate
	key      string     // what language versions share; see version
	tag      language
	folded   bool // another version stands for it
	parts    ExplainDoc
}

// fuse merges the three rankings, best first. exact is in L0 order; chunks are those found, in any order; han says that the
// query is Chinese. It is a pure function of its arguments.
func (f Fusion) fuse(exact []exactMatch, chunks []candidate, han bool) []fused {
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
		if !c.head && (d.body == nil || f.better(c, d.body)) {
			d.body = c
		}
		if v := c.value(f.Score); d.joint == nil || v > d.joint.value(f.Score) || v == d.joint.value(f.Score) && c.id < d.joint.id {
			d.joint = c
		}
		if c.first {
			d.first = c
		}
	}
	rank(docs, chunks, func(c *candidate) (float64, bool) { return c.bm25, c.inText }, func(r *Ranks) *int { return &r.Fulltext })
	rank(docs, chunks, func(c *candidate) (float64, bool) { return c.cosine, c.inL1 }, func(r *Ranks) *int { return &r.Semantic })
	for i, m := range exact {
		d := at(m.path)
		d.ranks.Exact, d.strength, d.cover = i+1, m.strength, m.cover
	}
	order := make([]*fused, 0, len(docs))
	for _, d := range docs {
		f.weigh(d)
		order = append(order, d)
	}
	foldVersions(order, han)
	slices.SortFunc(order, inOrder)
	list := make([]fused, len(order))
	for i, d := range order {
		list[i] = *d
	}
	keepKeywordRank(list)
	return list
}

// headMargin is how much a head chunk must lead by to stand for its document: a passage says where to look, a head chunk
// only repeats what the entry says anyway. (Right sections on the judged set: .72 without it, .74 at .15, .76 at .3.)
const headMargin = 0.3

func (f Fusion) better(a, b *candidate) bool {
	return cmp.Or(cmp.Compare(f.asPassage(a), f.asPassage(b)), -cmp.Compare(a.id, b.id)) > 0
}

// asPassage is what a chunk is worth to stand for its document.
func (f Fusion) asPassage(c *candidate) float64 {
	v := c.value(f.Score)
	if c.head {
		v -= headMargin
		if !c.inText && !c.inL1 {
			v -= 1 // nobody found it
		}
	}
	return v
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
		add := func(weight, text, cosine, soft float64) {
			p.Fulltext += weight * f.Score.Fulltext * text
			p.Semantic += weight * cosine
			p.Soft += weight * f.Score.Soft * soft
		}
		if c := d.joint; c != nil {
			add(1-jointWeight, d.text, d.cosine, d.soft)
			add(jointWeight, c.text, c.cosine, c.soft)
		}
		if c := d.first; c != nil {
			add(firstWeight, c.text, c.cosine, c.soft)
		}
	}
	p.Cosine = d.cosine
	d.score = p.Exact + p.Fulltext + p.Semantic + p.Soft
	p.Score, p.Ranks = d.score, d.ranks
}

// byText is what a document is worth by what it says, whatever its names.
func (d *fused) byText() float64 { return d.score - d.parts.Exact }

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
