package l1

import (
	"context"
	"time"
)

// settleShared is how long after taking over another daemon's rows the store is looked at again: that daemon may have been
// about to delete them, having looked who wants them just before this one said so.
const settleShared = time.Minute

// survey lists the store's rows; of a store that is not shared all are ours.
func (x *Index) survey(ctx context.Context) (Survey, error) {
	if s, ok := x.store.(Sharer); ok && !x.readOnly {
		return s.Survey(ctx)
	}
	ids, err := x.store.IDs(ctx)
	return Survey{Mine: ids}, err
}

// offer notes which of the missing rows another daemon has put already: they need no embedding.
func (x *Index) offer(others []string, want map[string]struct{}) {
	offered := make(map[string]struct{})
	for _, id := range others {
		if _, ok := want[id]; ok {
			offered[id] = struct{}{}
		}
	}
	x.mu.Lock()
	x.offered = offered
	x.mu.Unlock()
}

// takeOver claims those of the rows that another daemon has put, and gives the others.
func (x *Index) takeOver(ctx context.Context, puts []work) (left []work, ok bool) {
	s, shared := x.store.(Sharer)
	if !shared {
		return puts, true
	}
	var ids []string
	x.mu.Lock()
	for _, w := range puts {
		_, stale := x.stale[w.id]
		if _, offered := x.offered[w.id]; offered && !stale {
			ids = append(ids, w.id)
		}
	}
	x.mu.Unlock()
	if len(ids) == 0 {
		return puts, true
	}
	absent, err := s.Claim(ctx, ids)
	if err != nil {
		x.giveBack(itemsOf(puts), false)
		x.broke(ctx, partStore, err)
		return nil, false
	}
	x.worked(partStore)
	taken := set(ids)
	for _, id := range absent {
		delete(taken, id)
	}
	x.mu.Lock()
	for _, id := range ids {
		delete(x.offered, id)
	}
	for _, w := range puts {
		if _, there := taken[w.id]; there {
			x.done(w.item, true)
		} else {
			left = append(left, w)
		}
	}
	x.compareWithin(settleShared)
	x.advanced()
	x.mu.Unlock()
	x.log.Debug("vectors of other daemons taken over", "chunks", len(taken))
	return left, true
}
