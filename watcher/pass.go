package watcher

import (
	"cmp"
	"slices"
	"time"
)

// stepEntries is how many entries are looked at before events and hand-overs get their turn.
const stepEntries = 256

// pass lists all folders, top down. A walk ends in a batch that lists the whole folder; any other pass is a comparison
// that hints at what differs from the snapshot.
type pass struct {
	walk    bool
	all     bool     // covers all folders
	queue   []string // folders yet to be listed
	judged  bool     // a walk has looked twice at links into the base folder
	scanned bool     // a walk has seen all and waits for files that are just being written,
	until   time.Time
}

func (l *loop) walking() bool { return l.pass != nil && l.pass.walk }

// working tells whether step has something to do now.
func (l *loop) working() bool {
	if l.base.missing {
		return false
	}
	if l.cur != nil || len(l.fresh) > 0 {
		return true
	}
	if l.pass != nil {
		return !l.pass.scanned
	}
	return l.needWalk
}

// step does a bounded piece of the listing work.
func (l *loop) step(now time.Time) {
	for budget := stepEntries; budget > 0 && !l.base.missing; budget-- {
		if l.cur == nil && !l.pick(now) {
			return
		}
		if l.cur != nil {
			budget -= l.advance(now, budget)
		}
	}
}

// pick chooses the next folder to list: new ones first.
func (l *loop) pick(now time.Time) bool {
	if l.pass != nil && !l.pass.walk && l.needWalk {
		l.pass = nil // a walk does all that a comparison does
	}
	switch {
	case len(l.fresh) > 0:
		dir := l.fresh[0]
		l.fresh = l.fresh[1:]
		l.cur = l.begin(dir, true, now)
	case l.pass != nil && len(l.pass.queue) > 0:
		dir := l.pass.queue[0]
		l.pass.queue = l.pass.queue[1:]
		l.cur = l.begin(dir, false, now)
	case l.pass != nil:
		return l.endPass(now)
	case l.needWalk:
		l.needWalk = false
		if l.docs > 0 {
			l.base.had = l.docs
		}
		l.inside = nil
		l.pass = &pass{walk: true, all: true, queue: []string{""}}
	case !l.nextPoll.IsZero() && !now.Before(l.nextPoll):
		l.startPoll()
	default:
		return false
	}
	return true
}

func (l *loop) startPoll() {
	l.nextPoll, l.retry = time.Time{}, false
	if l.fsw == nil {
		l.openNotify()
	}
	if l.cfg.Mode != ModeFsnotify {
		l.pass = &pass{all: true, queue: []string{""}}
		return
	}
	l.pass = &pass{}
	for path, f := range l.folders {
		if !f.watched || f.failed {
			l.pass.queue = append(l.pass.queue, path)
		}
	}
}

// endPass finishes a pass all of whose folders are listed; false means that a walk must wait.
func (l *loop) endPass(now time.Time) bool {
	p := l.pass
	if p.walk && !p.judged {
		p.judged = true
		l.judgeInside(now)
		return true // there may be new folders
	}
	if p.walk && !p.scanned {
		p.scanned, p.until = true, now.Add(l.cfg.MaxSettle)
	}
	if p.walk && l.deb.Waiting() > 0 && now.Before(p.until) {
		return false
	}
	l.pass = nil
	if p.all {
		l.mu.Lock()
		l.status.LastWalk = now
		l.mu.Unlock()
		l.verifyWatches()
	}
	if l.cfg.Mode != ModeFsnotify || l.unwatched > 0 || l.retry {
		l.nextPoll = now.Add(l.cfg.PollInterval)
	}
	if p.walk && l.believe(now) {
		l.offerListing()
	}
	return true
}

func (l *loop) offerListing() {
	paths := make([]string, 0, l.docs)
	for dir, f := range l.folders {
		for name := range f.docs {
			paths = append(paths, join(dir, name))
		}
	}
	slices.Sort(paths)
	l.newSkips = nil
	l.mu.Lock()
	skipped := make([]Skipped, 0, len(l.skipped))
	for path, reason := range l.skipped {
		skipped = append(skipped, Skipped{Path: path, Reason: reason})
	}
	l.mu.Unlock()
	slices.SortFunc(skipped, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	l.base.had = len(paths)
	l.hand.offerAll(paths, skipped)
}
