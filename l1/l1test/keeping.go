package l1test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"knowledged/l1"
)

func testUpsertReplaces(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	upsert(t, s, Row("a", 1, "api"), Row("b", 2, "api"))
	upsert(t, s, Row("a", 5, "domain"))
	awaitIDs(t, s, []string{"a", "b"})
	await(t, "a to be replaced", func() bool {
		hits := search(t, s, 5, 1, "")
		return len(hits) == 1 && hits[0].ID == "a" && hits[0].Score > 0.99
	})
	await(t, "a to change its category", func() bool {
		old, now := search(t, s, 5, 5, "api"), search(t, s, 5, 5, "domain")
		return len(old) == 1 && old[0].ID == "b" && len(now) == 1 && now[0].ID == "a"
	})
	if s.Count() != 2 {
		t.Errorf("Count %d after a replacement, want 2", s.Count())
	}
}

func testDelete(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	var rows []l1.Row
	for i := range 20 {
		rows = append(rows, Row(fmt.Sprint(i), i, ""))
	}
	upsert(t, s, rows...)
	awaitIDs(t, s, idsOf(rows))
	if err := s.Delete(t.Context(), []string{"0", "7", "19", "unknown", "7"}); err != nil {
		t.Fatal(err)
	}
	left := slices.DeleteFunc(idsOf(rows), func(id string) bool { return id == "0" || id == "7" || id == "19" })
	awaitIDs(t, s, left)
	await(t, "the deleted to be gone from searches", func() bool {
		hits := search(t, s, 7, 100, "")
		return len(hits) == len(left) && !slices.ContainsFunc(hits, func(h l1.Hit) bool { return h.ID == "7" })
	})
	for _, r := range rows { // nobody else's vector was disturbed
		if slices.Contains(left, r.ID) {
			if hits, err := s.Search(t.Context(), r.Vector, 1, ""); err != nil || len(hits) != 1 || hits[0].ID != r.ID {
				t.Errorf("after the deletion %s is found as %v, %v", r.ID, hits, err)
			}
		}
	}
	upsert(t, s, rows[7])
	awaitIDs(t, s, append(left, "7"))
	if err := s.Delete(t.Context(), idsOf(rows)); err != nil {
		t.Fatal(err)
	}
	awaitIDs(t, s, nil)
}

func testOddIDs(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	ids := []string{
		"0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789ABCDEF", "it's \"q\"", `back\slash`, "new\nline",
		`x" or id != "`, "支付网关", "a b", "100%", "0", "true", "{}", "in [1]",
	}
	var rows []l1.Row
	for i, id := range ids {
		rows = append(rows, Row(id, i, "api"))
	}
	upsert(t, s, rows...)
	awaitIDs(t, s, ids)
	for i, id := range ids {
		if hits := search(t, s, i, 1, ""); len(hits) != 1 || hits[0].ID != id {
			t.Errorf("%q is found as %v", id, hits)
		}
	}
	left := slices.Clone(ids)
	for len(left) > 0 {
		if err := s.Delete(t.Context(), left[:1]); err != nil {
			t.Fatalf("delete %q: %v", left[0], err)
		}
		left = left[1:]
		awaitIDs(t, s, left) // just that one is gone
	}
}

func testBadVectors(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	nan, inf := Vector(1), Vector(1)
	nan[3], inf[3] = float32(math.NaN()), float32(math.Inf(-1))
	for name, v := range map[string][]float32{
		"short": Vector(1)[:Dims-1], "long": append(Vector(1), 0), "nil": nil, "zero": make([]float32, Dims), "NaN": nan, "infinite": inf,
	} {
		bad := Row("bad", 1, "")
		bad.Vector = v
		if err := s.Upsert(t.Context(), []l1.Row{Row("good", 2, ""), bad}); err == nil {
			t.Errorf("Upsert of a %s vector is accepted", name)
		}
		if name == "zero" {
			continue // a search for nothing may as well find nothing
		}
		if _, err := s.Search(t.Context(), v, 1, ""); err == nil {
			t.Errorf("Search for a %s vector is accepted", name)
		}
	}
	if ids := sortedIDs(t, s); len(ids) != 0 {
		t.Errorf("refused batches left %v", ids)
	}
}

func testReopen(t *testing.T, open func(t *testing.T) l1.Store) {
	s := open(t)
	var rows []l1.Row
	for i := range 25 {
		rows = append(rows, Row(fmt.Sprint(i), i, []string{"api", ""}[i%2]))
	}
	upsert(t, s, rows...)
	upsert(t, s, Row("3", 99, "domain"))
	if err := s.Delete(t.Context(), []string{"5", "6"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, open)
	awaitIDs(t, s, slices.DeleteFunc(idsOf(rows), func(id string) bool { return id == "5" || id == "6" }))
	if hits := search(t, s, 99, 1, "domain"); len(hits) != 1 || hits[0].ID != "3" || hits[0].Score < 0.99 {
		t.Errorf("the replaced row is found as %v", hits)
	}
	if hits := search(t, s, 8, 1, "api"); len(hits) != 1 || hits[0].ID != "8" || hits[0].Score < 0.99 {
		t.Errorf("row 8 is found as %v", hits)
	}
}
