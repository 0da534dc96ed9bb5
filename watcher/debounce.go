package watcher

import (
	"container/heap"
	"slices"
	"time"
)

// debouncer holds paths back until they are quiet. It has no clock, no goroutine and no idea of files: its owner tells
// the time and what became of a path.
//
// A path waits until nothing happened to it for the quiet time, at most for the limit. Then Due names it, the owner looks
// at the file and answers with Settle or, if the file still changes, Again. Take hands out what is settled. Paths that
// are gone, and what is settled along with them, wait for all others: the two ends of a move thus come out together.
type debouncer struct {
	quiet, limit time.Duration

	items     map[string]*item
	queue     itemQueue // the waiting ones, by the earliest time they may be due
	ready     []*item   // those that settled since the last Take, some of which may wait again
	settled   int
	gone      int       // how many of the settled ones are gone
	goneUntil time.Time // when they wait no longer
}

type item struct {
	path    string
	first   time.Time // when the first event since the last Take came
	due     time.Time
	key     time.Time // due at the time of queueing: later events only move due
	queued  bool
	settled bool
	gone    bool
}

func newDebouncer(quiet, limit time.Duration) *debouncer {
	return &debouncer{quiet: quiet, limit: max(quiet, limit), items: map[string]*item{}}
}

// Add notes that something happened to path.
func (d *debouncer) Add(path string, now time.Time) {
	it := d.items[path]
	if it == nil {
		it = &item{path: path, first: now}
		d.items[path] = it
	}
	d.unsettle(it)
	it.due = now.Add(d.quiet)
	if last := it.first.Add(d.limit); it.due.After(last) {
		it.due = last
	}
	if !it.queued {
		it.key, it.queued = it.due, true
		heap.Push(&d.queue, it)
	}
}

// Due returns the paths whose quiet time is over. Each must be answered with Settle or Again.
func (d *debouncer) Due(now time.Time) []string {
	var due []string
	for len(d.queue) > 0 && !d.queue[0].key.After(now) {
		it := d.queue[0]
		if it.due.After(now) {
			it.key = it.due
			heap.Fix(&d.queue, 0)
			continue
		}
		heap.Pop(&d.queue)
		it.queued = false
		due = append(due, it.path)
	}
	return due
}

// Settle says that a due path may be handed out; gone says that there is no such file now.
func (d *debouncer) Settle(path string, gone bool) {
	it := d.items[path]
	if it == nil || it.queued || it.settled {
		return
	}
	it.settled, it.gone = true, gone
	d.ready = append(d.ready, it)
	d.settled++
	if gone {
		if until := it.first.Add(d.limit); d.gone == 0 || until.Before(d.goneUntil) {
			d.goneUntil = until
		}
		d.gone++
	}
}

// Again says that a due path has changed since it was last looked at. It waits once more, unless its limit has passed:
// then Again returns false.
func (d *debouncer) Again(path string, now time.Time) bool {
	it := d.items[path]
	if it == nil || !now.Before(it.first.Add(d.limit)) {
		return false
	}
	d.Add(path, now)
	return true
}

// Drop forgets a due path instead of settling it.
func (d *debouncer) Drop(path string) {
	if it := d.items[path]; it != nil && !it.queued && !it.settled {
		delete(d.items, path)
	}
}

// Take hands out what is settled, sorted. busy says that more paths are about to be added.
func (d *debouncer) Take(now time.Time, busy bool) (paths []string) {
	if d.settled == 0 || d.gone > 0 && (busy || len(d.items) > d.settled) && now.Before(d.goneUntil) {
		return nil
	}
	for _, it := range d.ready {
		if it.settled {
			paths = append(paths, it.path)
			delete(d.items, it.path)
			it.settled = false // it may be in ready twice
		}
	}
	d.ready, d.settled, d.gone = nil, 0, 0
	slices.Sort(paths)
	return paths
}

// Next returns when Due or Take may have something to say, or the zero time if never.
func (d *debouncer) Next() (next time.Time) {
	if len(d.queue) > 0 {
		next = d.queue[0].key
	}
	if d.gone > 0 && (next.IsZero() || d.goneUntil.Before(next)) {
		next = d.goneUntil
	}
	return next
}

// Waiting returns how many paths are not quiet yet.
func (d *debouncer) Waiting() int { return len(d.queue) }

// Len returns how many paths are held.
func (d *debouncer) Len() int { return len(d.items) }

// Clear forgets all paths.
func (d *debouncer) Clear() {
	clear(d.items)
	d.queue, d.ready, d.settled, d.gone = nil, nil, 0, 0
}

func (d *debouncer) unsettle(it *item) {
	if !it.settled {
		return
	}
	d.settled--
	if it.gone {
		d.gone--
	}
	it.settled, it.gone = false, false
}

// itemQueue is a heap of items by key.
type itemQueue []*item

func (q itemQueue) Len() int           { return len(q) }
func (q itemQueue) Less(i, j int) bool { return q[i].key.Before(q[j].key) }
func (q itemQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *itemQueue) Push(x any)        { *q = append(*q, x.(*item)) }
func (q *itemQueue) Pop() any {
	old := *q
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return it
}
