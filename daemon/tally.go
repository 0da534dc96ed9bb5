package daemon

import (
	"sync"

	"knowledged/ipc"
)

// tally counts what the pipeline did to documents since start.
type tally struct {
	mu sync.Mutex
	n  ipc.JobDocuments // guarded by mu
}

func (t *tally) count(f *finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case f.gone && f.movedOn: // counts where it is now
	case f.gone:
		t.n.Deleted++
	case f.record.Failed():
		t.n.Failed++
	case f.old == nil && f.movedFrom == "":
		t.n.Created++
	default:
		t.n.Updated++
	}
}

func (t *tally) snapshot() ipc.JobDocuments {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// updates is the number of index updates: one save is one.
func (t *tally) updates() uint64 {
	n := t.snapshot()
	return uint64(n.Created + n.Updated + n.Deleted + n.Failed)
}
