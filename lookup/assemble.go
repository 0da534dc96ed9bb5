package lookup

import (
	"context"
	"slices"
	"strings"
	"unicode"
)

// answer decides and assembles (SPEC 2.5).
func (s *state) answer(ctx context.Context) *Answer {
	s.dropGone(ctx)
	a := &Answer{RequestID: s.req.RequestID, Results: []Result{}, Degraded: s.degraded()}
	a.Decision = Decision{L0Matches: len(s.matches), Reason: s.reason(), L1: s.meaning.state}
	if s.corrected != nil {
		a.Corrected, a.Decision.L0Matches, a.Decision.Reason = s.corrected, 0, ReasonNone
	}
	var ev Evidence
	switch {
	case len(s.matches) == 0 && wordless(s.req.Query): // nothing is near to it but by chance
	case len(s.matches) == 0:
		ev = s.evidence(s.list)
		ev.Relevance = s.judge(ev)
		if a.Found = ev.Relevance != ""; a.Found {
			a.Supplement = s.supplement(s.answering(""), ev.Relevance)
		}
	case len(s.matches) == 1:
		a.Found = true
		if best := s.answering(s.matches[0].path); best != nil {
			ev = s.evidence([]fused{*best})
			if ev.Relevance = s.judge(ev); ev.Relevance != "" {
				a.Supplement = s.supplement(best, ev.Relevance)
			}
		}
		confidence := High
		if a.Decision.Reason == ReasonUniqueIndexing || a.Decision.Reason == ReasonUniqueDoubtful || s.corrected != nil {
			confidence = Low
		}
		if confidence == High {
			s.lead()
		}
		a.Primary = s.primary(&s.matches[0], confidence, ContentCompact)
	default:
		a.Found = true
		content := ContentCompact
		if best := s.answering(""); best != nil {
			ev = s.evidence([]fused{*best})
			// What several names point at is asked about here: the passage counts, however doubtful.
			if ev.Relevance = s.judge(ev); ev.Relevance == "" {
				ev.Relevance = Weak
			}
			a.Supplement = s.supplement(best, ev.Relevance)
			content = ContentMetadata
		}
		a.Primary = s.primary(&s.matches[0], Low, content)
	}
	if a.Primary != nil {
		if s.corrected != nil {
			a.Primary.Hint = strings.TrimSpace(s.corrected.hint() + " " + a.Primary.Hint)
		}
		a.Hint = a.Primary.Hint
	} else if s.req.SectionTitle != "" {
		a.Hint = sectionUnused(s.req.Query, s.req.SectionTitle)
	}
	if a.Found {
		s.results(a)
	}
	if s.req.Explain {
		a.Explain = s.explain(ev)
	}
	return a
}

// wordless says that a question is all punctuation and signs.
func wordless(query string) bool {
	return strings.IndexFunc(query, func(r rune) bool {
		return !unicode.IsPunct(r) && !unicode.IsSpace(r) && !unicode.In(r, unicode.Sm, unicode.Sc, unicode.Sk)
	}) < 0
}

// dropGone leaves out documents whose file has vanished and the watcher has not reported yet. Only what can get into the
// answer is looked at.
func (s *state) dropGone(ctx context.Context) {
	shown := s.list
	if most := 2*s.req.TopK + len(s.matches) + 10; len(shown) > most {
		shown = choose(shown, most)
	}
	paths := make([]string, 0, len(shown)+1)
	for _, d := range shown {
		paths = append(paths, d.path)
	}
	s.here.of(ctx, paths...)
	list := shown[:0:0]
	for _, d := range shown {
		if s.here.known[d.path] {
			list = append(list, d)
		}
	}
	s.list = list
	matches := s.matches[:0]
	for _, m := range s.matches {
		if there, looked := s.here.known[m.path]; there || !looked {
			matches = append(matches, m)
		}
	}
	s.matches = matches
}

func (s *state) reason() string {
	switch n := len(s.matches); {
	case n == 0:
		return ReasonNone
	case n > 1:
		return ReasonSeveral
	case s.indexing:
		return ReasonUniqueIndexing
	case s.doubtful && s.disagrees():
		return ReasonUniqueDoubtful
	case s.meaning.state != L1Skipped && !s.doubtful:
		return ReasonAlways
	}
	return ReasonUnique
}

// disagrees reports that another document is a good answer and, but for its name, a better one than the unique match.
func (s *state) disagrees() bool {
	match := s.matches[0].path
	best := s.answering(match)
	if best == nil || s.judge(s.evidence([]fused{*best})) != Strong {
		return false
	}
	for i := range s.list {
		if d := &s.list[i]; d.path == match {
			return best.byText() > d.byText()
		}
	}
	return true
}

func (s *state) degraded() []string {
	out := []string{}
	if s.indexing {
		out = append(out, DegradedIndexing)
	}
	if s.textErr != nil {
		out = append(out, DegradedL0)
	}
	if s.meaning.err != nil {
		out = append(out, DegradedL1)
	}
	return out
}

// agreeTop is how many places from the top of a ranking count as its opinion.
const agreeTop = 3

// evidence collects what speaks for the best of these documents, which are the top of the fused list or one of it.
func (s *state) evidence(list []fused) Evidence {
	ev := Evidence{Meaning: len(s.meaning.hits) > 0, Known: s.known, Named: s.named, Unheard: s.unheard, Documents: s.e.deps.Documents.Len()}
	if len(list) == 0 {
		return Evidence{}
	}
	for i := range list[:min(agreeTop, len(list))] {
		d := &list[i]
		ev.Cosine, ev.Soft = max(ev.Cosine, d.cosine), max(ev.Soft, d.soft)
		if d.ranks.Fulltext > 0 && len(s.text.Hits) > 0 && s.text.Hits[0].Score > 0 {
			// Coverage is the best hit's; others hold about as much less as they score less.
			ev.Coverage = max(ev.Coverage, s.text.Coverage*min(1, d.parts.BM25/s.text.Hits[0].Score))
		}
		if r := d.ranks; r.Fulltext > 0 && r.Fulltext <= agreeTop && r.Semantic > 0 && r.Semantic <= agreeTop {
			ev.Agreement = true
		}
	}
	ev.Score = s.e.cfg.Calibration.score(ev)
	return ev
}

func (s *state) judge(ev Evidence) string {
	return s.e.cfg.Calibration.judge(ev, hasHan(s.req.Query), s.e.cfg.MinScore)
}

// answering is the document whose passage answers: the best by its text, whatever its names. L1's best where L1 answered;
// only where nothing matched by name may full text go before it, with a document that L1 did not even find (an identifier
// it cannot read). not is a document to pass over.
func (s *state) answering(not string) *fused {
	var best *fused
	for i := range s.list {
		d := &s.list[i]
		if d.path == not || d.best == nil || len(s.matches) > 0 && d.ranks.Semantic == 0 {
			continue
		}
		if best == nil || d.byText() > best.byText() {
			best = d
		}
	}
	return best
}

func (s *state) supplement(d *fused, relevance string) *Supplement {
	if d == nil {
		return nil
	}
	doc, chunk := s.doc(d.path), s.passage(d)
	content := chunk.Text
	if best := s.chunk(d); best.Head != nil && chunk.Head == nil && best.Head.Summary != "" {
		content = best.Head.Summary + "\n\n" + content // the summary is what was found
	}
	out := &Supplement{
		DocID: doc.DocID, Title: doc.shownTitle(), Source: doc.Source, FilePath: doc.FilePath, Content: content,
		Breadcrumb: chunk.Breadcrumb, MatchType: MatchFulltext, Score: min(1, d.text), Relevance: relevance, More: []Extra{},
	}
	if d.ranks.Semantic > 0 {
		out.MatchType, out.Score = MatchSemantic, s.e.cfg.Calibration.cosine(d.cosine)
	}
	for i := range s.list {
		if o := &s.list[i]; len(out.More) < s.e.cfg.L1TopK-1 && o.path != d.path && o.best != nil && o.ranks.Semantic > 0 {
			doc, chunk := s.doc(o.path), s.chunk(o)
			out.More = append(out.More, Extra{
				DocID: doc.DocID, Title: doc.shownTitle(), Source: doc.Source,
				Breadcrumb: chunk.Breadcrumb, Snippet: chunkSnippet(chunk, s.req.Query), Score: s.e.cfg.Calibration.cosine(o.cosine),
			})
		}
	}
	return out
}

// primary reads what the content asked for needs. A section asked for wins over all else (SPEC 2.7).
func (s *state) primary(m *exactMatch, confidence, content string) *Primary {
	if s.req.Content != ContentAuto {
		content = s.req.Content
	}
	doc := m.doc
	p := &Primary{
		DocID: doc.DocID, Title: doc.shownTitle(), Source: doc.Source, FilePath: doc.FilePath, MatchType: MatchExact,
		Confidence: confidence, AvailableSections: listed(doc.Sections),
	}
	if content == ContentMetadata && s.req.SectionTitle == "" {
		p.Content = metadataContent(doc)
		return p
	}
	d, err := s.e.deps.Read(doc.Path)
	if err != nil {
		s.log.Warn("document cannot be read; the answer holds its metadata alone", "path", doc.Path, "err", err)
		p.Content = metadataContent(doc)
		return p
	}
	shown := *d // the parser's document may be shared; what a half-written file lacks, the record knows
	if shown.Title == "" {
		shown.Title = doc.shownTitle()
	}
	if shown.Summary == "" && !shown.HasFrontmatter {
		shown.Summary = doc.Summary
	}
	p.AvailableSections = listed(shown.SectionTitles())
	if s.req.SectionTitle != "" {
		if name, sec, ok := shown.FindSection(s.req.SectionTitle); ok {
			p.Section, p.Content = &name, sectionText(&shown, sec)
			return p
		}
		p.Hint = sectionHint(&shown, s.req.SectionTitle)
		content = ContentCompact
	}
	if content == ContentFull {
		p.Content = fullContent(&shown)
	} else {
		p.Content = compactContent(&shown)
	}
	return p
}

// lead puts the one match first in the list (SPEC 2.4).
func (s *state) lead() {
	i := slices.IndexFunc(s.list, func(d fused) bool { return d.path == s.matches[0].path })
	if i > 0 {
		d := s.list[i]
		copy(s.list[1:i+1], s.list[:i])
		s.list[0] = d
	}
}

// results fills in the fused list.
func (s *state) results(a *Answer) {
	for _, d := range choose(s.list, s.req.TopK) {
		doc, chunk := s.doc(d.path), s.chunk(&d)
		if chunk.Head != nil && chunk.Head.Summary == "" { // a title, which the entry has
			chunk = s.passage(&d)
		}
		a.Results = append(a.Results, Result{
			DocID: doc.DocID, Title: doc.shownTitle(), Source: doc.Source, FilePath: doc.FilePath,
			Breadcrumb: chunk.Breadcrumb, Snippet: chunkSnippet(chunk, s.req.Query), Score: d.score, Ranks: d.ranks,
		})
	}
}
