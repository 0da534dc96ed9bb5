package registry

import (
	"cmp"
	"math"
	"slices"
	"time"

	"knowledged/document"
)

const (
	statsSlowest    = 10
	statsUnanswered = 50

	slowMs = 2000 // a lookup that takes longer is slow (SPEC 7.1)
)

// Stats sums up lookups.
type Stats struct {
	Since        time.Time        `json:"since,omitzero"`
	Lookups      int              `json:"lookups"`
	Found        int              `json:"found"`
	Unanswered   int              `json:"unanswered"`
	Degraded     int              `json:"degraded"`
	Slow         int              `json:"slow"` // took more than 2 s
	ByReason     map[string]Tally `json:"byReason"`
	ByConfidence map[string]Tally `json:"byConfidence"`
	ByTool       map[string]Tally `json:"byTool"`
	TotalMs      Percentiles      `json:"totalMs"`
	L0Ms         Percentiles      `json:"l0Ms"`
	L1Ms         Percentiles      `json:"l1Ms"` // of lookups that ran L1
	Slowest      []Lookup         `json:"slowest"`

	// Unanswered queries, most frequent first; ones that differ in case or width only are one.
	UnansweredQueries []QueryCount `json:"unansweredQueries"`
	// The same, all of them, grouped by likeness: what to write next. Largest group first.
	UnansweredGroups []QueryGroup `json:"unansweredGroups"`
	// How often each document was what a lookup answered with, by source.
	Answered map[string]int `json:"answered"`
}

// Tally counts the lookups of one kind.
type Tally struct {
	Lookups int `json:"lookups"`
	Found   int `json:"found"`
}

// Percentiles of a duration, in milliseconds.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// QueryCount is a query, as last spelled, and how often it was asked.
type QueryCount struct {
	Query string    `json:"query"`
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

// Stats sums up the lookups since a time (the zero time: all that are kept).
func (h *History) Stats(since time.Time) Stats { return sumUp(h.List(since, 0), since) }

// sumUp expects the newest first.
func sumUp(lookups []Lookup, since time.Time) Stats {
	s := Stats{
		Since: since, Lookups: len(lookups),
		ByReason: map[string]Tally{}, ByConfidence: map[string]Tally{}, ByTool: map[string]Tally{},
		Slowest: []Lookup{}, UnansweredQueries: []QueryCount{}, Answered: map[string]int{},
	}
	var total, l0, l1 []float64
	unanswered := map[string]*QueryCount{}
	for _, l := range lookups {
		count(s.ByReason, l.Reason, l.Found)
		count(s.ByConfidence, l.Confidence, l.Found)
		count(s.ByTool, l.Tool, l.Found)
		total, l0 = append(total, l.TotalMs), append(l0, l.L0Ms)
		if l.L1Ms > 0 {
			l1 = append(l1, l.L1Ms)
		}
		if len(l.Degraded) > 0 {
			s.Degraded++
		}
		if l.TotalMs > slowMs {
			s.Slow++
		}
		if l.Found {
			s.Found++
			if l.Source != "" {
				s.Answered[l.Source]++
			}
			continue
		}
		s.Unanswered++
		key := document.Fold(l.Query)
		if unanswered[key] == nil {
			unanswered[key] = &QueryCount{Query: l.Query, Last: l.Time}
		}
		unanswered[key].Count++
	}
	s.TotalMs, s.L0Ms, s.L1Ms = percentiles(total), percentiles(l0), percentiles(l1)
	s.Slowest = slices.Clone(lookups)
	slices.SortStableFunc(s.Slowest, func(a, b Lookup) int { return cmp.Compare(b.TotalMs, a.TotalMs) })
	s.Slowest = append([]Lookup{}, s.Slowest[:min(len(s.Slowest), statsSlowest)]...)
	for _, q := range unanswered {
		s.UnansweredQueries = append(s.UnansweredQueries, *q)
	}
	slices.SortFunc(s.UnansweredQueries, func(a, b QueryCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(a.Query, b.Query))
	})
	s.UnansweredGroups = groupAlike(s.UnansweredQueries)
	s.UnansweredQueries = s.UnansweredQueries[:min(len(s.UnansweredQueries), statsUnanswered)]
	return s
}

// count adds to a kind's tally. Lookups by other doors than a tool have no tool's name and are not counted there.
func count(tallies map[string]Tally, kind string, found bool) {
	if kind == "" {
		return
	}
	t := tallies[kind]
	t.Lookups++
	if found {
		t.Found++
	}
	tallies[kind] = t
}

// percentiles by nearest rank. It sorts in place.
func percentiles(ms []float64) Percentiles {
	if len(ms) == 0 {
		return Percentiles{}
	}
	slices.Sort(ms)
	rank := func(p float64) float64 { return ms[int(math.Ceil(p*float64(len(ms))))-1] }
	return Percentiles{P50: rank(.50), P95: rank(.95), P99: rank(.99), Max: ms[len(ms)-1]}
}
