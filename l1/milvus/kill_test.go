package milvus

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"knowledged/document"
	"knowledged/l1"
)

// SPEC 3.6: the server is killed ten times in the middle of writes and deletes. In the end collection and documents are
// equal, and what was removed is not found.
func TestKilledTenTimes_3_6(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	srv, addr := ownServer(t)
	c := Config{Address: addr, Database: "default", Collection: "killed", Model: "m", WriterFile: filepath.Join(t.TempDir(), "writer")}
	docs := documentsOf()
	d := start(t, c, docs)
	d.idle()
	const kills, perRound = 10, 3000
	for round := range kills {
		var put, gone []string
		for i := range perRound {
			put = append(put, fmt.Sprintf("%d-%d", round, i))
			if round > 0 && i%2 == 0 {
				gone = append(gone, fmt.Sprintf("%d-%d", round-1, i))
			}
		}
		before := d.Status().Chunks
		d.Changed(docs.add(put...), docs.remove(gone...))
		eventually(t, 2*time.Minute, "the sync to be under way", func() bool {
			return d.Status().Chunks > before+500 || d.Pending() < perRound
		})
		srv.do("kill")
		eventually(t, time.Minute, "the state to say so", func() bool { return d.Status().State == l1.StateDown })
		srv.do("start")
		eventuallyOr(t, 3*time.Minute, "the sync to go on", func() bool { return d.Status().State != l1.StateDown },
			func() string { return fmt.Sprintf("after kill %d: %+v", round+1, d.Status()) })
	}
	eventually(t, 3*time.Minute, "the sync to end", func() bool { st := d.Status(); return st.State == l1.StateReady && st.Pending == 0 })
	rows := d.rows()
	var want []string
	for id := range docs.texts {
		want = append(want, id)
	}
	slices.Sort(want)
	if !slices.Equal(rows, want) {
		t.Errorf("%d rows for %d chunks", len(rows), len(want))
	}
	if diff, err := d.Reconcile(t.Context(), false); err != nil || diff != (l1.Difference{}) {
		t.Errorf("difference %+v, %v", diff, err)
	}
	// The test's vectors know words only, so those of 9-1 and 1-9 are the same.
	found := func(hit document.Hit) bool { return hit.ChunkID == "id-9-1" }
	eventually(t, time.Minute, "9-1 to be found", func() bool {
		hits, err := d.Search(t.Context(), "9-1", 20, "")
		return err == nil && slices.ContainsFunc(hits, found)
	})
	for round := range kills - 1 {
		if hits, err := d.Search(t.Context(), fmt.Sprintf("%d-0", round), 20, ""); err != nil || slices.ContainsFunc(hits, removed(docs)) {
			t.Errorf("round %d: %v, %v", round, hits, err)
		}
	}
}

func removed(docs *documents) func(document.Hit) bool {
	return func(h document.Hit) bool { _, _, ok := docs.Chunk(h.ChunkID); return !ok }
}
