package eval

import (
	"math"
	"slices"
	"strings"
)

// depth is how many results of an answer count.
const depth = 10

// Outcome is what one query was answered with.
type Outcome struct {
	Found     bool
	Relevance string // of the supplement; "" without one
	High      bool   // confidence: high
	Primary   string // path; "" without one
	Results   []Place
	Ms        float64
}

// Place is one entry of the results.
type Place struct {
	Path       string
	Breadcrumb string
}

// Measure names a column of the table.
type Measure string

// The measures, in the order of the table's columns. All are means over the queries that have them.
const (
	NDCG      Measure = "nDCG@10"    // gain 2^grade-1; of the language versions of one document the first counts
	Recall3   Measure = "recall@3"   // of the documents with grade 2 or 3, the share among the first three
	MRR       Measure = "MRR@10"     // 1 / place of the first document with grade 2 or 3
	Success1  Measure = "success@1"  // the first result has grade 2 or 3
	Section   Measure = "sec-acc"    // the first result with a named gold section is in that section, or below it
	HighShare Measure = "high"       // answered with confidence: high
	HighRight Measure = "high-right" // of those, primary is a relevant document
	FalseNo   Measure = "false-no"   // answerable, and found: false
	WeakNo    Measure = "weak-no"    // answerable, and at best relevance: weak
	TrueNo    Measure = "true-no"    // not answerable, and found: false
	TrueWeak  Measure = "true-weak"  // not answerable, and found: false or relevance: weak
)

// Measures lists all of them.
var Measures = []Measure{NDCG, Recall3, MRR, Success1, Section, HighShare, HighRight, FalseNo, WeakNo, TrueNo, TrueWeak}

// Score measures one answer.
func Score(q Query, o Outcome) map[Measure]float64 {
	weak := o.Found && o.Primary == "" && o.Relevance == "weak"
	m := map[Measure]float64{HighShare: truth(o.High)}
	if o.High {
		m[HighRight] = truth(slices.ContainsFunc(q.Relevant, func(r Relevant) bool { return r.Path == o.Primary }))
	}
	if len(q.Relevant) == 0 {
		m[TrueNo], m[TrueWeak] = truth(!o.Found), truth(!o.Found || weak)
		return m
	}
	m[FalseNo], m[WeakNo] = truth(!o.Found), truth(weak)
	byPath := map[string]Relevant{}
	best := map[string]int{} // group → grade
	for _, r := range q.Relevant {
		byPath[r.Path] = r
		best[groupOf(r)] = max(best[groupOf(r)], r.Grade)
	}
	grades := gradesOf(o.Results, byPath)
	ideal := make([]int, 0, len(best))
	wanted := 0
	for _, g := range best {
		ideal = append(ideal, g)
		if g >= 2 {
			wanted++
		}
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	m[NDCG] = gain(grades) / gain(ideal)
	m[Success1], m[MRR] = 0, 0
	good := 0
	for i, g := range grades[:min(len(grades), depth)] {
		if g < 2 {
			continue
		}
		if m[MRR] == 0 {
			m[MRR] = 1 / float64(i+1)
		}
		if i == 0 {
			m[Success1] = 1
		}
		if i < 3 {
			good++
		}
	}
	m[Recall3] = float64(good) / float64(max(1, min(3, wanted)))
	if right, ok := inSection(o.Results, byPath); ok {
		m[Section] = truth(right)
	}
	return m
}

func groupOf(r Relevant) string {
	if r.Group != "" {
		return "group " + r.Group
	}
	return r.Path
}

// gradesOf are the grades of the results, 0 for one that is not relevant. A second language version takes no place.
func gradesOf(results []Place, relevant map[string]Relevant) []int {
	var grades []int
	seen := map[string]bool{}
	for _, place := range results {
		r, ok := relevant[place.Path]
		key := place.Path
		if ok {
			key = groupOf(r)
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		grades = append(grades, r.Grade)
	}
	return grades
}

// gain is the discounted cumulative gain of the first ten.
func gain(grades []int) float64 {
	sum := 0.0
	for i, g := range grades[:min(len(grades), depth)] {
		sum += (math.Pow(2, float64(g)) - 1) / math.Log2(float64(i+2))
	}
	return sum
}

// inSection tells whether the first result that has a gold section is in it; ok is false where the query names none.
func inSection(results []Place, relevant map[string]Relevant) (right, ok bool) {
	for _, r := range relevant {
		ok = ok || r.Section != "" && r.Grade == 3
	}
	for _, place := range results[:min(len(results), depth)] {
		if r := relevant[place.Path]; ok && r.Section != "" && r.Grade == 3 {
			return slices.ContainsFunc(strings.Split(place.Breadcrumb, " > "), func(title string) bool {
				return plain(title) == plain(r.Section)
			}), true
		}
	}
	return false, ok
}

var markup = strings.NewReplacer("`", "", "*", "", "_", "")

func plain(title string) string {
	return strings.ToLower(strings.Join(strings.Fields(markup.Replace(strings.TrimLeft(title, "# "))), " "))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
