package watcher

import (
	"os"
	"path/filepath"
	"time"
)

// baseState is what is known of the base folder itself, which may be deleted, renamed, unmounted and come back.
type baseState struct {
	id      fileID
	known   bool   // id is of the folder in the snapshot
	real    string // its path free of links
	missing bool
	moved   bool      // away from its name, or deleted: its watch has ended, even if it is back already
	had     int       // documents last handed over, or about to be
	next    time.Time // of the next check
	confirm time.Time // when an absent or emptied folder is believed to stay so; zero if there is no doubt
	emptied bool      // it is believed
}

// held tells whether a decision is being waited for.
func (b *baseState) held() bool { return !b.confirm.IsZero() }

// baseInterval bounds how late a base folder that went without an event, or came back, is noticed.
func (l *loop) baseInterval() time.Duration {
	if l.base.missing {
		return min(l.cfg.PollInterval, 500*time.Millisecond)
	}
	return min(l.cfg.PollInterval, 2*time.Second)
}

func (l *loop) checkBaseEvery(now time.Time) {
	if !now.Before(l.base.next) {
		l.checkBase(now)
	}
	refilled := !l.base.missing && l.docs > 0
	if l.base.confirm.IsZero() || now.Before(l.base.confirm) && !refilled {
		return
	}
	l.base.confirm = time.Time{}
	if !l.base.missing {
		l.base.emptied, l.needWalk = true, true
		return
	}
	l.forgetAll()
	l.deb.Clear()
	l.needWalk = false
	l.offerListing()
}

// checkBase sees whether the base folder is there and still the same.
func (l *loop) checkBase(now time.Time) {
	fi, err := os.Stat(l.cfg.Base)
	there := err == nil && fi.IsDir()
	switch {
	case there && l.base.known && !l.base.missing && idOf(fi) == l.base.id:
		if l.base.moved {
			l.lostEvents("the base folder was moved away and back")
		}
	case there:
		if l.base.missing {
			l.log.Info("the base folder is back", "path", l.cfg.Base)
		} else if l.base.known {
			l.log.Warn("the base folder was replaced by another one: all of it is compared", "path", l.cfg.Base)
		}
		l.base.id, l.base.known, l.base.missing, l.base.confirm = idOf(fi), true, false, time.Time{}
		l.startOver()
	case !l.base.missing:
		l.base.missing = true
		l.base.confirm = now.Add(l.grace)
		l.log.Warn("the base folder is missing: waiting for it to come back; without it, its documents are dropped",
			"path", l.cfg.Base, "documents", l.docs, "after", l.grace, "err", err)
		l.closeNotify()
		l.fresh, l.pass, l.cur = nil, nil, nil
	}
	l.base.moved = false
	l.base.next = now.Add(l.baseInterval())
}

// startOver sets up watches and walks a base folder that is new to us.
func (l *loop) startOver() {
	l.closeNotify()
	l.forgetAll()
	l.deb.Clear()
	l.base.real = l.cfg.Base
	if real, err := filepath.EvalSymlinks(l.cfg.Base); err == nil {
		l.base.real = real
	}
	l.openNotify()
	l.watch("", l.folders[""])
	l.needWalk = true
}

// believe tells whether a finished walk's listing may be handed over. An empty one that drops all documents, say of a
// mount point whose disk is away, must first hold for a while.
func (l *loop) believe(now time.Time) bool {
	if l.docs > 0 || l.base.had == 0 || l.base.emptied {
		l.base.emptied = false
		return true
	}
	grace := l.grace
	what := "the base folder has no documents any more"
	if !l.hand.started && bare(l.cfg.Base) {
		grace = l.mount
		what = "the base folder is empty though documents of it are known (is its disk mounted, is its path right?)"
	}
	l.base.confirm = now.Add(grace)
	l.log.Warn(what+"; if none come back, they are dropped", "path", l.cfg.Base, "documents", l.base.had, "after", grace)
	return false
}

// bare tells whether a folder holds nothing at all, like a mount point without its disk.
func bare(name string) bool {
	d, err := openDir(name, true)
	if err != nil {
		return true
	}
	defer d.Close()
	names, _ := d.Readdirnames(1)
	return len(names) == 0
}
