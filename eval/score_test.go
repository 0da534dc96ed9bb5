package eval

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func places(paths ...string) []Place {
	var out []Place
	for _, p := range paths {
		path, crumb, _ := strings.Cut(p, "|")
		out = append(out, Place{Path: path, Breadcrumb: crumb})
	}
	return out
}

func TestScore(t *testing.T) {
	two := []Relevant{{Path: "a", Grade: 3, Section: "How `to`"}, {Path: "b", Grade: 2}}
	versions := []Relevant{{Path: "en", Grade: 3, Group: "g"}, {Path: "zh", Grade: 2, Group: "g"}, {Path: "c", Grade: 3}}
	log3 := math.Log2(3)
	for name, c := range map[string]struct {
		relevant []Relevant
		outcome  Outcome
		want     map[Measure]float64
	}{
		"perfect": {
			two,
			Outcome{Found: true, Results: places("a|T > How to", "b")},
			map[Measure]float64{NDCG: 1, Recall3: 1, MRR: 1, Success1: 1, Section: 1, FalseNo: 0, WeakNo: 0},
		},
		"swapped, wrong section": {
			two,
			Outcome{Found: true, Results: places("b", "a|T > Other")},
			map[Measure]float64{NDCG: (3 + 7/log3) / (7 + 3/log3), Success1: 1, Section: 0},
		},
		"second place": {
			two,
			Outcome{Found: true, Results: places("x", "a|T > how to > Deeper")},
			map[Measure]float64{NDCG: (7 / log3) / (7 + 3/log3), MRR: 0.5, Recall3: 0.5, Success1: 0, Section: 1},
		},
		"a second language version takes no place": {
			versions,
			Outcome{Found: true, Results: places("zh", "en", "c")},
			map[Measure]float64{NDCG: (3 + 7/log3) / (7 + 7/log3), Recall3: 1},
		},
		"nothing": {two, Outcome{}, map[Measure]float64{NDCG: 0, MRR: 0, Success1: 0, Section: 0, FalseNo: 1, WeakNo: 0, HighShare: 0}},
		"weak":    {two, Outcome{Found: true, Relevance: "weak", Results: places("a")}, map[Measure]float64{WeakNo: 1, FalseNo: 0}},
		"high and right": {
			two,
			Outcome{Found: true, High: true, Primary: "b", Results: places("b")},
			map[Measure]float64{HighShare: 1, HighRight: 1, WeakNo: 0},
		},
		"high and wrong":             {two, Outcome{Found: true, High: true, Primary: "x"}, map[Measure]float64{HighRight: 0}},
		"not answerable, and so":     {nil, Outcome{}, map[Measure]float64{TrueNo: 1, TrueWeak: 1}},
		"not answerable, weak":       {nil, Outcome{Found: true, Relevance: "weak"}, map[Measure]float64{TrueNo: 0, TrueWeak: 1}},
		"not answerable, and a name": {nil, Outcome{Found: true, Primary: "a", Relevance: "weak"}, map[Measure]float64{TrueNo: 0, TrueWeak: 0}},
	} {
		got := Score(Query{Relevant: c.relevant}, c.outcome)
		for m, want := range c.want {
			if v, ok := got[m]; !ok || math.Abs(v-want) > 1e-9 {
				t.Errorf("%s: %s is %v, want %v", name, m, v, want)
			}
		}
	}
}

func TestScoreLeavesOutWhatDoesNotApply(t *testing.T) {
	got := Score(Query{Relevant: []Relevant{{Path: "a", Grade: 3}}}, Outcome{Found: true, Results: places("a")})
	for _, m := range []Measure{Section, HighRight, TrueNo, TrueWeak} {
		if v, ok := got[m]; ok {
			t.Errorf("%s is %v, want none", m, v)
		}
	}
}

func TestSummaryIntervalAndTable(t *testing.T) {
	queries := []Query{
		{ID: "1", Lang: "en", Type: "para", Text: "one", Relevant: []Relevant{{Path: "a", Grade: 3}}},
		{ID: "2", Lang: "zh", Type: "para", Text: "two", Relevant: []Relevant{{Path: "b", Grade: 3}}},
		{ID: "3", Lang: "zh", Type: "unans", Text: "three"},
	}
	outcomes := map[string]Outcome{
		"1": {Found: true, Results: places("a")}, "2": {Found: true, Results: places("x", "y")}, "3": {Found: true, Results: places("z")},
	}
	rows := Summary(queries, outcomes)
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, " "); got != "ALL lang=en lang=zh type=para type=unans" {
		t.Errorf("rows are %s", got)
	}
	if got := rows[0].Means[NDCG]; got != 0.5 {
		t.Errorf("mean nDCG is %v, want 0.5: the unanswerable query has none", got)
	}
	low, high := Interval(queries, outcomes)
	if low.Means[NDCG] != 0 || high.Means[NDCG] != 1 {
		t.Errorf("interval is %v to %v, want 0 to 1", low.Means[NDCG], high.Means[NDCG])
	}
	var out strings.Builder
	Print(&out, rows)
	if lines := strings.Split(out.String(), "\n"); len(lines) != 7 || !strings.Contains(lines[1], "0.500") || !strings.Contains(lines[5], " -") {
		t.Errorf("table is\n%s", out.String())
	}
	out.Reset()
	Misses(&out, queries, outcomes, 5)
	want := "  0.00 2 \"two\" wants b, got [x y]\n  0.00 3 \"three\" wants nothing, got [z]\n"
	if out.String() != want {
		t.Errorf("misses are\n%swant\n%s", out.String(), want)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("good.jsonl", `{"id":"1","query":"a"}`+"\n\n"+`{"id":"2","query":"b"}`+"\n")
	queries, err := Load(good, filepath.Join(dir, "absent.jsonl"))
	if err != nil || len(queries) != 2 {
		t.Fatalf("%v, %v", queries, err)
	}
	for name, text := range map[string]string{"broken": "{\n", "twice": `{"id":"1","query":"a"}` + "\n" + `{"id":"1","query":"b"}`, "blank": `{"id":"1","query":""}`} {
		if _, err := Load(write(name, text)); err == nil || !strings.Contains(err.Error(), name+" line") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
