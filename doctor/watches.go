package doctor

import (
	"context"
	"fmt"

	"knowledged/watcher"
)

// limits are the system's on watched folders, and how much of them this user takes now.
type limits struct {
	watches, instances         int
	usedWatches, usedInstances int
}

func (x *examination) watches(context.Context) {
	const name = "watches"
	if x.cfg.Watch.Mode == watcher.ModePoll {
		x.ok(name, "none: watch.mode is poll, changes are seen within %s", x.cfg.Watch.PollInterval)
		return
	}
	if x.here {
		w := x.status.Watch
		switch {
		case w.BaseMissing:
			x.fail(name, "the daemon's base folder is missing", "put it back: it is looked for every few seconds")
			return
		case w.PolledFolders > 0:
			x.warn(name, fmt.Sprintf("%d of %d folders have no watch and are compared every %s", w.PolledFolders, w.Folders, x.cfg.Watch.PollInterval), "see the daemon's log for why; for the limit: sudo sysctl -w fs.inotify.max_user_watches=524288")
			return
		case w.Overflows > 0:
			x.warn(name, fmt.Sprintf("the system lost events %d times; the folder was compared then", w.Overflows), "if it goes on: sudo sysctl -w fs.inotify.max_queued_events=65536")
			return
		}
	}
	if x.folder == nil {
		return // said above
	}
	if kind := eventless(x.cfg.Knowledge.BasePath); kind != "" {
		x.warn(name, fmt.Sprintf("%s is on %s, which sends no events of changes made elsewhere", x.cfg.Knowledge.BasePath, kind), "set watch.mode to poll, and watch.poll_interval to how late a change may be seen")
		return
	}
	l, known := x.limits()
	switch {
	case !known:
		x.ok(name, "%d folders", x.folder.folders)
	case !x.here && l.usedInstances >= l.instances:
		x.fail(name, fmt.Sprintf("all %d inotify instances of this user are taken: the folder would be polled", l.instances), "sudo sysctl -w fs.inotify.max_user_instances=1024")
	case !x.here && l.usedWatches+x.folder.folders > l.watches, x.folder.folders > l.watches:
		x.fail(name, fmt.Sprintf("%d folders need a watch each, and %d of %d are taken: the rest would be polled", x.folder.folders, l.usedWatches, l.watches),
			"sudo sysctl -w fs.inotify.max_user_watches=524288, and in /etc/sysctl.d/ for good")
	case 2*(l.usedWatches+x.folder.folders) > l.watches:
		x.warn(name, fmt.Sprintf("%d folders, %d of %d watches of this user are taken", x.folder.folders, l.usedWatches, l.watches), "before the folder grows: sudo sysctl -w fs.inotify.max_user_watches=524288")
	default:
		x.ok(name, "%d folders; %d of %d watches and %d of %d instances of this user are taken", x.folder.folders, l.usedWatches, l.watches, l.usedInstances, l.instances)
	}
}
