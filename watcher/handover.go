package watcher

import "time"

// handover holds what is ready for the reader: a listing and paths, each merged with what was ready before it.
type handover struct {
	all, some *Batch
	set       map[string]struct{} // of some.Paths
	started   bool                // the first listing was offered
	lastID    uint64
}

func (h *handover) newBatch() *Batch {
	h.lastID++
	return &Batch{id: h.lastID}
}

// offerAll replaces a listing that was not received yet. What some holds stays: a listing lacks the hint that a file
// changed within one tick of the clock.
func (h *handover) offerAll(paths []string, skipped []Skipped) {
	if h.all == nil {
		h.all = h.newBatch()
	}
	h.all.All, h.all.Paths, h.all.Skipped = true, paths, skipped
	h.started = true
}

// absent are those of paths that were not there.
func (h *handover) offerSome(paths []string, absent map[string]struct{}, skipped []Skipped) {
	if len(paths) == 0 && len(skipped) == 0 {
		return
	}
	h.needSome()
	for _, path := range paths {
		if _, ok := h.set[path]; !ok {
			h.set[path] = struct{}{}
			h.some.Paths = append(h.some.Paths, path)
		}
		if _, ok := absent[path]; ok {
			h.some.Absent[path] = struct{}{}
		} else {
			delete(h.some.Absent, path)
		}
	}
	h.some.Skipped = append(h.some.Skipped, skipped...)
}

// offerBeside tells that the file beside the documents is not what it was.
func (h *handover) offerBeside() {
	h.needSome()
	h.some.Beside = true
}

func (h *handover) needSome() {
	if h.some == nil {
		h.some, h.set = h.newBatch(), map[string]struct{}{}
		h.some.Absent = map[string]struct{}{}
	}
}

// first returns the batch to hand over next and out, or nil if there is none. The listing goes first: "whatever else is
// known is gone" must not reach paths newer than the listing.
func (h *handover) first(out chan<- Batch) (Batch, chan<- Batch) {
	switch {
	case h.all != nil:
		return *h.all, out
	case h.some != nil && h.started:
		return *h.some, out
	}
	return Batch{}, nil
}

// sent notes that the reader received b.
func (h *handover) sent(b Batch) {
	if b.All {
		h.all = nil
	} else {
		h.some, h.set = nil, nil
	}
}

func (h *handover) offered() []*Batch {
	var batches []*Batch
	for _, b := range [...]*Batch{h.all, h.some} {
		if b != nil {
			batches = append(batches, b)
		}
	}
	return batches
}

// settle looks at the paths whose quiet time is over.
func (l *loop) settle(now time.Time) {
	if l.base.missing {
		return
	}
	for _, path := range l.deb.Due(now) {
		if _, name := split(path); isIgnoreFile(name) {
			l.deb.Drop(path)
			l.needWalk = true // it reads all rules anew
			continue
		}
		if l.isBeside(path) {
			l.deb.Drop(path)
			l.hand.offerBeside()
			continue
		}
		present, changed := l.look(path, now)
		if changed && present && l.deb.Again(path, now) {
			continue
		}
		l.deb.Settle(path, !present)
		if dir, _ := split(path); present && l.folders[dir] != nil {
			delete(l.absent, path)
		} else {
			l.absent[path] = struct{}{}
		}
		l.distrust(path, now)
	}
}

// handOver puts what is settled on offer.
func (l *loop) handOver(now time.Time) {
	if changes := l.deb.Len() + len(l.hand.set); changes > maxPaths {
		l.log.Info("many files change at once: the whole folder is compared instead", "changes", changes)
		l.collapse()
		return
	}
	if l.base.missing || !l.hand.started {
		return
	}
	paths := l.deb.Take(now, len(l.fresh) > 0 || l.cur != nil && l.cur.fresh)
	if len(paths) > 0 && l.docs == 0 {
		if len(paths) > 1 {
			l.log.Warn("no document is left in the base folder", "path", l.cfg.Base, "gone", len(paths))
		}
		l.base.had = 0
	}
	l.hand.offerSome(paths, l.absent, l.newSkips)
	for _, path := range paths {
		delete(l.absent, path)
	}
	l.newSkips = nil
}

// collapse replaces all hints by a walk.
func (l *loop) collapse() {
	l.deb.Clear()
	clear(l.absent)
	l.needWalk = true
	if some := l.hand.some; some != nil {
		l.newSkips = append(some.Skipped, l.newSkips...)
		l.hand.some, l.hand.set = nil, nil
		l.publish() // the walk counts before the batch ceases to
		l.Done(*some)
	}
}
