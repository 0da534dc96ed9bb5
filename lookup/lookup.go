package lookup

import (
	"context"
	"log/slog"
	"time"

	"knowledged/document"
)

// slowLookup is the time from which a lookup is worth a warning (SPEC 7.1).
const slowLookup = 2 * time.Second

// state is one lookup on its way.
type state struct {
	e    *Engine
	req  Request
	log  *slog.Logger // carries the requestId
	here presence
	docs map[string]*Doc // seen so far, nil for those not indexed or of another category

	indexing  bool
	doubtful  bool // a unique match that `verify` wants checked
	matches   []exactMatch
	corrected *Corrected // the matches are those of another spelling
	textErr   error      // why L0 is unusable, if it is
	text      FullText
	meaning   meaning
	known     float64 // see Evidence
	named     float64
	unheard   bool
	list      []fused

	start                     time.Time
	matchTook, textTook, fuse time.Duration
}

// Lookup answers one question (SPEC 2). The error is an *InputError for a bad request, else the context's.
func (e *Engine) Lookup(ctx context.Context, req Request) (*Answer, error) {
	s := &state{e: e, known: 1, named: 1, start: time.Now(), docs: make(map[string]*Doc)}
	if !ValidRequestID(req.RequestID) {
		req.RequestID = NewRequestID()
	}
	s.log = e.log.With("requestId", req.RequestID)
	var err error
	if s.req, err = req.validate(e.cfg.TopK); err != nil {
		return nil, err
	}
	s.here = presence{exists: e.deps.Exists, vain: &e.vain, known: make(map[string]bool)}
	s.log.Debug("lookup starts", "query", s.req.Query, "category", s.req.Category, "caller", s.req.Caller, "tool", s.req.Tool)

	// Asked before matching: a scan that ends meanwhile may have added a second match after the look.
	s.indexing = e.deps.Indexing()
	s.match(ctx)
	s.correct(ctx)
	s.search(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := s.answer(ctx)
	s.report(a)
	return a, nil
}

// match finds the exact matches that are really there.
func (s *state) match(ctx context.Context) {
	if disputed := s.matchOnce(ctx); len(disputed) > 0 && s.settled(ctx, disputed) {
		s.docs, s.here.known, s.matches = make(map[string]*Doc), make(map[string]bool), nil
		s.matchOnce(ctx)
	}
	weighMatches(s.req.Query, s.matches)
	if n := len(s.matches); n > 0 {
		if s.keepWorthy(ctx); len(s.matches) < n {
			weighMatches(s.req.Query, s.matches)
		}
	}
	s.matchTook = time.Since(s.start)
	s.log.Debug("names matched", "matches", len(s.matches), "took", s.matchTook)
}

// matchOnce asks the index. disputed are the paths that it has and the folder has not, or the records have not yet.
func (s *state) matchOnce(ctx context.Context) (disputed []string) {
	found, err := s.e.askMatch(s.req.Query)
	if err != nil {
		s.textErr = err
	}
	paths := make([]string, 0, len(found))
	kept := found[:0:0]
	for _, m := range found {
		if s.doc(m.Path) != nil {
			kept = append(kept, m)
			paths = append(paths, m.Path)
		} else if _, known := s.e.deps.Documents.Doc(m.Path); !known {
			disputed = append(disputed, m.Path)
		}
	}
	// A keyword that very many documents carry is no unique match whichever of their files are there; looking at all of
	// them would cost more than the answer. Those that get into the answer are looked at there.
	if len(paths) <= 2*MaxTopK {
		s.here.of(ctx, paths...)
	}
	for _, m := range kept {
		if there, looked := s.here.known[m.Path]; there || !looked {
			s.matches = append(s.matches, exactMatch{path: m.Path, doc: s.doc(m.Path), names: m.Names})
		} else {
			disputed = append(disputed, m.Path)
		}
	}
	return disputed
}

// search decides what else is asked (SPEC 2.4), asks it, and fuses what came.
func (s *state) search(ctx context.Context) {
	e, unique := s.e, len(s.matches) == 1 && s.corrected == nil
	always := s.req.AlwaysSemantic || e.cfg.AlwaysSemantic
	s.doubtful = unique && e.cfg.UniqueMatch == UniqueVerify && s.matches[0].cover < leadStrength
	askL1 := !unique || always || s.doubtful
	var wait func() meaning
	switch {
	case !askL1:
		s.meaning.state = L1Skipped
	case e.deps.Semantic == nil:
		s.meaning.state = L1Off
	default:
		wait = e.askMeaning(ctx, s.req.Query, s.req.Category, s.depth())
	}
	s.log.Debug("semantic index decided", "unique", unique, "asked", wait != nil, "alwaysSemantic", always)
	if askL1 || e.cfg.FillUnique && s.matches[0].cover < leadStrength {
		s.searchText(ctx)
	}
	if askL1 && s.textErr == nil {
		s.askKnown(ctx)
	}
	if wait != nil {
		s.meaning = wait()
		s.dropUnknown()
		s.log.Debug("semantic index answered", "state", s.meaning.state, "hits", len(s.meaning.hits), "took", s.meaning.took)
		if s.meaning.err != nil && ctx.Err() == nil {
			s.log.Warn("semantic index gave no answer; keywords answer alone", "err", s.meaning.err, "took", s.meaning.took)
		}
	}
	if s.textErr != nil && ctx.Err() == nil {
		s.log.Warn("keyword index gave no answer; the semantic index answers alone", "err", s.textErr)
	}
	start := time.Now()
	orderMatches(s.matches)
	s.list = e.cfg.Fusion.fuse(s.matches, s.candidates(), hasHan(s.req.Query))
	s.fuse = time.Since(start)
	s.log.Debug("rankings fused", "documents", len(s.list), "took", s.fuse)
}

// dropUnknown leaves out semantic hits on what is no longer indexed or of another category: an index that lags behind is
// not believed, and one with nothing else to say has said nothing.
func (s *state) dropUnknown() {
	known := s.meaning.hits[:0:0]
	for _, h := range s.meaning.hits {
		if path, _, ok := s.e.deps.Documents.Owner(h.ChunkID); ok && s.doc(path) != nil {
			known = append(known, h)
		}
	}
	if s.meaning.hits = known; len(known) == 0 && s.meaning.state == L1Used {
		s.meaning.state = L1Empty
	}
}

// depth is how many chunks each ranking is asked for: deep enough that a document one ranking likes is seldom unknown to
// the other, and that a list of topK documents of a few chunks each can be filled.
func (s *state) depth() int { return max(2*s.e.cfg.Candidates, 4*s.req.TopK) }

// searchText asks full text, and for the scores of matched documents that its best hits don't include.
func (s *state) searchText(ctx context.Context) {
	start := time.Now()
	defer func() {
		s.textTook = time.Since(start)
		s.log.Debug("full text searched", "hits", len(s.text.Hits), "coverage", s.text.Coverage, "took", s.textTook)
	}()
	opt := SearchOptions{K: s.depth(), Explain: s.req.Explain, Keep: s.keep()}
	text, err := s.e.askText(ctx, s.req.Query, opt)
	if err != nil {
		s.textErr = err
		return
	}
	s.text = text
	at := make(map[string]*exactMatch, len(s.matches))
	for i := range s.matches {
		at[s.matches[i].path] = &s.matches[i]
	}
	s.scoreMatches(at, text.Hits)
	missing, chunks := make(map[string]bool), 0
	for path, m := range at {
		if m.text == 0 {
			missing[path] = true
			chunks += len(s.e.deps.Documents.ChunkIDs(path))
		}
	}
	if len(missing) == 0 || len(s.matches) == 1 || len(text.Hits) < opt.K {
		return // one match needs no order; a list that was not cut has no more to say
	}
	more, err := s.e.askText(ctx, s.req.Query, SearchOptions{
		K: min(chunks, maxMatchChunks), Explain: s.req.Explain,
		Keep: func(id string) bool {
			path, _, ok := s.e.deps.Documents.Owner(id)
			return ok && missing[path]
		},
	})
	if err != nil {
		s.textErr = err
		return
	}
	s.scoreMatches(at, more.Hits)
	s.text.Hits = append(s.text.Hits[:len(s.text.Hits):len(s.text.Hits)], more.Hits...)
}

// keep limits full text to the category asked for; nil where none is.
func (s *state) keep() func(chunkID string) bool {
	if s.req.Category == "" {
		return nil
	}
	return func(id string) bool {
		path, _, ok := s.e.deps.Documents.Owner(id)
		return ok && s.doc(path) != nil
	}
}

// askKnown asks full text how much of what the question is about the folder, or the category, has words for at all. Where full text is away,
// the question has the benefit of the doubt.
func (s *state) askKnown(ctx context.Context) {
	start := time.Now()
	words, named := contentWords(s.req.Query)
	t, err := s.e.askText(ctx, words, SearchOptions{Keep: s.keep()})
	if err != nil {
		return
	}
	s.known, s.named = t.Coverage, t.Coverage
	s.unheard = onlyFunction(s.req.Query) || onlyCodes(words) && t.Coverage < allKnown
	switch {
	case !hasHan(words):
	case named == "":
		s.named = 1
	default:
		if t, err = s.e.askText(ctx, named, SearchOptions{Keep: s.keep()}); err == nil {
			s.named = t.Coverage
		}
	}
	s.textTook += time.Since(start)
}

// allKnown is a share that leaves out nothing, as sums of floats come.
const allKnown = 0.999

// maxMatchChunks bounds the second search of a keyword that very many documents carry.
const maxMatchChunks = 1000

func (s *state) scoreMatches(at map[string]*exactMatch, hits []document.Hit) {
	for _, h := range hits {
		if path, _, ok := s.e.deps.Documents.Owner(h.ChunkID); ok {
			if m := at[path]; m != nil {
				m.text = max(m.text, h.Score)
			}
		}
	}
}

// doc returns an indexed document of the category asked for, or nil.
func (s *state) doc(path string) *Doc {
	d, seen := s.docs[path]
	if !seen {
		if d, _ = s.e.deps.Documents.Doc(path); d != nil && s.req.Category != "" && d.Category != s.req.Category {
			d = nil
		}
		s.docs[path] = d
	}
	return d
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
