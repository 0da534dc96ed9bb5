// Package l1test is the contract of l1.Store as a test that every backend runs.
package l1test

import (
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
