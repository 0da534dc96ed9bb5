package lookup

import (
	"context"
	"strings"
	"unicode"

	"knowledged/document"
)

// commonIn is from how many documents on, beyond those that it names, a word is a common one of the folder's texts: a
// keyword "gateway" that stands in a question about something else says nothing, "conntrack" does. What that does to
// the precision of unique matches: docs/ranking.md.
const commonIn = 3

// commonLook is how many passages are read to find that out.
const commonLook = 40

// keepWorthy leaves out matches that are not worth the name (SPEC 2.2): the document's names cover little of what is asked,
// and those of them that the question contains are common words. What the query is part of always counts. Where many
// documents match the answer is `low` whatever their names are worth; and of a few, one alone is not left over: a question
// in which several names occur is about none of them for sure.
func (s *state) keepWorthy(ctx context.Context) {
	if len(s.matches) > commonIn {
		return
	}
	common := make(map[string]bool)
	var kept []exactMatch
	for _, m := range s.matches {
		if m.cover < leadStrength {
			names := m.names[:0:0]
			for _, n := range m.names {
				if n.How == "name_contains_query" || !s.isCommon(ctx, document.FoldName(n.Name), common) {
					names = append(names, n)
				}
			}
			m.names = names
		}
		if len(m.names) > 0 {
			kept = append(kept, m)
		}
	}
	switch {
	case len(kept) == 1 && len(s.matches) > 1:
	case len(kept) == 1 && s.isStrange(ctx, kept[0]):
		s.matches = nil
	default:
		s.matches = kept
	}
}

// little is the share of a question below which a Chinese name says less than the product that is named beside it.
const little = 0.3

// isStrange reports a Chinese question about something with a Latin name of which the folder has never heard ("Zabbix
// 怎么添加自定义监控项"), where all that matches is a Chinese word beside it.
func (s *state) isStrange(ctx context.Context, m exactMatch) bool {
	_, named := contentWords(s.req.Query)
	if m.cover >= little || named == "" {
		return false
	}
	for _, n := range m.names {
		if n.How != "query_contains_name" || !hasHan(n.Name) {
			return false
		}
	}
	t, err := s.e.askText(ctx, named, SearchOptions{})
	return err == nil && t.Coverage < 0.5
}

// isCommon reports a name, folded, that the texts of commonIn documents hold which are not called so. known remembers.
func (s *state) isCommon(ctx context.Context, name string, known map[string]bool) bool {
	if is, ok := known[name]; ok {
		return is
	}
	carriers := make(map[string]bool)
	for _, m := range s.matches {
		for _, n := range m.names {
			if document.FoldName(n.Name) == name {
				carriers[m.path] = true
			}
		}
	}
	found, err := s.e.askText(ctx, name, SearchOptions{K: commonLook, Keep: func(id string) bool {
		path, _, ok := s.e.deps.Documents.Owner(id)
		return ok && !carriers[path]
	}})
	others := make(map[string]bool)
	want := []rune(name)
	oneWord := !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) || unicode.Is(unicode.Han, r) })
	for _, h := range found.Hits {
		if err != nil || len(others) >= commonIn {
			break
		}
		path, _, ok := s.e.deps.Documents.Owner(h.ChunkID)
		if !ok || others[path] {
			continue
		}
		if oneWord { // analysed as the texts are, plural and all: a hit holds it
			others[path] = true
			continue
		}
		if c, ok := s.e.deps.Documents.Chunk(h.ChunkID); ok && indexRunes(foldedRunes([]rune(c.Breadcrumb+"\n"+c.Text)), want, 0) >= 0 {
			others[path] = true
		}
	}
	known[name] = len(others) >= commonIn
	return known[name]
}
