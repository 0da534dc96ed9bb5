package l1test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"knowledged/l1"
)

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
