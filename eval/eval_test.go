package eval

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/lookup"
)

var (
	set    = flag.String("set", "", "judge this set instead: a folder with queries.jsonl and corpus_fm/ or corpus/")
	misses = flag.Int("misses", 15, "how many of the worst answers to print")
)

// floors are what a change must not fall below (or, of FalseNo and WeakNo, rise above): the lower ends of the 95 %
// bootstrap intervals, rounded away. They catch what is broken, not what is a little worse: for that, compare the tables.
var floors = map[Measure]float64{
	NDCG: 0.86, Success1: 0.79, Section: 0.60, HighRight: 0.90, FalseNo: 0.05, WeakNo: 0.18, TrueNo: 0.45, TrueWeak: 0.74,
}

// SPEC 2.8: the default ranking answers the repository's own judged set. `make eval` prints the table.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes a corpus")
	}
	queries, folders := judged(t)
	outcomes := ask(t, folders, queries)
	rows := Summary(queries, outcomes)
	var out strings.Builder
	low, high := Interval(queries, outcomes)
	Print(&out, slices.Insert(slices.Clone(rows), 1, low, high))
	out.WriteString("\nanswered worst\n")
	Misses(&out, queries, outcomes, *misses)
	t.Log("\n" + out.String())
	if *set != "" {
		return
	}
	for measure, floor := range floors {
		got := rows[0].Means[measure]
		below := got < floor
		if measure == FalseNo || measure == WeakNo {
			below = got > floor
		}
		if below {
			t.Errorf("%s is %.3f, the floor is %.3f", measure, got, floor)
		}
	}
}

// judged is the set that is asked: the repository's own, or that of -set.
func judged(t *testing.T) (queries []Query, folders []string) {
	t.Helper()
	if *set != "" {
		return foreign(t, *set)
	}
	return own(t)
}

func own(t *testing.T) (queries []Query, folders []string) {
	t.Helper()
	queries, err := Load("queries.jsonl", "unanswerable.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return queries, []string{"../knowledge_base", "corpus"}
}

func foreign(t *testing.T, dir string) (queries []Query, folders []string) {
	t.Helper()
	queries, err := Load(filepath.Join(dir, "queries.jsonl"), filepath.Join(dir, "unanswerable.jsonl"))
	if err != nil || len(queries) == 0 {
		t.Fatalf("%s holds no queries.jsonl: %v", dir, err)
	}
	corpus := filepath.Join(dir, "corpus_fm")
	if _, err := os.Stat(corpus); err != nil {
		corpus = filepath.Join(dir, "corpus")
	}
	return queries, []string{corpus}
}

// ask runs a daemon over copies of the folders and asks it everything.
func ask(t *testing.T, folders []string, queries []Query, settings ...func(*config.Config)) map[string]Outcome {
	t.Helper()
	dir := t.TempDir()
	base := filepath.Join(dir, "kb")
	if err := CopyCorpus(base, folders...); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Knowledge.BasePath = base
	cfg.StateDir = filepath.Join(dir, "state")
	cfg.Watch.Mode = "poll"
	cfg.Lookup.L1Timeout = config.Duration(time.Minute) // a busy machine must not change the ranking
	for _, change := range settings {
		change(&cfg)
	}
	d, err := daemon.New(&cfg, "eval", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, nil) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.WaitIndexed(ctx, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]Outcome{}
	for _, q := range queries {
		a, err := d.Lookup(ctx, lookup.Request{Query: q.Text, TopK: depth})
		if err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
		if len(a.Degraded) > 0 {
			t.Errorf("%s: degraded %v", q.ID, a.Degraded)
		}
		outcomes[q.ID] = outcomeOf(a)
	}
	return outcomes
}

func outcomeOf(a *lookup.Answer) Outcome {
	below := func(source string) string { return strings.TrimPrefix(source, "kb/") }
	o := Outcome{Found: a.Found, Ms: a.Timings.TotalMs}
	for _, r := range a.Results {
		o.Results = append(o.Results, Place{Path: below(r.Source), Breadcrumb: r.Breadcrumb})
	}
	if a.Supplement != nil {
		o.Relevance = a.Supplement.Relevance
	}
	if a.Primary != nil {
		o.Primary, o.High = below(a.Primary.Source), a.Primary.Confidence == lookup.High
	}
	return o
}
