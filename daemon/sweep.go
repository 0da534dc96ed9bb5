package daemon

import (
	"context"
	"sort"
	"time"

	"knowledged/ipc"
)

// A sweep reads document by document, round and round, and compares hashes: it finds edits that neither events nor size
// and times tell of, such as further writes to a page of a mapped file, or what another machine wrote to a network drive
// that keeps old times.
const (
	sweepBytes  = 4 << 20 // read in one watch.poll_interval
	sweepPieces = 16      // that this is cut into, so that a save waits only for a small one
	sweepFile   = 4 << 10 // what a file counts beside its bytes, for being opened
)

// sweep is where the sweep stands. The pipeline's goroutine owns it.
type sweep struct {
	every time.Duration // between two pieces; 0: never
	after string        // path of the last document read
	debt  int64         // bytes read beyond what was due: a large file is paid off by later pieces
	busy  bool          // something changed since the last piece
}

// ticks starts a piece once every so often.
func (s *sweep) ticks() (c <-chan time.Time, stop func()) {
	if s.every <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(s.every)
	return t.C, t.Stop
}

// sweepPiece hashes the documents next in turn. While files change it does nothing: they go first, and the disk is busy.
func (p *pipeline) sweepPiece(ctx context.Context) {
	s := &p.sweep
	if s.busy || p.behind.Load() || !p.ready.Load() || p.queued.Load() > 0 {
		s.busy = false
		return
	}
	if s.debt -= sweepBytes / sweepPieces; s.debt > 0 {
		return
	}
	records := p.registry.All()
	next := sort.Search(len(records), func(i int) bool { return records[i].Path > s.after })
	var found []finding
	for ; next < len(records) && s.debt < 0 && ctx.Err() == nil; next++ {
		rec := records[next]
		s.after = rec.Path
		s.debt += sweepFile
		info, err := p.folder.Stat(rec.Path)
		if err != nil || rec.Failed() || !statOf(info).equals(rec) {
			continue // the watcher's business
		}
		data, now, err := p.read(p.abs(rec.Path), p.maxSize)
		s.debt += int64(len(data))
		if err != nil || statOf(now) != statOf(info) {
			continue // being written
		}
		f := p.parse(finding{path: rec.Path, old: rec}, now, data)
		switch {
		case f.held:
		case !f.same:
			p.log.Info("a document has other bytes than its size and times say", "path", rec.Path)
			found = append(found, f)
		case f.record != nil:
			found = append(found, f)
		}
	}
	if next == len(records) {
		s.after, s.debt = "", 0 // from the start again
	}
	changed, err := p.write(found)
	if err != nil {
		p.log.Error("the indexes could not be written; what is missing is added as soon as they can", "documents", changed, "err", err)
	}
	if changed > 0 {
		p.events.Publish(ipc.Event{Type: ipc.EventIndex, Updates: p.tally.updates()})
	}
}
