package lookup

import (
	"context"
	"log/slog"
	"time"
	"unicode/utf8"

	"knowledged/document"
)

// explain lists every rank and score of what is shown.
func (s *state) explain(ev Evidence) *Explain {
	x := &Explain{
		Query: s.req.Query, Method: s.e.cfg.Fusion.Method, Evidence: ev, Matches: []ExplainMatch{},
		Results: []ExplainDoc{}, MatchesMs: ms(s.matchTook), TextMs: ms(s.textTook), FuseMs: ms(s.fuse),
	}
	for _, m := range s.matches[:min(len(s.matches), MaxTopK)] {
		x.Matches = append(x.Matches, ExplainMatch{Source: m.doc.Source, Names: m.names, Cover: m.cover, Worth: m.strength, Score: m.text})
	}
	for _, d := range choose(s.list, s.req.TopK) {
		p := d.parts
		p.Source, p.Contributions = s.doc(d.path).Source, []document.Contribution{}
		if len(s.meaning.hits) > 0 { // else it is 0 and none
			p.Cosine = s.e.cfg.Calibration.cosine(p.Cosine)
		}
		if d.best != nil && d.best.why >= 0 {
			p.Contributions = append(p.Contributions, s.text.Hits[d.best.why].Why...)
		}
		x.Results = append(x.Results, p)
	}
	return x
}

// report sets the timings and writes the one line a lookup leaves (SPEC 7.1).
func (s *state) report(a *Answer) {
	total := time.Since(s.start)
	a.Timings = Timings{L0Ms: ms(s.matchTook + s.textTook), L1Ms: ms(s.meaning.took), TotalMs: ms(total)}
	if !s.req.Preview { // half a word finds nothing, and that is no failure
		s.e.deps.Metrics.observe(a, s.matchTook+s.textTook, s.meaning.took, total)
	}
	args := []any{"reason", a.Decision.Reason, "found", a.Found, "l0Matches", a.Decision.L0Matches, "l1", a.Decision.L1}
	if p := a.Primary; p != nil {
		args = append(args, "source", p.Source, "title", p.Title, "confidence", p.Confidence,
			"chars", utf8.RuneCountInString(p.Content), "sections", len(p.AvailableSections))
	}
	if x := a.Supplement; x != nil {
		args = append(args, "supplement", x.Source, "matchType", x.MatchType, "relevance", x.Relevance, "similarity", x.Score)
	} else if len(s.meaning.hits) > 0 {
		args = append(args, "similarity", s.meaning.hits[0].Score)
	}
	if len(a.Degraded) > 0 {
		args = append(args, "degraded", a.Degraded)
	}
	args = append(args, "results", len(a.Results), "caller", s.req.Caller, "l0Ms", a.Timings.L0Ms, "l1Ms", a.Timings.L1Ms, "took", total)
	level := slog.LevelInfo
	if s.req.Preview {
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, "lookup", args...)
	if total > slowLookup {
		s.log.Warn("slow lookup", "took", total, "l0Ms", a.Timings.L0Ms, "l1Ms", a.Timings.L1Ms)
	}
}
