package eval

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"knowledged/config"
)

// silence counts how questions of one kind were answered.
type silence struct{ asked, none, weak, high int }

func (s *silence) add(o Outcome) {
	s.asked++
	switch {
	case !o.Found:
		s.none++
	case o.High:
		s.high++
	case o.Relevance == "weak":
		s.weak++
	}
}

func (s *silence) String() string {
	n := float64(max(1, s.asked))
	return fmt.Sprintf("%4d asked: found false %.2f, weak %.2f, together %.2f, high %d", s.asked, float64(s.none)/n, float64(s.weak)/n, float64(s.none+s.weak)/n, s.high)
}

// SPEC 2.5: what a folder has nothing about is not answered by its nearest neighbour. Each part of the set (its folders by
// what stands before a hyphen) is asked what only the others answer, and everyday questions; what it does answer must not
// fall silent with it. The thresholds of lookup.BuiltinCalibration are set by this table; docs/ranking.md says how.
func TestSilence(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes a corpus part by part")
	}
	queries, folders := judged(t)
	if *set != "" {
		others, err := Load("unanswerable.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		queries = append(queries, others...)
	}
	parts := map[string][]string{}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name, _, _ := strings.Cut(e.Name(), "-"); e.IsDir() {
				parts[name] = append(parts[name], filepath.Join(folder, e.Name()))
			}
		}
	}
	if *set == "" { // the others say much the same, and the race detector takes its time
		for _, part := range slices.Sorted(maps.Keys(parts))[3:] {
			delete(parts, part)
		}
	}
	counts := map[string]*silence{}
	for part, dirs := range parts {
		kinds := map[string]string{}
		var asked []Query
		for _, q := range queries {
			if kind := kindFor(part, q); kind != "" {
				kinds[q.ID] = kind
				asked = append(asked, q)
			}
		}
		for id, o := range ask(t, dirs, asked) {
			if counts[kinds[id]] == nil {
				counts[kinds[id]] = &silence{}
			}
			counts[kinds[id]].add(o)
		}
	}
	var out strings.Builder
	for _, kind := range []string{"answerable", "foreign", "everyday", "neighbour"} {
		if counts[kind] == nil {
			counts[kind] = &silence{}
		}
		fmt.Fprintf(&out, "%-11s%v\n", kind, counts[kind])
	}
	t.Log("\n" + out.String())
	if *set != "" {
		return
	}
	quiet := *counts["foreign"]
	quiet.asked += counts["everyday"].asked
	quiet.none += counts["everyday"].none
	quiet.weak += counts["everyday"].weak
	if n := float64(quiet.asked); float64(quiet.none) < 0.5*n || float64(quiet.none+quiet.weak) < 0.85*n {
		t.Errorf("foreign and everyday questions: %v", &quiet)
	}
	if a := counts["answerable"]; float64(a.none) > 0.15*float64(a.asked) {
		t.Errorf("answerable questions: %v", a)
	}
}

// SPEC 2.5, 2.7: where the semantic index is off or away, full text alone does not call most of what the folder answers
// "not found", nor the rest an answer.
func TestSilenceOfTextAlone(t *testing.T) {
	queries, folders := judged(t)
	outcomes := ask(t, folders, queries, func(c *config.Config) { c.L1.Backend = config.BackendOff })
	var answerable, others silence
	for _, q := range queries {
		if len(q.Relevant) == 0 {
			others.add(outcomes[q.ID])
		} else {
			answerable.add(outcomes[q.ID])
		}
	}
	t.Logf("\nanswerable %v\nothers     %v", &answerable, &others)
	if float64(answerable.none) > 0.18*float64(answerable.asked) {
		t.Errorf("answerable questions: %v", &answerable)
	}
	if float64(others.none+others.weak) < 0.85*float64(others.asked) && *set == "" {
		t.Errorf("questions that the folder does not answer: %v", &others)
	}
}

// kindFor says what a query is to a part of the set; "" for nothing clear: it helps a little.
func kindFor(part string, q Query) string {
	if len(q.Relevant) == 0 {
		if strings.HasSuffix(q.Type, "everyday") {
			return "everyday"
		}
		return "neighbour"
	}
	here := func(r Relevant) bool {
		top, _, _ := strings.Cut(r.Path, "/")
		name, _, _ := strings.Cut(top, "-")
		return name == part
	}
	switch {
	case !slices.ContainsFunc(q.Relevant, here):
		return "foreign"
	case slices.ContainsFunc(q.Relevant, func(r Relevant) bool { return here(r) && r.Grade == 3 }):
		return "answerable"
	}
	return ""
}
