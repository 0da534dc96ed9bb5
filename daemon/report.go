package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"knowledged/ipc"
	"knowledged/watcher"
)

// briefWarnings is how many warnings of one first scan, or of files passed over, are logged one by one; the rest is summed up
// in one line.
const briefWarnings = 20

// requestID names one indexing in the log: 8 hex digits.
func requestID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// name gives each change its requestId: the caller's, if one asked for it.
func (p *pipeline) name(found []finding) {
	for i := range found {
		f := &found[i]
		if f.same {
			continue
		}
		if f.requestID = p.request; f.requestID == "" {
			f.requestID = requestID()
		}
		if p.l1 != nil && f.record != nil {
			p.traces.note(f.path, f.requestID)
		}
	}
}

// traces remembers the requestIds of late indexings by path, so that the semantic index, which follows in its own time,
// logs with the same.
type traces struct {
	mu  sync.Mutex
	ids map[string]string // guarded by mu
}

// traced bounds the memory of traces; forgetting costs an id in a DEBUG line.
const traced = 1000

func (t *traces) note(path, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil || len(t.ids) >= traced {
		t.ids = make(map[string]string)
	}
	t.ids[path] = id
}

func (t *traces) of(path string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ids[path]
}

// report logs one change and tells subscribers.
func (p *pipeline) report(f *finding, level slog.Level, l0Took time.Duration) {
	log := p.log.With("requestId", f.requestID, "path", f.path)
	e := ipc.Event{Type: ipc.EventDocument, Source: p.docOpt.BaseName + "/" + f.path}
	switch {
	case f.gone && f.old == nil:
		return
	case f.gone:
		log.Log(context.Background(), level, "document removed", "doc", f.old.DocID)
		e.Action, e.DocID, e.Title = ipc.ActionDeleted, f.old.DocID, f.old.Title
	case f.record.Failed():
		p.warn(log, 0, "the file is not indexed: "+f.record.Error)
		e.Action, e.DocID, e.Title, e.Error = ipc.ActionFailed, f.record.DocID, f.record.Title, f.record.Error
	default:
		for _, w := range f.record.Warnings {
			p.warn(log, w.Line, w.Message)
		}
		if f.movedFrom != "" {
			log = log.With("moved_from", f.movedFrom)
		}
		log.Log(context.Background(), level, "document indexed", "doc", f.record.DocID, "chunks", len(f.chunks), "frontmatter", f.record.HasFrontmatter,
			"in_l0", f.record.InL0, "read", f.took.read, "parse", f.took.parse, "chunk", f.took.chunk, "l0", l0Took)
		e.Action, e.DocID, e.Title = ipc.ActionUpdated, f.record.DocID, f.record.Title
		if f.old == nil {
			e.Action = ipc.ActionCreated
		}
		if f.movedFrom != "" && f.movedFrom != f.path {
			e.MovedFrom = p.docOpt.BaseName + "/" + f.movedFrom
		}
	}
	p.events.Publish(e)
}

// warn logs what the author of a document should mend. In a first scan only the first few get a line each.
func (p *pipeline) warn(log *slog.Logger, line int, message string) {
	if p.brief {
		p.warned++
		if p.warned > briefWarnings {
			return
		}
	}
	if line > 0 {
		log.Warn(message, "line", line)
	} else {
		log.Warn(message)
	}
}

func (p *pipeline) logFirstScan(found int, took time.Duration) {
	if rest := p.warned - briefWarnings; rest > 0 {
		p.log.Warn("more documents need mending; `knowledged docs list --warnings` names them all", "more", rest)
	}
	p.warned = 0
	inL0, failed := 0, 0
	for _, rec := range p.registry.All() {
		if rec.InL0 {
			inL0++
		}
		if rec.Failed() {
			failed++
		}
	}
	p.log.Info("first scan done", "documents", found, "in_l0", inL0, "failed", failed, "took", took)
}

// skipList remembers which files and folders the watcher passed over, so that none is named twice.
type skipList struct{ said map[string]string }

func (s *skipList) replace(b watcher.Batch, log *slog.Logger) {
	if s.said == nil {
		s.said = map[string]string{}
	}
	now, fresh := make(map[string]struct{}, len(b.Skipped)), 0
	for _, k := range b.Skipped {
		now[k.Path] = struct{}{}
		if s.said[k.Path] == k.Reason {
			continue
		}
		s.said[k.Path] = k.Reason
		if fresh++; fresh <= briefWarnings {
			log.Warn("not a document: "+k.Reason, "path", k.Path)
		}
	}
	if more := fresh - briefWarnings; more > 0 {
		log.Warn("more files and folders are no documents", "more", more)
	}
	if b.All { // what a full listing no longer names was mended
		for path := range s.said {
			if _, still := now[path]; !still {
				delete(s.said, path)
			}
		}
	}
}
