package daemon

import (
	"bytes"
	"context"
	"os"
	"strconv"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/l1"
	"knowledged/registry"
)

// Status is the daemon's state. Pending is read before the counts that it explains: a caller that sees 0 sees everything
// applied.
func (d *Daemon) Status(context.Context) (ipc.Status, error) {
	ready := d.Ready()
	watch := d.watcher.Status()
	pending := watch.Pending + int(d.pipeline.queued.Load())
	if !ready || d.pipeline.behind.Load() {
		pending = max(pending, 1)
	}
	var l1Status l1.Status // before the counts as well
	if d.l1 != nil {
		l1Status = d.l1.Status()
	}
	s := ipc.Status{
		Version:   d.version,
		PID:       os.Getpid(),
		BasePath:  d.base,
		Ready:     ready,
		StartedAt: d.started,
		Documents: d.counts(),
		Updates:   d.pipeline.tally.updates(),
		Watch: ipc.StatusWatch{
			Mode: watch.Mode, Folders: watch.Folders, Overflows: watch.Overflows, PolledFolders: watch.PolledFolders,
			BaseMissing: watch.BaseMissing,
		},
		HTTP:   d.httpStatus(),
		L1:     ipc.StatusL1{Backend: config.BackendOff, State: ipc.L1Off},
		Memory: ipc.StatusMemory{RSSBytes: rssBytes(), ExactBytes: d.l0.ExactBytes() + d.registry.Bytes(), L0Bytes: d.l0.Bytes()},
	}
	s.Pending.L0 = pending
	if !watch.LastWalk.IsZero() {
		s.Watch.LastWalk = &watch.LastWalk
	}
	if d.l1 != nil {
		s.L1 = ipc.StatusL1{
			Backend: d.cfg.L1.Backend, State: l1Status.State, Chunks: l1Status.Chunks, LastError: l1Status.LastError,
			ChunksPerSecond: l1Status.PerSecond, EtaSeconds: l1Status.ETA.Seconds(),
		}
		s.Embedding = ipc.StatusEmbedding{Provider: d.cfg.Embedding.Provider, Model: d.provider.Name(), Dimensions: d.provider.Dimensions()}
		s.Memory.L1Bytes = l1Status.Bytes
		// Changes not yet applied will bring chunks: L1 can't be at rest before L0 is.
		s.Pending.L1 = max(l1Status.Pending, min(pending, 1))
		if d.measuring.Load() {
			s.Pending.L1 = max(s.Pending.L1, 1) // what `relevance` says is about to change
		}
	}
	return s, nil
}

// counts counts documents. With nothing pending and nothing given up every chunk has its vector, and none need be looked
// for: `status --wait` asks often.
func (d *Daemon) counts() ipc.StatusDocuments {
	if !d.allInL1() {
		return d.count(d.inL1)
	}
	n := d.count(func(rec *registry.Record) bool { return rec.ChunkCount() > 0 })
	if !d.allInL1() { // a change came meanwhile
		return d.count(d.inL1)
	}
	return n
}

func (d *Daemon) allInL1() bool {
	if d.l1 == nil || d.readsOnly() { // what a reader lacks is pending elsewhere
		return false
	}
	s := d.l1.Status()
	return s.Pending == 0 && s.Failed == 0
}

func (d *Daemon) count(inL1 func(*registry.Record) bool) (n ipc.StatusDocuments) {
	for _, rec := range d.registry.All() {
		n.Total++
		if rec.InL0 {
			n.L0++
		}
		if rec.Failed() {
			n.Failed++
		}
		if inL1(rec) {
			n.L1++
		}
		if len(rec.Warnings) > 0 {
			n.Warnings++
		}
	}
	return n
}

// rssBytes is the resident memory of this process, 0 where the system doesn't tell.
func rssBytes() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
