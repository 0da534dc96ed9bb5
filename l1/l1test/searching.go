package l1test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"knowledged/l1"
)

func testSearch(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	var rows []l1.Row
	for i := range 40 {
		rows = append(rows, Row(fmt.Sprintf("%032x", i), i, "api"))
	}
	upsert(t, s, rows...)
	awaitIDs(t, s, idsOf(rows))
	if s.Count() != len(rows) {
		t.Errorf("Count %d, want %d", s.Count(), len(rows))
	}
	if s.Bytes() < 0 {
		t.Errorf("Bytes %d", s.Bytes())
	}
	for _, k := range []int{1, 7, 40, 1000} {
		hits := search(t, s, 3, k, "")
		if len(hits) != min(k, len(rows)) {
			t.Fatalf("k = %d: %d hits", k, len(hits))
		}
		if hits[0].ID != rows[3].ID || math.Abs(hits[0].Score-1) > 0.01 {
			t.Errorf("k = %d: first hit %+v, want %s with 1", k, hits[0], rows[3].ID)
		}
		for i, h := range hits {
			if i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("k = %d: hit %d scores more than the one before", k, i)
			}
			n := slices.IndexFunc(rows, func(r l1.Row) bool { return r.ID == h.ID })
			if n < 0 || math.Abs(h.Score-cosine(Vector(3), rows[n].Vector)) > 0.02 {
				t.Errorf("k = %d: hit %+v, not its cosine", k, h)
			}
		}
	}
	for _, k := range []int{0, -1} {
		if hits, err := s.Search(t.Context(), Vector(1), k, ""); err != nil || len(hits) != 0 {
			t.Errorf("k = %d: %v, %v", k, hits, err)
		}
	}
}

func testCategory(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	odd := `a"b\c' or 1==1 支付`
	var rows []l1.Row
	for i := range 30 {
		rows = append(rows, Row(fmt.Sprint(i), i, []string{"api", "domain", odd}[i%3]))
	}
	upsert(t, s, rows...)
	awaitIDs(t, s, idsOf(rows))
	for i, category := range []string{"api", "domain", odd} {
		await(t, "the rows of "+category, func() bool {
			hits := search(t, s, 1, 100, category)
			return len(hits) == 10 && !slices.ContainsFunc(hits, func(h l1.Hit) bool {
				n := slices.IndexFunc(rows, func(r l1.Row) bool { return r.ID == h.ID })
				return n%3 != i
			})
		})
	}
	if hits := search(t, s, 1, 100, "ap"); len(hits) != 0 {
		t.Errorf("half a category name finds %d rows", len(hits))
	}
}
