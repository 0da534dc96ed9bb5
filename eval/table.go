package eval

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
)

// Row sums up one group of queries.
type Row struct {
	Name  string
	N     int
	Means map[Measure]float64 // measures that no query of the group has are absent
}

// resamples of the bootstrap.
const resamples = 2000

// Interval is the 95 % bootstrap interval of the means over all queries: two sets of which neither leaves the other's
// interval have not been told apart.
func Interval(queries []Query, outcomes map[string]Outcome) (low, high Row) {
	low = Row{Name: "  95% low", N: len(queries), Means: map[Measure]float64{}}
	high = Row{Name: "  95% high", N: len(queries), Means: map[Measure]float64{}}
	values := map[Measure][]float64{}
	for _, q := range queries {
		for m, v := range Score(q, outcomes[q.ID]) {
			values[m] = append(values[m], v)
		}
	}
	for _, m := range Measures { // in a fixed order with a fixed seed: the same run prints the same table
		v := values[m]
		if len(v) < 2 {
			continue
		}
		random := rand.New(rand.NewPCG(7, uint64(len(v))))
		means := make([]float64, resamples)
		for i := range means {
			sum := 0.0
			for range v {
				sum += v[random.IntN(len(v))]
			}
			means[i] = sum / float64(len(v))
		}
		slices.Sort(means)
		low.Means[m], high.Means[m] = means[resamples/40], means[resamples-resamples/40]
	}
	return low, high
}

// Summary is one row for all queries, then one for each language and each type.
func Summary(queries []Query, outcomes map[string]Outcome) []Row {
	groups := []struct {
		name string
		of   func(Query) string
	}{{"", func(Query) string { return "ALL" }}, {"lang=", func(q Query) string { return q.Lang }}, {"type=", func(q Query) string { return q.Type }}}
	var rows []Row
	for _, g := range groups {
		var names []string
		members := map[string][]Query{}
		for _, q := range queries {
			name := g.name + g.of(q)
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], q)
		}
		slices.Sort(names)
		for _, name := range names {
			rows = append(rows, row(name, members[name], outcomes))
		}
	}
	return rows
}

func row(name string, queries []Query, outcomes map[string]Outcome) Row {
	sums, counts := map[Measure]float64{}, map[Measure]int{}
	for _, q := range queries {
		for m, v := range Score(q, outcomes[q.ID]) {
			sums[m] += v
			counts[m]++
		}
	}
	for m := range sums {
		sums[m] /= float64(counts[m])
	}
	return Row{Name: name, N: len(queries), Means: sums}
}

// Print writes the rows as a table.
func Print(w io.Writer, rows []Row) {
	fmt.Fprintf(w, "%-14s %4s", "", "n")
	for _, m := range Measures {
		fmt.Fprintf(w, " %10s", m)
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		fmt.Fprintf(w, "%-14s %4d", r.Name, r.N)
		for _, m := range Measures {
			if v, ok := r.Means[m]; ok {
				fmt.Fprintf(w, " %10.3f", v)
			} else {
				fmt.Fprintf(w, " %10s", "-")
			}
		}
		fmt.Fprintln(w)
	}
}

// Misses writes the answerable queries that were answered worst, at most n, and what came first instead.
func Misses(w io.Writer, queries []Query, outcomes map[string]Outcome, n int) {
	type miss struct {
		q     Query
		score float64
	}
	var misses []miss
	for _, q := range queries {
		if len(q.Relevant) == 0 {
			if o := outcomes[q.ID]; o.Found && o.Relevance != "weak" {
				misses = append(misses, miss{q, 0})
			}
			continue
		}
		if s := Score(q, outcomes[q.ID])[NDCG]; s < 0.9 {
			misses = append(misses, miss{q, s})
		}
	}
	slices.SortStableFunc(misses, func(a, b miss) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return 0
	})
	for _, m := range misses[:min(n, len(misses))] {
		want := "nothing"
		if len(m.q.Relevant) > 0 {
			want = m.q.Relevant[0].Path
		}
		got := []string{}
		for _, p := range outcomes[m.q.ID].Results[:min(3, len(outcomes[m.q.ID].Results))] {
			got = append(got, p.Path)
		}
		fmt.Fprintf(w, "  %.2f %s %q wants %s, got %v\n", m.score, m.q.ID, m.q.Text, want, got)
	}
}
