package daemon

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"knowledged/document"
	"knowledged/l0"
	"knowledged/registry"
)

// apply makes the indexes equal to the disk at these paths and returns how many documents changed. With trust, a file
// whose size and times equal the record's is not read (a full listing; a hint says that something happened, so there the
// file is read and hashed).
func (p *pipeline) apply(ctx context.Context, paths []string, trust bool) int {
	p.queued.Add(int64(len(paths)))
	defer p.queued.Add(-int64(len(paths)))
	return p.applyCounted(ctx, paths, trust)
}

// applyCounted is apply for paths that count as pending already.
func (p *pipeline) applyCounted(ctx context.Context, paths []string, trust bool) int {
	changed := 0
	paths, byInode := p.newFirst(paths)
	for rest := paths; len(rest) > 0; {
		// A slice may be followed by an API call's job: uploads don't wait for a first scan of thousands.
		found := p.lookAtSlice(ctx, rest, trust)
		if ctx.Err() != nil {
			break // what was found is found again by the next start
		}
		changed += p.applySlice(found, byInode)
		rest = rest[len(found):]
		if len(rest) > 0 {
			p.runJobs()
		}
	}
	return changed
}

func (p *pipeline) runJobs() {
	for {
		select {
		case j := <-p.jobs:
			p.runJob(j)
		case p.pulse <- struct{}{}:
		default:
			return
		}
	}
}

func (p *pipeline) runJob(j job) {
	request, brief := p.request, p.brief // of the job or the scan that this one comes between
	p.request, p.brief = j.request, false
	j.run()
	p.request, p.brief = request, brief
	p.queued.Add(-1)
	close(j.done)
}

// finding is what looking at one path on disk said.
type finding struct {
	path   string
	old    *registry.Record
	gone   bool
	same   bool  // nothing to do, or only file times to note
	held   bool  // looks half-written: looked at again soon
	unread error // the system refused to show the file: looked at again once in a while
	record *registry.Record
	doc    *document.Document
	chunks []document.Chunk
	took   stageTimes

	requestID string // of this indexing, for the log

	movedFrom string // the path whose docId a new file took over
	movedOn   bool   // the document that was here is at another path now
}

type stageTimes struct{ read, parse, chunk time.Duration }

// lookAtSlice looks at the first of these paths: at one at least, and at no more than are to be held in memory at once.
func (p *pipeline) lookAtSlice(ctx context.Context, paths []string, trust bool) []finding {
	found := make([]finding, min(len(paths), sliceSize))
	var next, size atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(found)) {
		workers.Go(func() {
			for size.Load() < p.slice && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(found) {
					return
				}
				found[i] = p.look(paths[i], trust)
				p.progress.Add(1)
				if found[i].doc != nil {
					size.Add(found[i].record.FileSize)
				}
			}
		})
	}
	workers.Wait()
	return found[:min(int(next.Load()), len(found))]
}

func (p *pipeline) applySlice(found []finding, byInode map[uint64]string) int {
	var keep []finding
	for _, f := range found {
		p.unread.note(&f)
		switch {
		case f.held:
			p.hold(f)
		case f.same && f.record == nil:
			delete(p.held, f.path)
		default:
			delete(p.held, f.path)
			keep = append(keep, f)
		}
	}
	changed, err := p.write(append(p.vanishedTwins(keep, byInode), keep...))
	if err != nil {
		p.log.Error("the indexes could not be written; what is missing is added as soon as they can", "documents", changed, "err", err)
	}
	return changed
}

// write puts findings into L0 (visible at once), then into the registry, then tells L1. What a fault leaves out is made
// good later, whoever asked for it.
func (p *pipeline) write(found []finding) (int, error) {
	if len(found) == 0 {
		return 0, nil
	}
	start := time.Now()
	found = p.replaced(found)
	slices.SortStableFunc(found, func(a, b finding) int { // where a document left is told before where it came
		switch {
		case a.gone == b.gone:
			return 0
		case a.gone:
			return -1
		}
		return 1
	})
	p.settleMoves(found)
	p.name(found)
	var (
		batch   l0.Batch
		changes []registry.Change
		put     []string
		gone    []string
		changed int
		fault   error
	)
	for i := range found {
		f := &found[i]
		if f.gone {
			if f.old == nil {
				continue
			}
			changed++
			p.tally.count(f)
			batch.Gone = append(batch.Gone, f.path)
			gone = append(gone, f.old.ChunkIDs()...)
			changes = append(changes, registry.Change{Path: f.path})
			continue
		}
		changes = append(changes, registry.Change{Path: f.path, Record: f.record, Chunks: f.chunks, KeepChunks: f.same})
		if f.same {
			continue
		}
		changed++
		p.tally.count(f)
		if f.record.Failed() {
			batch.Gone = append(batch.Gone, f.path)
		} else {
			batch.Put = append(batch.Put, putOf(f.record, f.chunks))
		}
		added, removed := diffChunks(f.old, f.chunks)
		put = append(put, added...)
		gone = append(gone, removed...)
	}
	batch.GoneChunks = gone
	if changed > 0 {
		fault = p.l0.Apply(batch)
	}
	l0Took := time.Since(start)
	if fault == nil && !p.brief {
		p.metrics.visible(found, time.Now())
	}
	// The registry is written even if L0 failed: mend compares the two and puts back what is missing.
	fault = errors.Join(fault, p.registry.Apply(changes))
	if fault != nil {
		p.metrics.writeFailures.Inc()
		p.behind.Store(true)
	}
	if p.l1 != nil && len(put)+len(gone) > 0 {
		p.l1.Changed(put, gone)
	}
	level := slog.LevelDebug
	if changed == 1 && !p.brief {
		level = slog.LevelInfo // many at once are summed up
	}
	for i := range found {
		if !found[i].same {
			p.report(&found[i], level, l0Took)
		}
	}
	return changed, fault
}

// diffChunks compares ids: equal ids mean equal content, so only the rest is written anew.
func diffChunks(old *registry.Record, chunks []document.Chunk) (added, removed []string) {
	before := map[string]bool{}
	if old != nil {
		for _, id := range old.ChunkIDs() {
			before[id] = true
		}
	}
	for _, c := range chunks {
		if before[c.ID] {
			delete(before, c.ID)
		} else {
			added = append(added, c.ID)
		}
	}
	for id := range before {
		removed = append(removed, id)
	}
	return added, removed
}

var errNotRegular = errors.New("not a regular file")
