package watcher

import (
	"errors"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// onEvent turns an event into hints. Kinds and order of events are not believed: they only choose what is looked at.
func (l *loop) onEvent(ev fsnotify.Event, ok bool) {
	if !ok {
		l.lostEvents("the system stopped to report changes")
		return
	}
	if m := l.fsw.marker; m != nil && ev.Name == m.name {
		l.checkLinks(time.Now())
		l.answerAll()
		return
	}
	if l.lose != nil && l.lose() {
		return
	}
	path, inside := l.rel(ev.Name)
	if !inside || l.base.missing {
		return
	}
	now := time.Now()
	if path == "" {
		l.base.next = now // it was moved, deleted or had its permissions changed
		l.base.moved = l.base.moved || ev.Has(fsnotify.Rename) || ev.Has(fsnotify.Remove)
		if ev.Has(fsnotify.Chmod) {
			l.fresh = append(l.fresh, "")
		}
		return
	}
	dir, name := split(path)
	if isIgnoreFile(name) || l.isBeside(path) {
		l.hint(path, now)
		return
	}
	if !documentName(name) {
		l.linksSoon(now)
	}
	parent := l.folders[dir]
	if parent == nil || hiddenName(name) {
		return // forgotten, or about to be listed
	}
	_, sub := parent.subs[name]
	switch {
	case sub && ev.Op == fsnotify.Chmod:
		l.fresh = append(l.fresh, path)
		return
	case sub:
		// Deleted, moved away, or another folder under the same name: whatever was known below is void, the watches first.
		l.forgetTree(path, now)
	case !documentName(name) && !ev.Has(fsnotify.Create) && !ev.Has(fsnotify.Chmod):
		l.unskip(path, parent, name)
		return
	}
	l.look(path, now)
	if documentName(name) && !l.rules.excludes(path, false) {
		l.hint(path, now)
	}
}

func (l *loop) onError(err error) {
	switch {
	case errors.Is(err, fsnotify.ErrEventOverflow):
		l.mu.Lock()
		l.status.Overflows++
		l.mu.Unlock()
		l.lostEvents("the system dropped events (Linux: raise fs.inotify.max_queued_events if this comes often)")
	case errors.Is(err, syscall.EINVAL):
		// fsnotify ended the watch of a moved folder that was deleted meanwhile; the events about it are on their way.
		l.log.Debug("a watch was gone before it was removed", "err", err)
	default:
		l.log.Warn("watching has trouble: the whole folder is compared", "path", l.cfg.Base, "err", err)
		l.needWalk = true
	}
}

// lostEvents starts over with new watches, since a missed rename leaves old ones under wrong names, and walks. A storm of
// changes causes one WARN a minute.
func (l *loop) lostEvents(why string) {
	now := time.Now()
	if now.Sub(l.overflowed) > time.Minute {
		l.overflowed = now
		l.log.Warn("changes were missed: the whole folder is compared", "path", l.cfg.Base, "why", why)
	}
	l.resetWatches()
	l.needWalk = true
}

// confirm closes answer once all events of changes made before now have been seen to.
func (l *loop) confirm(answer chan struct{}) {
	l.waiting = append(l.waiting, answer)
	l.waitUntil = time.Now().Add(markPatience)
	if l.fsw == nil || l.fsw.marker == nil || l.fsw.marker.set() != nil {
		l.drain() // all that can be told here
		l.checkLinks(time.Now())
		l.answerAll()
	}
}

func (l *loop) answerAll() {
	if len(l.waiting) == 0 {
		return
	}
	l.takeAsked(time.Now())
	l.publish()
	for _, answer := range l.waiting {
		close(answer)
	}
	l.waiting = nil
}
