package mcp

import (
	"fmt"
	"strings"

	"knowledged/lookup"
)

// text is an answer for a model to read: how sure first, then what is known, then where else to look.
func (s *Server) text(a *lookup.Answer) string {
	var b strings.Builder
	switch {
	case !a.Found && len(a.Degraded) > 0:
		b.WriteString("found: false\nNothing was found, but not all could be asked; see the note. Do not guess.\n")
	case !a.Found:
		b.WriteString("found: false\nThe documents do not cover this. Do not guess.\n")
	case a.Primary != nil:
		s.primary(&b, a)
	}
	if p := a.Supplement; p != nil {
		if b.Len() > 0 {
			b.WriteString("\n---\n")
		}
		fmt.Fprintf(&b, "Passage by meaning, relevance: %s%s\n%s\nsource: %s (%s)\n\n%s\n",
			p.Relevance, meaning(p.Relevance), p.Breadcrumb, p.Source, s.uri(p.Source), strings.TrimRight(p.Content, "\n"))
	}
	s.others(&b, a)
	if a.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s\n", a.Hint)
	}
	for _, d := range a.Degraded {
		fmt.Fprintf(&b, "\nnote: %s\n", degraded[d])
	}
	return b.String()
}

var degraded = map[string]string{
	lookup.DegradedIndexing: "the folder is still being indexed; ask again in a moment",
	lookup.DegradedL1:       "answered without the semantic index",
	lookup.DegradedL0:       "answered without the keyword index",
}

func meaning(relevance string) string {
	if relevance == lookup.Weak {
		return " (may be beside the point)"
	}
	return ""
}

func (s *Server) primary(b *strings.Builder, a *lookup.Answer) {
	p := a.Primary
	why := "the only document of that name"
	if p.Confidence == lookup.Low {
		why = fmt.Sprintf("the best of %d that match", a.Decision.L0Matches)
		if a.Decision.L0Matches == 1 {
			why = "one matches, but it may not be what is meant"
		}
	}
	fmt.Fprintf(b, "confidence: %s (%s)\n# %s\nsource: %s (%s)\n", p.Confidence, why, p.Title, p.Source, s.uri(p.Source))
	switch {
	case p.Section != nil:
		fmt.Fprintf(b, "section: %s\n", *p.Section)
	case len(p.AvailableSections) > 0:
		fmt.Fprintf(b, "sections for section_title: %s\n", strings.Join(p.AvailableSections, " | "))
	}
	fmt.Fprintf(b, "\n%s\n", strings.TrimRight(p.Content, "\n"))
}

// others lists the results that were not shown in full.
func (s *Server) others(b *strings.Builder, a *lookup.Answer) {
	for i, r := range a.Others() {
		if i == 0 {
			b.WriteString("\n---\nOther documents that may fit:\n")
		}
		fmt.Fprintf(b, "- %s (%s)\n", r.Breadcrumb, r.Source)
	}
}

func (s *Server) uri(source string) string { return uriOf(strings.TrimPrefix(source, s.baseName+"/")) }
