package watcher

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// maxPaths is how many paths are kept apart; beyond, a walk that lists the whole folder replaces them.
const maxPaths = 50_000

// always is ready to be received from: it keeps a select from blocking while there is work.
var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// loop is the state of one Run. One goroutine owns it; what others may see is published into Watcher.
type loop struct {
	*Watcher
	fsw *notifier // nil while events are unused or unavailable
	deb *debouncer

	// The snapshot: what the folder looked like when it was last looked at. See snapshot.go.
	folders   map[string]*folder
	ids       map[fileID]string // of listed folders → path
	docs      int               // documents in folders
	unwatched int               // folders without a watch
	scanSeq   uint32            // number of the latest listing
	newSkips  []Skipped

	// The work: single folders out of turn, then a pass over all. See scan.go.
	fresh    []string
	pass     *pass
	cur      *scan
	needWalk bool
	nextPoll time.Time
	retry    bool // some folder could not be listed

	base   baseState
	beside mark // of Config.Beside at the last listing
	hand   handover
	absent map[string]struct{} // settled paths that are not in the snapshot

	waiting   []chan struct{} // callers of Status that want to know whether 0 is true
	waitUntil time.Time       // they wait no longer

	links       map[fileID]string // what links lead to that are read → the path it is read under
	linkRoots   map[string]string // path of a followed folder link → real folder
	linkDocs    map[string]fileID // path of a document that is a link → what it led to
	inside      []string          // links into the base folder that the walk has met
	nextLinks   time.Time         // when the links that are read are looked at
	limitWarned bool              // about the limits of watching; once until all folders are watched again
	overflowed  time.Time         // when the last WARN about lost events was
}

func newLoop(w *Watcher) *loop {
	l := &loop{Watcher: w, deb: newDebouncer(w.cfg.Settle, w.cfg.MaxSettle), absent: map[string]struct{}{}}
	l.forgetAll()
	l.base.had = w.cfg.Known
	return l
}

func (l *loop) run(ctx context.Context, out chan<- Batch) error {
	defer l.answerAll()
	defer l.closeNotify()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		if len(l.waiting) > 0 && now.After(l.waitUntil) {
			l.answerAll()
		}
		l.takeAsked(now)
		l.checkBaseEvery(now)
		l.checkLinksEvery(now)
		l.settle(now)
		l.step(now)
		l.handOver(now)
		l.publish()

		var events chan fsnotify.Event
		var errs chan error
		if l.fsw != nil {
			events, errs = l.fsw.Events, l.fsw.errs
		}
		var work chan struct{}
		if l.working() {
			work = always
		}
		batch, receiver := l.hand.first(out)
		timer.Reset(time.Until(l.nextTime()))

		select {
		case <-ctx.Done():
		case ev, ok := <-events:
			l.onEvent(ev, ok)
			l.drain()
		case err := <-errs:
			l.onError(err)
		case receiver <- batch:
			l.hand.sent(batch)
		case answer := <-l.barrier:
			l.confirm(answer)
		case <-l.wake:
		case <-work:
			l.drain() // the select above is fair, events are urgent
		case <-timer.C:
		}
	}
	return ctx.Err()
}

// drain sees to the events that fsnotify has read by now.
func (l *loop) drain() {
	for fsw := l.fsw; fsw != nil && l.fsw == fsw; {
		select {
		case ev, ok := <-fsw.Events:
			l.onEvent(ev, ok)
		default:
			return
		}
	}
}

func (l *loop) takeAsked(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.base.missing { // else all of it is walked when it is back
		for path := range l.asked.touched {
			l.deb.Add(path, now)
		}
		l.needWalk = l.needWalk || l.asked.rescan
	}
	l.asked = asked{}
	l.pending = l.held()
}

// nextTime returns when the loop must run again at the latest.
func (l *loop) nextTime() time.Time {
	next := l.base.next
	times := []time.Time{l.base.confirm}
	if len(l.waiting) > 0 {
		times = append(times, l.waitUntil)
	}
	if !l.base.missing {
		times = append(times, l.deb.Next(), l.nextPoll)
		if len(l.linkDocs)+len(l.linkRoots) > 0 {
			times = append(times, l.nextLinks)
		}
		if l.pass != nil && l.pass.scanned {
			times = append(times, l.pass.until)
		}
	}
	for _, t := range times {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	return next
}

// held counts what the loop knows of and has not offered yet.
func (l *loop) held() int {
	n := l.deb.Len() + len(l.fresh)
	if l.cur != nil && l.cur.fresh || l.needWalk || l.walking() || l.base.held() || !l.hand.started {
		n++
	}
	return n
}

// publish shows the state to callers of Status and counts the batches on offer, before they can be received.
func (l *loop) publish() {
	st := Status{Mode: ModePoll, Folders: len(l.folders), BaseMissing: l.base.missing}
	if l.fsw != nil {
		st.Mode = ModeFsnotify
	}
	st.PolledFolders = l.unwatched
	l.mu.Lock()
	defer l.mu.Unlock()
	st.Overflows, st.LastWalk = l.status.Overflows, l.status.LastWalk
	l.status = st
	l.pending = l.held()
	for _, b := range l.hand.offered() {
		l.outstanding[b.id] = max(1, len(b.Paths))
	}
}
