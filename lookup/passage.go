package lookup

import "knowledged/document"

// chunk is a document's best passage; where only its name matched, the chunk that holds most of the query.
func (s *state) chunk(d *fused) document.Chunk {
	if d.best != nil {
		if c, ok := s.e.deps.Documents.Chunk(d.best.id); ok {
			return c
		}
	}
	terms := queryTerms(s.req.Query)
	ids := s.e.deps.Documents.ChunkIDs(d.path)
	var best document.Chunk
	most := -1
	for _, id := range ids[:min(len(ids), maxNameChunks)] {
		c, ok := s.e.deps.Documents.Chunk(id)
		if !ok {
			continue
		}
		w := 2 * weight(held([]rune(c.Breadcrumb+"\n"+c.Text), terms), terms)
		if c.Head != nil {
			w-- // as good as a passage only where no passage is as good
		}
		if w > most {
			best, most = c, w
		}
	}
	if best.Breadcrumb == "" {
		best.Breadcrumb = s.doc(d.path).shownTitle()
	}
	return best
}

// passage is a document's best passage that says something: the best chunk, or, where that is the head, which may be no more
// than a title, the best below it, or else how the document begins.
func (s *state) passage(d *fused) document.Chunk {
	best := s.chunk(d)
	if best.Head == nil {
		return best
	}
	ids := s.e.deps.Documents.ChunkIDs(d.path)
	if d.body != nil {
		ids = []string{d.body.id}
	}
	for _, id := range ids[:min(len(ids), 2)] { // the head comes first
		if c, ok := s.e.deps.Documents.Chunk(id); ok && c.Head == nil {
			return c
		}
	}
	return best
}

// maxNameChunks bounds the search for a passage in a document of which only a name matched.
const maxNameChunks = 32

// chunkSnippet is the part of a chunk to show. A head chunk repeats the title that the entry has: its summary is shown.
func chunkSnippet(c document.Chunk, query string) string {
	if c.Head != nil && c.Head.Summary != "" {
		return snippet(c.Head.Summary, query)
	}
	return snippet(c.Text, query)
}
