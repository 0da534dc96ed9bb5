package daemon

import (
	"context"
	"time"

	"knowledged/ipc"
)

// lookAfresh looks at a path as if nothing were known of its content: its file is parsed and chunked anew.
func (p *pipeline) lookAfresh(path string) finding {
	p.held[path] = time.Time{}
	defer delete(p.held, path)
	f := finding{path: path}
	if rec, ok := p.registry.Get(path); ok {
		stale := *rec
		stale.FileHash, stale.FormatVersion, stale.Error = "", 0, ""
		f.old = &stale
	}
	return p.lookAt(f, false)
}

// reconcilePoll is how often Reconcile looks whether the walk it asked for is done.
const reconcilePoll = 10 * time.Millisecond

// Reconcile compares folder, registry, full text and vectors, and repairs what differs. With dryRun it only counts.
func (d *Daemon) Reconcile(ctx context.Context, dryRun bool) (job ipc.Job, err error) {
	start := time.Now()
	job = ipc.Job{RequestID: ipc.RequestID(ctx), DryRun: dryRun, Problems: []string{}}
	defer func() { job.TookMs = float64(time.Since(start).Microseconds()) / 1000 }()
	if d.watcher.BaseMissing() { // whether its documents are gone with it is the watcher's to say
		job.Problems = append(job.Problems, "documents: the base folder "+d.base+" is missing")
	} else if dryRun {
		if !d.pipeline.do(ctx, func() { err = d.pipeline.compare(ctx, &job.Documents) }) {
			return job, ipc.ErrUnavailable
		}
		if err != nil {
			return job, err
		}
	} else if err := d.repairDocuments(ctx, &job.Documents); err != nil {
		return job, err
	}
	if d.l1 == nil {
		return job, nil
	}
	diff, err := d.l1.Reconcile(ctx, !dryRun)
	if err != nil {
		job.Problems = append(job.Problems, "vectors: "+err.Error())
	}
	job.Vectors = ipc.JobVectors{Checked: d.l1.Status().Chunks, Missing: diff.Missing, Orphans: diff.Surplus}
	return job, nil
}

// compare counts the records that no longer equal their files. New files are found by a walk, not here.
func (p *pipeline) compare(ctx context.Context, n *ipc.JobDocuments) error {
	for _, rec := range p.registry.All() {
		if ctx.Err() != nil {
			return ctx.Err() // nobody waits for the answer any more
		}
		n.Checked++
		switch f := p.lookAt(finding{path: rec.Path, old: rec}, false); {
		case f.gone:
			n.Deleted++
		case f.same, f.held:
		case f.record.Failed():
			n.Failed++
		default:
			n.Updated++
		}
	}
	return nil
}

// repairDocuments mends full text, then has the whole folder walked and waits until that is applied. Every known file is
// hashed: an edit that kept size and times is found too.
func (d *Daemon) repairDocuments(ctx context.Context, n *ipc.JobDocuments) error {
	var err error
	before := d.pipeline.tally.snapshot()
	ok := d.pipeline.do(ctx, func() {
		if err = d.pipeline.mend(ctx); err != nil {
			return
		}
		var known []string
		for _, rec := range d.registry.All() {
			known = append(known, rec.Path)
		}
		d.pipeline.apply(ctx, known, false)
	})
	if !ok {
		return ipc.ErrUnavailable
	}
	if err != nil {
		return err
	}
	d.watcher.Rescan()
	tick := time.NewTicker(reconcilePoll)
	defer tick.Stop()
	for d.watcher.Status().Pending > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	after := d.pipeline.tally.snapshot()
	*n = ipc.JobDocuments{
		Checked: d.registry.Len(), Created: after.Created - before.Created, Updated: after.Updated - before.Updated,
		Deleted: after.Deleted - before.Deleted, Failed: after.Failed - before.Failed,
	}
	return nil
}
