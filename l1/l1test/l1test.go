// Package l1test is the contract of l1.Store as a test that every backend runs.
package l1test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"knowledged/l1"
)

// Dims is the length of the vectors that TestStore uses.
const Dims = 16

// patience is how long a remote store may take until a write is seen.
const patience = 30 * time.Second

// TestStore runs the contract. open opens a store of Dims dimensions: an empty one at first, and after Close, in the same
// test (by t.Name()), the one with what was stored. TestStore closes what it opens.
func TestStore(t *testing.T, open func(t *testing.T) l1.Store) {
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, open func(t *testing.T) l1.Store)
	}{
		{"Empty", testEmpty},
		{"Search", testSearch},
		{"UpsertReplaces", testUpsertReplaces},
		{"Delete", testDelete},
		{"Category", testCategory},
		{"OddIDs", testOddIDs},
		{"BadVectors", testBadVectors},
		{"Reopen", testReopen},
		{"Concurrent", testConcurrent},
		{"CancelledContext", testCancelled},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open) })
	}
}

func testEmpty(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	hits, err := s.Search(t.Context(), Vector(1), 5, "")
	if err != nil || len(hits) != 0 {
		t.Errorf("Search of nothing: %v, %v", hits, err)
	}
	if hits, err := s.Search(t.Context(), Vector(1), 5, "api"); err != nil || len(hits) != 0 {
		t.Errorf("Search of nothing in a category: %v, %v", hits, err)
	}
	if ids := sortedIDs(t, s); len(ids) != 0 {
		t.Errorf("IDs: %v", ids)
	}
	if err := s.Upsert(t.Context(), nil); err != nil {
		t.Errorf("Upsert of no rows: %v", err)
	}
	if err := s.Delete(t.Context(), nil); err != nil {
		t.Errorf("Delete of no ids: %v", err)
	}
	if err := s.Delete(t.Context(), []string{"unknown"}); err != nil {
		t.Errorf("Delete of an unknown id: %v", err)
	}
	if s.Count() != 0 {
		t.Errorf("Count %d", s.Count())
	}
}

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

func testConcurrent(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	fixed := Row("fixed", 1000, "api")
	upsert(t, s, fixed)
	awaitIDs(t, s, []string{"fixed"})
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				hits, err := s.Search(t.Context(), fixed.Vector, 1, "api")
				if err != nil || len(hits) != 1 || hits[0].ID != "fixed" {
					t.Errorf("while writing: %v, %v", hits, err)
					return
				}
				if _, err := s.IDs(t.Context()); err != nil {
					t.Errorf("IDs while writing: %v", err)
					return
				}
				s.Count()
				s.Bytes()
			}
		})
	}
	for round := range 10 {
		var rows []l1.Row
		for i := range 50 {
			rows = append(rows, Row(fmt.Sprintf("r%d", i), round*50+i, "other"))
		}
		upsert(t, s, rows...)
		if err := s.Delete(t.Context(), idsOf(rows[:25])); err != nil {
			t.Error(err)
		}
	}
	stop()
	readers.Wait()
	want := []string{"fixed"}
	for i := 25; i < 50; i++ {
		want = append(want, fmt.Sprintf("r%d", i))
	}
	awaitIDs(t, s, want)
}

func testCancelled(t *testing.T, open func(t *testing.T) l1.Store) {
	s := opened(t, open)
	upsert(t, s, Row("a", 1, ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, Vector(1), 1, ""); err == nil {
		t.Error("Search goes on without its context")
	}
	if err := s.Upsert(ctx, []l1.Row{Row("b", 2, "")}); err == nil {
		t.Error("Upsert goes on without its context")
	}
	if err := s.Delete(ctx, []string{"a"}); err == nil {
		t.Error("Delete goes on without its context")
	}
	if _, err := s.IDs(ctx); err == nil {
		t.Error("IDs goes on without its context")
	}
	awaitIDs(t, s, []string{"a"})
}
