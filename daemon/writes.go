package daemon

import (
	"context"
	"time"

	"knowledged/ipc"
	"knowledged/registry"
)

// l1Wait is how long an upload that asks for it waits for its vectors, and a delete for its vectors to go, before the
// answer says that they are left to the backlog.
const l1Wait = 5 * time.Second

// Put saves an upload and indexes it.
func (d *Daemon) Put(ctx context.Context, r ipc.PutRequest) (ipc.Record, bool, error) {
	var (
		rec     *registry.Record
		created bool
		err     error
	)
	if !d.pipeline.do(ctx, func() { rec, created, err = d.pipeline.put(r) }) {
		err = ipc.ErrUnavailable
	}
	d.metrics.uploaded(created, err)
	if err != nil {
		return ipc.Record{}, false, err
	}
	if r.WaitL1 && d.l1 != nil {
		// Vectors that do not come are no failure of the upload: the record says INDEXING (SPEC 5.1).
		short, cancel := context.WithTimeout(ctx, l1Wait)
		defer cancel()
		_ = d.l1.WaitFor(short, rec.ChunkIDs())
	}
	return d.wireRecord(rec), created, nil
}

// Delete removes file, record, L0 entry and vectors. It reports false if the vectors are left to the backlog.
func (d *Daemon) Delete(ctx context.Context, docID string, ifMatch ipc.Match) (bool, error) {
	var (
		err error
		ids []string
	)
	ok := d.pipeline.do(ctx, func() {
		rec, found := d.registry.ByID(docID)
		if !found {
			err = ipc.ErrNotFound
			return
		}
		ids = rec.ChunkIDs()
		err = d.pipeline.remove(rec, ifMatch)
	})
	switch {
	case !ok:
		return false, ipc.ErrUnavailable
	case err != nil:
		return false, err
	case d.l1 == nil:
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l1Wait)
	defer cancel()
	return d.l1.WaitFor(ctx, ids) == nil, nil
}

// Reindex reads one document's file anew, whatever its times say.
func (d *Daemon) Reindex(ctx context.Context, docID string) (ipc.Job, error) {
	start := time.Now()
	job := ipc.Job{RequestID: ipc.RequestID(ctx), Problems: []string{}}
	var err error
	ok := d.pipeline.do(ctx, func() {
		rec, found := d.registry.ByID(docID)
		if !found {
			err = ipc.ErrNotFound
			return
		}
		if err = d.pipeline.missing(); err != nil {
			return // nothing is known of the file, not that it is gone
		}
		f := d.pipeline.lookAfresh(rec.Path)
		d.pipeline.unread.note(&f)
		job.Documents.Checked = 1
		switch {
		case f.unread != nil:
			job.Documents.Failed = 1
			job.Problems = append(job.Problems, f.unread.Error())
		case f.gone:
			job.Documents.Deleted = 1
		case f.record.Failed():
			job.Documents.Failed = 1
			job.Problems = append(job.Problems, f.record.Error)
		default:
			job.Documents.Updated = 1
		}
		_, err = d.pipeline.write([]finding{f})
	})
	if !ok {
		return job, ipc.ErrUnavailable
	}
	job.TookMs = float64(time.Since(start).Microseconds()) / 1000
	return job, err
}
