package watcher

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// notifier is one set of watches.
type notifier struct {
	*fsnotify.Watcher
	errs   chan error    // what came out of Errors, merged
	closed chan struct{} // ends pump and the draining of events
	pumped chan struct{} // pump has returned
	marker *marker       // nil where there is none
}

// openNotify asks the system for events, if the mode wants them. Without them all folders are polled.
func (l *loop) openNotify() {
	if l.cfg.Mode == ModePoll {
		return
	}
	fsw, err := l.open()
	if err != nil {
		l.warnLimit(err)
		return
	}
	l.fsw = &notifier{Watcher: fsw, errs: make(chan error), closed: make(chan struct{}), pumped: make(chan struct{})}
	go l.fsw.pump()
	l.fsw.mark()
}

// markPatience bounds the wait for a marker's event, which is lost if the queue overflows.
const markPatience = 100 * time.Millisecond

// mark sets up the marker and tries it out once, while there are no other watches.
func (n *notifier) mark() {
	m, err := newMarker()
	if err != nil {
		return // Status has to do without
	}
	if n.Add(m.name) == nil && m.set() == nil {
		select {
		case ev := <-n.Events:
			if ev.Name == m.name {
				n.marker = m
				return
			}
		case <-time.After(markPatience):
		}
	}
	_ = n.Remove(m.name)
	m.close()
}

// pump reads fsnotify's errors at all times: fsnotify holds its lock while it sends one, and the loop, which needs that
// lock to add and remove watches, would wait for ever. Of several errors the loop is told the gravest.
func (n *notifier) pump() {
	defer close(n.pumped)
	var held error
	for {
		var errs chan error
		if held != nil {
			errs = n.errs
		}
		select {
		case err := <-n.Errors:
			if held == nil || errors.Is(err, fsnotify.ErrEventOverflow) {
				held = err
			}
		case errs <- held:
			held = nil
		case <-n.closed:
			return
		}
	}
}

// closeNotify ends all watches. Events still under way are read and dropped, so that fsnotify's goroutine is not stuck
// on any system.
func (l *loop) closeNotify() {
	n := l.fsw
	if n == nil {
		return
	}
	l.fsw = nil
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for {
			select {
			case <-n.Events:
			case <-n.closed:
				return
			}
		}
	}()
	if err := n.Close(); err != nil {
		l.log.Warn("watching did not end cleanly", "path", l.cfg.Base, "err", err)
	}
	close(n.closed)
	<-drained
	<-n.pumped
	if n.marker != nil {
		n.marker.close()
	}
	l.answerAll() // their marker is lost
}

// resetWatches replaces all watches by new ones.
func (l *loop) resetWatches() {
	l.closeNotify()
	l.openNotify()
	for path, f := range l.folders {
		if f.watched {
			f.watched = false
			l.unwatched++
		}
		l.watch(path, f)
	}
}

// watch sees that a folder is watched, or polled if it cannot be.
func (l *loop) watch(path string, f *folder) {
	if f.watched || f.twice || l.fsw == nil {
		return
	}
	err := l.add(l.fsw.Watcher, l.abs(path))
	switch {
	case err == nil:
		f.watched = true
		l.unwatched--
		return
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrPermission):
		// The listing will tell.
	default:
		l.warnLimit(err)
	}
	if l.nextPoll.IsZero() && l.pass == nil {
		l.nextPoll = time.Now().Add(l.cfg.PollInterval)
	}
}

// unwatch ends the watch of a folder. Errors are of no interest: the system ends it by itself when the folder is gone.
func (l *loop) unwatch(path string, f *folder) {
	if !f.watched {
		return
	}
	f.watched = false
	l.unwatched++
	if l.fsw != nil {
		_ = l.fsw.Remove(l.abs(path))
	}
}

// warnLimit says once what keeps folders from being watched and how to mend it. The system's own words ("no space left on
// device") mislead, so they are left out where the reason is known.
func (l *loop) warnLimit(err error) {
	if l.limitWarned {
		return
	}
	l.limitWarned = true
	log := l.log.With("path", l.cfg.Base, "interval", l.cfg.PollInterval)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		log.Warn("the limit of watched folders is reached: folders without a watch are polled",
			"limit", "fs.inotify.max_user_watches", "remedy", "sysctl -w fs.inotify.max_user_watches=524288")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		log.Warn("the limit of watchers or open files is reached: folders without a watch are polled",
			"limit", "fs.inotify.max_user_instances", "remedy", "sysctl -w fs.inotify.max_user_instances=1024, or raise the limit of open files (ulimit -n)")
	default:
		log.Warn("folders cannot be watched: they are polled", "err", err)
	}
}

// verifyWatches compares our watches with fsnotify's. Where a rename was missed, a watch goes on under the folder's old
// name and adding the new one had no effect; then all are set up anew.
func (l *loop) verifyWatches() {
	if l.fsw == nil || len(l.fsw.Events) > 0 {
		return // an event may yet explain the difference
	}
	if l.unwatched == 0 && l.limitWarned {
		l.limitWarned = false
		l.log.Info("all folders are watched again", "path", l.cfg.Base, "folders", len(l.folders))
	}
	watched := map[string]struct{}{}
	for _, name := range l.fsw.WatchList() {
		watched[name] = struct{}{}
	}
	for path, f := range l.folders {
		if _, ok := watched[l.abs(path)]; ok || !f.watched {
			continue
		}
		if fi, err := os.Stat(l.abs(path)); err == nil && fi.IsDir() {
			l.log.Debug("a watch was lost: all are set up anew", "path", path)
			l.resetWatches()
			l.needWalk = true
			return
		}
	}
}
