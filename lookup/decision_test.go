package lookup

import (
	"encoding/json"
	"strings"
	"testing"

	"knowledged/document"
)

// three documents; passage 1 of each is found by meaning as the test says.
func threeDocs(t *testing.T) *world {
	w := newWorld(t)
	w.add("api/a.md", "Alpha", "api", "The alpha passage answers.")
	w.add("api/b.md", "Beta", "api", "The beta passage answers.")
	w.add("ops/c.md", "Gamma", "ops", "The gamma passage answers.")
	return w
}

func good(w *world) {
	w.meaning = []document.Hit{hit("api/b.md#1", 0.8), hit("api/a.md#1", 0.5), hit("ops/c.md#1", 0.3)}
	w.soft["The beta passage answers."] = 0.7
	w.soft["The alpha passage answers."] = 0.4
}

// TestDecisionTable_2_5 goes through the table of SPEC 2.5 row by row, with what 2.4 says of L1.
func TestDecisionTable_2_5(t *testing.T) {
	foreign := func(w *world) {
		w.meaning = []document.Hit{hit("api/a.md#1", 0.25)}
		w.soft["The alpha passage answers."] = 0.2
		w.coverage, w.known = 0.1, 0.2
	}
	tests := []struct {
		name    string
		matches []string
		set     func(*world)
		req     Request

		found                 bool
		primary, confidence   string
		compact               bool
		supplement, matchType string
		relevance, reason, l1 string
		asked                 int32
	}{
		{
			name: "1, not run", matches: []string{"api/a.md"}, set: good,
			found: true, primary: "api/a.md", confidence: High, compact: true, reason: ReasonUnique, l1: L1Skipped,
		},
		{
			name: "1, always: another document", matches: []string{"api/a.md"}, set: good, req: Request{AlwaysSemantic: true},
			found: true, primary: "api/a.md", confidence: High, compact: true, supplement: "api/b.md", matchType: MatchSemantic,
			relevance: Strong, reason: ReasonAlways, l1: L1Used, asked: 1,
		},
		{
			name: "1, always: never the document itself", matches: []string{"api/a.md"}, req: Request{AlwaysSemantic: true},
			set:   func(w *world) { w.meaning = []document.Hit{hit("api/a.md#1", 0.9)} },
			found: true, primary: "api/a.md", confidence: High, compact: true, reason: ReasonAlways, l1: L1Used, asked: 1,
		},
		{
			name: "1, always by configuration, nothing relevant elsewhere", matches: []string{"api/b.md"},
			set:   func(w *world) { foreign(w); w.cfg.AlwaysSemantic = true },
			found: true, primary: "api/b.md", confidence: High, compact: true, reason: ReasonAlways, l1: L1Used, asked: 1,
		},
		{
			name: "1, always, L1 off", matches: []string{"api/a.md"}, req: Request{AlwaysSemantic: true}, set: func(w *world) { w.noL1 = true },
			found: true, primary: "api/a.md", confidence: High, compact: true, reason: ReasonAlways, l1: L1Off,
		},
		{
			name: "2, has results", matches: []string{"api/a.md", "ops/c.md"}, set: good,
			found: true, primary: "api/a.md", confidence: Low, supplement: "api/b.md", matchType: MatchSemantic, relevance: Strong,
			reason: ReasonSeveral, l1: L1Used, asked: 1,
		},
		{
			name: "2, has doubtful results", matches: []string{"api/a.md", "ops/c.md"}, set: foreign,
			found: true, primary: "api/a.md", confidence: Low, supplement: "api/a.md", matchType: MatchSemantic, relevance: Weak,
			reason: ReasonSeveral, l1: L1Used, asked: 1,
		},
		{
			name: "2, nothing", matches: []string{"api/a.md", "ops/c.md"}, set: func(*world) {},
			found: true, primary: "api/a.md", confidence: Low, compact: true, reason: ReasonSeveral, l1: L1Empty, asked: 1,
		},
		{
			name: "2, failed", matches: []string{"api/a.md", "ops/c.md"}, set: func(w *world) { w.meaningErr = errBoom },
			found: true, primary: "api/a.md", confidence: Low, compact: true, reason: ReasonSeveral, l1: L1Failed, asked: 1,
		},
		{
			name: "0, has results", set: good,
			found: true, supplement: "api/b.md", matchType: MatchSemantic, relevance: Strong, reason: ReasonNone, l1: L1Used, asked: 1,
		},
		{name: "0, a doubtful result", set: func(w *world) {
			w.meaning = []document.Hit{hit("api/a.md#1", 0.35)}
			w.soft["The alpha passage answers."], w.coverage, w.known = 0.2, 0.1, 0.5
		}, found: true, supplement: "api/a.md", matchType: MatchSemantic, relevance: Weak, reason: ReasonNone, l1: L1Used, asked: 1},
		{
			name: "0, off, full text relevant", set: func(w *world) { w.noL1 = true; w.text = []document.Hit{hit("ops/c.md#1", 6)} },
			found: true, supplement: "ops/c.md", matchType: MatchFulltext, relevance: Strong, reason: ReasonNone, l1: L1Off,
		},
		{
			name: "0, failed, full text relevant", set: func(w *world) { w.meaningErr = errBoom; w.text = []document.Hit{hit("ops/c.md#1", 6)} },
			found: true, supplement: "ops/c.md", matchType: MatchFulltext, relevance: Strong, reason: ReasonNone, l1: L1Failed, asked: 1,
		},
		{
			name: "0, off, full text not relevant", set: func(w *world) {
				w.noL1 = true
				w.text = []document.Hit{hit("ops/c.md#1", 1)}
				w.coverage, w.known = 0.2, 0.4
			},
			reason: ReasonNone, l1: L1Off,
		},
		{name: "0, nothing relevant", set: foreign, reason: ReasonNone, l1: L1Used, asked: 1},
		{name: "0, nothing at all", set: func(*world) {}, reason: ReasonNone, l1: L1Empty, asked: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := threeDocs(t)
			w.match(tt.matches...)
			tt.set(w)
			a := w.lookup(tt.req)
			if a.Found != tt.found || a.Decision.Reason != tt.reason || a.Decision.L1 != tt.l1 || a.Decision.L0Matches != len(tt.matches) {
				t.Errorf("found %v, decision %+v", a.Found, a.Decision)
			}
			if n := w.meaningAsk.Load(); n != tt.asked {
				t.Errorf("L1 asked %d times, want %d", n, tt.asked)
			}
			switch {
			case tt.primary == "" && a.Primary != nil, tt.primary != "" && a.Primary == nil:
				t.Fatalf("primary %+v", a.Primary)
			case a.Primary != nil:
				p := a.Primary
				if p.Source != "kb/"+tt.primary || p.Confidence != tt.confidence || p.MatchType != MatchExact || p.Section != nil {
					t.Errorf("primary %+v", p)
				}
				if compact := strings.Contains(p.Content, "---\n"); compact != tt.compact {
					t.Errorf("compact %v, content %q", compact, p.Content)
				}
			}
			switch {
			case tt.supplement == "" && a.Supplement != nil, tt.supplement != "" && a.Supplement == nil:
				t.Fatalf("supplement %+v", a.Supplement)
			case a.Supplement != nil:
				if x := a.Supplement; x.Source != "kb/"+tt.supplement || x.MatchType != tt.matchType || x.Relevance != tt.relevance || x.Content == "" || x.Breadcrumb == "" {
					t.Errorf("supplement %+v", x)
				}
			}
			if !a.Found && len(a.Results) > 0 {
				t.Errorf("not found, yet results %q: a neighbour is no answer", sources(a))
			}
			for i, m := range tt.matches {
				if i < len(a.Results) && !strings.Contains(strings.Join(sources(a), " "), m) {
					t.Errorf("match %s not in results %q", m, sources(a))
				}
			}
			noNullLists(t, a)
		})
	}
}

// noNullLists: SPEC 2.2 and 2.5: an empty list is [], and the nullable fields are there as null.
func noNullLists(t *testing.T, a *Answer) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"primary", "supplement"} {
		if _, ok := m[k]; !ok {
			t.Errorf("no %q in %s", k, raw)
		}
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case nil:
			if path != ".primary" && path != ".supplement" && path != ".primary.section" {
				t.Errorf("%s is null in %s", path, raw)
			}
		case map[string]any:
			for k, x := range v {
				walk(path+"."+k, x)
			}
		case []any:
			for _, x := range v {
				walk(path+"[]", x)
			}
		}
	}
	walk("", m)
}

// SPEC 2.4, 8: a unique match needs neither index; its result still has a passage around what matched.
func TestUniqueMatchTouchesNoIndex_2_4(t *testing.T) {
	w := newWorld(t)
	w.add("api/a.md", "Alpha", "api", "Nothing of note.", "Here the query is explained.")
	w.match("api/a.md")
	a := w.lookup(Request{})
	if w.textAsk.Load() != 0 || w.meaningAsk.Load() != 0 || a.Timings.L1Ms != 0 {
		t.Errorf("full text asked %d times, L1 %d times, %+v", w.textAsk.Load(), w.meaningAsk.Load(), a.Timings)
	}
	if len(a.Results) != 1 || a.Results[0].Snippet != "Here the query is explained." || a.Results[0].Ranks != (Ranks{Exact: 1}) {
		t.Errorf("results %+v", a.Results)
	}
	w.cfg.FillUnique = true
	w.add("api/b.md", "Beta", "api", "More on it.")
	w.text = []document.Hit{hit("api/b.md#1", 5), hit("api/a.md#2", 4)}
	if w.lookup(Request{}); w.textAsk.Load() != 0 {
		t.Error("full text asked though the name is the query")
	}
	a = w.lookup(Request{Query: "a long question with the query somewhere in it"})
	wantList(t, "filled, the match first", sources(a), []string{"api/a.md", "api/b.md"})
	if w.meaningAsk.Load() != 0 || a.Primary.Confidence != High || a.Supplement != nil {
		t.Errorf("filling changed the answer: %+v", a)
	}
}

// SPEC 2.3: several matches are ordered by full-text score, equal scores by path, whatever the order of the table.
func TestSeveralMatchesByFullText_2_3(t *testing.T) {
	w := threeDocs(t)
	w.match("api/a.md", "api/b.md", "ops/c.md")
	w.text = []document.Hit{hit("ops/c.md#1", 9), hit("api/b.md#0", 3), hit("api/a.md#1", 3)}
	a := w.lookup(Request{})
	if a.Primary.Source != "kb/ops/c.md" {
		t.Errorf("primary %s", a.Primary.Source)
	}
	for i, want := range map[string]int{"ops/c.md": 1, "api/a.md": 2, "api/b.md": 3} {
		for _, r := range a.Results {
			if r.Source == "kb/"+i && r.Ranks.Exact != want {
				t.Errorf("%s: exact rank %d, want %d", i, r.Ranks.Exact, want)
			}
		}
	}
}

// A match that the best hits of full text don't include is scored by a second search over the matches' own chunks.
func TestMatchesBeyondTheBestHitsAreScored_2_3(t *testing.T) {
	w := newWorld(t)
	w.cfg.Candidates = 3
	for _, p := range []string{"n1.md", "n2.md", "n3.md", "n4.md", "n5.md", "n6.md", "n7.md", "n8.md", "n9.md"} {
		w.add(p, p, "", "noise")
		w.text = append(w.text, hit(p+"#1", 9), hit(p+"#0", 8))
	}
	w.add("x.md", "X", "", "one")
	w.add("y.md", "Y", "", "two")
	w.text = append(w.text, hit("y.md#1", 2), hit("x.md#1", 1))
	w.match("x.md", "y.md")
	a := w.lookup(Request{TopK: 4})
	if a.Primary.Source != "kb/y.md" {
		t.Errorf("primary %s, full text prefers y.md", a.Primary.Source)
	}
	if w.textAsk.Load() != 2 {
		t.Errorf("full text asked %d times", w.textAsk.Load())
	}
}

// SPEC 2.2: every match counts, and a long list has them all, before others.
func TestEveryMatchIsListed_2_2(t *testing.T) {
	w := newWorld(t)
	var matched []string
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		p := string(c) + "/doc.md"
		w.add(p, "Doc "+string(c), "", "text "+string(c))
		w.text = append(w.text, hit(p+"#1", 5))
		if c > 'f' {
			matched = append(matched, p)
		}
	}
	w.match(matched...)
	a := w.lookup(Request{TopK: 20})
	n := 0
	for _, r := range a.Results {
		if r.Ranks.Exact > 0 {
			n++
		}
	}
	if a.Decision.L0Matches != 20 || n != 20 {
		t.Errorf("l0Matches %d, listed %d of 20", a.Decision.L0Matches, n)
	}
	if a = w.lookup(Request{}); len(a.Results) != 5 || a.Decision.L0Matches != 20 {
		t.Errorf("default topK: %d results, l0Matches %d", len(a.Results), a.Decision.L0Matches)
	}
}

// A code that the category has nothing on is not answered as if it had: what is known is asked of the category.
func TestCategoryKnowsWhatItHolds(t *testing.T) {
	w := threeDocs(t)
	good(w)
	w.known, w.coverage, w.knownIn = 1, 0.2, []string{"ops/c.md#1"}
	if a := w.lookup(Request{Query: "PG-504", Category: "ops"}); a.Supplement == nil {
		t.Error("ops has it: not found")
	}
	if a := w.lookup(Request{Query: "PG-504", Category: "api"}); a.Supplement != nil && a.Supplement.Relevance == Strong {
		t.Errorf("api has it not: %+v", a.Supplement)
	}
	w.knownIn = []string{"api/a.md#1"}
	if a := w.lookup(Request{Query: "PG-504", Category: "api"}); a.Supplement == nil || a.Supplement.Relevance != Strong {
		t.Errorf("api has it: %+v", a.Supplement)
	}
}

// `category` applies to matches, full text, meaning and results alike.
func TestCategory(t *testing.T) {
	w := threeDocs(t)
	w.match("api/a.md", "ops/c.md")
	w.text = []document.Hit{hit("api/b.md#1", 9), hit("ops/c.md#1", 3)}
	good(w)
	a := w.lookup(Request{Category: "ops"})
	if a.Decision.L0Matches != 1 || a.Primary.Source != "kb/ops/c.md" || a.Primary.Confidence != High {
		t.Errorf("%+v %+v", a.Decision, a.Primary)
	}
	w.matches = nil
	a = w.lookup(Request{Category: "ops"})
	wantList(t, "results", sources(a), []string{"ops/c.md"})
	if w.category != "ops" {
		t.Errorf("L1 was asked for category %q", w.category)
	}
	if a = w.lookup(Request{Category: "nowhere"}); a.Found || len(a.Results) > 0 || a.Decision.L1 != L1Empty {
		t.Errorf("unknown category: %+v", a)
	}
}
