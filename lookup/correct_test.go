package lookup

import (
	"context"
	"strings"
	"testing"

	"knowledged/document"
)

// spelled matches one query alone, by the paths given, and knows what others are typos of.
type spelled struct {
	keywordFake
	query string
	by    []string
	typos map[string]string
	asked int
}

func (s *spelled) Match(query string) []document.Match {
	if query != s.query {
		return nil
	}
	var m []document.Match
	for _, p := range s.by {
		m = append(m, document.Match{Path: p, Names: []document.MatchedName{{Name: s.query, Kind: "keyword", How: "query_contains_name"}}})
	}
	return m
}

func (s *spelled) Correct(_ context.Context, query string) (string, bool) {
	s.asked++
	to, ok := s.typos[query]
	return to, ok
}

// SPEC 2.2, 2.4: a typo matches nothing; the answer is to the nearest spelling, says so, and is never high.
func TestCorrected(t *testing.T) {
	const name = "ERR_TIMEOUT"
	tests := []struct {
		query, to string
		by        []string
		primary   string
		hint      string
	}{
		{query: "ERR_TIMEOT", to: name, by: []string{"api/a.md"}, primary: "kb/api/a.md", hint: `No match for "ERR_TIMEOT"; looked up "ERR_TIMEOUT" instead.`},
		{query: "超时ERR_TIMEOT", to: name, by: []string{"api/a.md"}, primary: "kb/api/a.md", hint: "没有匹配“超时ERR_TIMEOT”的文档；改为查询“ERR_TIMEOUT”。"},
		{query: "ERR_TIMEOT", to: name, by: []string{"api/a.md", "api/b.md"}, primary: "kb/api/a.md", hint: `No match for`},
		{query: "ERR_TIMEOT", to: name},         // names only what is not there
		{query: "ERR_TIMEOT", to: "ERR_OTHER"},  // names nothing
		{query: "something else altogether"},    // no typo
		{query: name, by: []string{"api/a.md"}}, // matches as typed
	}
	for _, tt := range tests {
		w := threeDocs(t)
		good(w)
		kw := &spelled{keywordFake{w}, name, tt.by, map[string]string{}, 0}
		if tt.to != "" {
			kw.typos[tt.query] = tt.to
		}
		e := w.engine()
		e.deps.Keyword, e.deps.Corrector = kw, kw
		a, err := e.Lookup(t.Context(), Request{Query: tt.query, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		if tt.query == name {
			if kw.asked != 0 || a.Corrected != nil || a.Primary.Confidence != High {
				t.Errorf("%s: asked %d times, corrected %v", tt.query, kw.asked, a.Corrected)
			}
			continue
		}
		if a.Decision.Reason != ReasonNone || a.Decision.L0Matches != 0 || a.Decision.L1 != L1Used {
			t.Errorf("%s: decision %+v, want that of no match", tt.query, a.Decision)
		}
		if tt.primary == "" {
			if a.Corrected != nil || a.Primary != nil || a.Hint != "" || a.Explain.Query != tt.query {
				t.Errorf("%s: corrected %v, primary %v, hint %q, looked up %q", tt.query, a.Corrected, a.Primary, a.Hint, a.Explain.Query)
			}
			continue
		}
		if a.Corrected == nil || *a.Corrected != (Corrected{tt.query, tt.to}) || !a.Found || a.Explain.Query != tt.to {
			t.Errorf("%s: found %v, corrected %v", tt.query, a.Found, a.Corrected)
		}
		if a.Primary == nil || a.Primary.Source != tt.primary || a.Primary.Confidence != Low {
			t.Errorf("%s: primary %+v", tt.query, a.Primary)
		}
		if !strings.HasPrefix(a.Hint, tt.hint) || a.Primary.Hint != a.Hint {
			t.Errorf("%s: hint %q", tt.query, a.Hint)
		}
	}
}

// SPEC 2.2 with synonyms: what a synonym stands for covers the query by what was typed.
func TestWeighMatches_Synonym(t *testing.T) {
	matches := []exactMatch{{path: "a", names: []document.MatchedName{{Name: "Kubernetes", Kind: "keyword", How: "synonym", As: "k8s"}}}}
	weighMatches("K8S 部署", matches)
	if c := matches[0].cover; c < 0.4 || c > 0.5 { // 3 of 7
		t.Errorf("cover %v", c)
	}
	weighMatches("k8s", matches)
	if m := matches[0]; m.cover != 1 || m.strength != 1 {
		t.Errorf("cover %v, strength %v of the whole query", m.cover, m.strength)
	}
}
