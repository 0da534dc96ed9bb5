package l1

import (
	"slices"
	"time"
)

// backlog is which rows the store is known to have and which ids have to be looked at. Index.mu guards all of it.
type backlog struct {
	have       map[string]struct{} // acknowledged by the store
	landed     map[string]struct{} // rows that came since a comparison began, which may not have seen them; nil: none is made
	busy       map[string]struct{} // ids being worked on: the store may get them
	dirty      map[string]uint64   // pending ids → generation in which they were last marked
	generation uint64              // counts changes, so that one that comes while its id is being worked on is not lost

	// The ids of dirty in the order of marking, the last first to be worked on: a save does not wait for the first scan.
	// Deletions have their own line, since they need no provider. May hold ids that are done with.
	puts, gones []string

	retries map[string]retry    // dirty ids that failed and wait
	failed  map[string]failure  // ids given up
	byPath  map[string][]string // path → ids in failed; may hold ids that no longer are
}

type retry struct {
	attempts int
	due      time.Time
}

type failure struct {
	err        error
	path       string
	generation uint64 // when it was given up
}

// item is an id being worked on, with its generation when it was taken.
type item struct {
	id         string
	generation uint64
}

func newBacklog() backlog {
	return backlog{
		have: make(map[string]struct{}), busy: make(map[string]struct{}), dirty: make(map[string]uint64),
		retries: make(map[string]retry), failed: make(map[string]failure), byPath: make(map[string][]string),
	}
}

func (b *backlog) has(id string) bool     { _, ok := b.have[id]; return ok }
func (b *backlog) pending(id string) bool { _, ok := b.dirty[id]; return ok }

// found reports whether a row that the store finds may be shown: it is not about to be deleted, or put for the first time.
func (b *backlog) found(id string) bool { return b.has(id) && !b.pending(id) }

// mark makes an id pending. Whether it is put or deleted is decided by the source when its turn comes; gone says in which
// line it waits.
func (b *backlog) mark(id string, gone bool) {
	b.dirty[id] = b.generation
	if gone {
		b.gones = append(b.gones, id)
	} else {
		b.puts = append(b.puts, id)
	}
}

// forgive forgets that an id failed.
func (b *backlog) forgive(id string) {
	delete(b.retries, id)
	delete(b.failed, id)
}

// take gives up to limit ids to work on, deletions first, and puts only if asked for. Without any, next is how long it takes
// until a failed one is due.
func (b *backlog) take(limit int, puts bool, now time.Time) (items []item, next time.Duration) {
	next = never
	taken := make(map[string]struct{})
	add := func(id string) {
		generation, pending := b.dirty[id]
		if _, twice := taken[id]; pending && !twice {
			taken[id], b.busy[id] = struct{}{}, struct{}{}
			items = append(items, item{id, generation})
		}
	}
	line := func(ids *[]string) {
		for len(*ids) > 0 && len(items) < limit {
			last := len(*ids) - 1
			id := (*ids)[last]
			*ids = (*ids)[:last]
			if _, waits := b.retries[id]; !waits {
				add(id)
			}
		}
		if len(*ids) == 0 {
			*ids = nil // give the memory of a first scan back
		}
	}
	line(&b.gones)
	if !puts {
		return items, next
	}
	for id, r := range b.retries {
		if wait := r.due.Sub(now); !b.pending(id) { // a comparison found that it is not wanted any more
			delete(b.retries, id)
		} else if wait > 0 {
			next = min(next, wait)
		} else if len(items) < limit {
			add(id)
		}
	}
	line(&b.puts)
	return items, next
}

// release puts ids back that were taken and could not be dealt with.
func (b *backlog) release(items []item, gone bool) {
	for _, it := range slices.Backward(items) {
		delete(b.busy, it.id)
		if _, waits := b.retries[it.id]; waits || !b.pending(it.id) {
			continue
		}
		if gone {
			b.gones = append(b.gones, it.id)
		} else {
			b.puts = append(b.puts, it.id)
		}
	}
}

// done notes that the store has the row, or has it no longer. An id that was marked anew meanwhile stays pending.
func (b *backlog) done(it item, have bool) {
	if have {
		b.have[it.id] = struct{}{}
		if b.landed != nil {
			b.landed[it.id] = struct{}{}
		}
	} else {
		delete(b.have, it.id)
		delete(b.landed, it.id)
	}
	delete(b.busy, it.id)
	delete(b.retries, it.id)
	if b.dirty[it.id] == it.generation {
		delete(b.dirty, it.id)
	}
}

// Passages that fail alone are tried again this often, after these times: the trouble may pass, as a full queue does.
var retryWaits = []time.Duration{500 * time.Millisecond, 2 * time.Second, 8 * time.Second}

// fail notes that a passage could not be embedded. It reports whether it is given up with that.
func (b *backlog) fail(it item, path string, err error, permanent bool, now time.Time) bool {
	delete(b.busy, it.id)
	if b.dirty[it.id] != it.generation {
		return false // it changed meanwhile, and is in line again
	}
	r := b.retries[it.id]
	if !permanent && r.attempts < len(retryWaits) {
		b.retries[it.id] = retry{attempts: r.attempts + 1, due: now.Add(retryWaits[r.attempts])}
		return false
	}
	delete(b.retries, it.id)
	delete(b.dirty, it.id)
	b.failed[it.id] = failure{err: err, path: path, generation: b.generation}
	b.byPath[path] = append(b.byPath[path], it.id)
	return true
}

// revive makes the failed passages of a document pending again, if it has changed since: generation is that of one of its
// chunks.
func (b *backlog) revive(path string, generation uint64) {
	ids := b.byPath[path]
	if len(ids) == 0 {
		return
	}
	kept := ids[:0]
	for _, id := range ids {
		f, ok := b.failed[id]
		switch {
		case !ok || f.path != path: // forgiven
		case f.generation >= generation:
			kept = append(kept, id)
		default:
			b.forgive(id)
			b.mark(id, false)
		}
	}
	if len(kept) == 0 {
		delete(b.byPath, path)
	} else {
		b.byPath[path] = kept
	}
}
