package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"knowledged/ipc"
)

// unread are the paths that the system refused to show when they were looked at last. A right given back to a folder, or
// a network drive that recovers, changes no time of the files: nothing would tell the watcher. The pipeline's goroutine
// owns it.
type unread map[string]struct{}

func (u unread) note(f *finding) {
	if f.unread != nil {
		u[f.path] = struct{}{}
	} else {
		delete(u, f.path)
	}
}

// unreadable is the finding on a path that the system refuses to show. Where not even the file's state can be told, its
// folder is closed, not the document gone: what is known of it stays. info is nil then.
func (p *pipeline) unreadable(f finding, info fs.FileInfo, err error) finding {
	err = fmt.Errorf("cannot be read: %w", reason(err))
	f.unread = err
	if info == nil && f.old != nil && !f.old.Failed() {
		f.same = true
		return f
	}
	return p.failed(f, info, err)
}

// retryUnread looks once more at what could not be read.
func (p *pipeline) retryUnread(ctx context.Context) {
	if len(p.unread) == 0 || !p.ready.Load() {
		return
	}
	if p.apply(ctx, slices.Sorted(maps.Keys(p.unread)), true) > 0 {
		p.events.Publish(ipc.Event{Type: ipc.EventIndex, Updates: p.tally.updates()})
	}
}
