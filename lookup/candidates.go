package lookup

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
)

// candidates merges the hits of both rankings chunk by chunk and re-ranks the best by soft match.
func (s *state) candidates() []candidate {
	at := make(map[string]int, len(s.text.Hits)+len(s.meaning.hits))
	var out []candidate
	add := func(id string) *candidate {
		i, ok := at[id]
		if !ok {
			path, index, known := s.e.deps.Documents.Owner(id)
			if !known || s.doc(path) == nil {
				return nil // deleted, replaced or of another category: an index that lags is not believed
			}
			i = len(out)
			at[id] = i
			// Where a document has a title its first chunk is the head (document.Chunk.Index).
			out = append(out, candidate{id: id, path: path, why: -1, first: index == 0, head: index == 0 && s.doc(path).Title != ""})
		}
		return &out[i]
	}
	ideal := s.text.Ideal
	if ideal <= 0 && len(s.text.Hits) > 0 {
		ideal = s.text.Hits[0].Score
	}
	for i, h := range s.text.Hits {
		if c := add(h.ChunkID); c != nil && !c.inText {
			c.inText, c.bm25, c.why = true, h.Score, i
			if ideal > 0 {
				c.text = h.Score / ideal // above 1 where the title matches as well
			}
		}
	}
	for _, h := range s.meaning.hits {
		if c := add(h.ChunkID); c != nil && !c.inL1 {
			c.inL1, c.cosine = true, s.e.cfg.Calibration.scaled(h.Score)
		}
	}
	s.imputeCosine(out)
	return s.rerank(out)
}

// imputeCosine gives chunks that only full text found the cosine of the last semantic hit: they lie below it, but taking
// them for orthogonal would put a cliff where the list happened to be cut, or where a vector is still being made. (nDCG on the judged set: .736 against .725.)
func (s *state) imputeCosine(list []candidate) {
	last := s.lastCosine()
	for i := range list {
		if !list[i].inL1 {
			list[i].cosine = last
		}
	}
}

// lastCosine is that of the last semantic hit, 0 without any.
func (s *state) lastCosine() float64 {
	if n := len(s.meaning.hits); n > 0 {
		return max(0, s.e.cfg.Calibration.scaled(s.meaning.hits[n-1].Score))
	}
	return 0
}

// firstDocs is of how many documents the first chunk is re-ranked, whether a ranking found it or not: what their titles and
// summaries say counts. Others are too far down to get into the answer by it.
const firstDocs = 30

// rerank adds the soft token match to the best candidates: two thirds of them by the fused score, the others by cosine, and
// the first chunks of the best documents. It needs no vectors of the passages, so it helps full text as well while the
// semantic index is away.
func (s *state) rerank(list []candidate) []candidate {
	if s.e.deps.Reranker == nil || len(list) == 0 {
		return list
	}
	w := s.e.cfg.Fusion.Score
	n := s.e.cfg.Candidates
	list, firsts := s.addFirst(list)
	order := make([]*candidate, len(list))
	for i := range list {
		order[i] = &list[i]
	}
	picked := make([]*candidate, 0, n+firstDocs)
	taken := make(map[string]bool, n+firstDocs)
	take := func(limit int, value func(*candidate) float64) {
		slices.SortFunc(order, func(a, b *candidate) int {
			return cmp.Or(-cmp.Compare(value(a), value(b)), cmp.Compare(a.id, b.id))
		})
		for _, c := range order {
			if len(picked) >= limit {
				break
			}
			if !taken[c.id] && (c.inText || c.inL1) {
				taken[c.id] = true
				picked = append(picked, c)
			}
		}
	}
	take(n*2/3, func(c *candidate) float64 { return c.value(w) })
	take(n, func(c *candidate) float64 { return c.cosine })
	for _, i := range firsts {
		if c := &list[i]; !taken[c.id] {
			picked = append(picked, c)
		}
	}
	passages := make([]Passage, len(picked))
	for i, c := range picked {
		if chunk, ok := s.e.deps.Documents.Chunk(c.id); ok {
			passages[i] = Passage{chunk.Breadcrumb, chunk.Text}
			c.hash = textHash(s.doc(c.path).Title, chunk.Text)
		}
	}
	for i, soft := range s.e.deps.Reranker.Soft(s.req.Query, passages) {
		picked[i].soft = soft
	}
	return list
}

// addFirst adds the first chunks of the best documents where no ranking found them; firsts are the positions of all of the
// best documents' first chunks.
func (s *state) addFirst(list []candidate) (with []candidate, firsts []int) {
	type best struct {
		path  string
		value float64
		first int // position in list, -1: not there
	}
	docs := make(map[string]*best)
	for i := range list {
		c := &list[i]
		d := docs[c.path]
		if d == nil {
			d = &best{path: c.path, first: -1}
			docs[c.path] = d
		}
		d.value = max(d.value, c.value(s.e.cfg.Fusion.Score))
		if c.first {
			d.first = i
		}
	}
	order := slices.SortedFunc(maps.Values(docs), func(a, b *best) int {
		return cmp.Or(-cmp.Compare(a.value, b.value), cmp.Compare(a.path, b.path))
	})
	for _, d := range order[:min(firstDocs, len(order))] {
		ids := s.e.deps.Documents.ChunkIDs(d.path)
		if d.first < 0 && len(ids) > 0 {
			d.first = len(list)
			list = append(list, candidate{id: ids[0], path: d.path, why: -1, first: true, head: s.doc(d.path).Title != "", cosine: s.lastCosine()})
		}
		if d.first >= 0 {
			firsts = append(firsts, d.first)
		}
	}
	return list, firsts
}

// textHash tells copies of a passage by the title of its document and its text.
func textHash(title, text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(title))
	h.Write([]byte{0})
	h.Write([]byte(text))
	return h.Sum64()
}
