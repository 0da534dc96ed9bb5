package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"knowledged/config"
	kd "knowledged/daemon"
	"knowledged/embedding/vecfile"
	"knowledged/ipc"
	"knowledged/l0"
	"knowledged/registry"
)

// documents says what the authors should mend. Only a daemon knows.
func (x *examination) documents(context.Context) {
	const name = "documents"
	if !x.here {
		x.readable(name)
		return
	}
	d := x.status.Documents
	switch {
	case d.Failed > 0:
		x.warn(name, fmt.Sprintf("%d of %d cannot be indexed, %d have warnings", d.Failed, d.Total, d.Warnings), "`knowledged docs list --warnings` says which and why")
	case d.Warnings > 0:
		x.warn(name, fmt.Sprintf("%d of %d have something to mend", d.Warnings, d.Total), "`knowledged docs list --warnings` says what")
	default:
		x.ok(name, "%d, %d of them by keyword", d.Total, d.L0)
	}
}

// readable says which documents may not be read: without a daemon nobody has tried.
func (x *examination) readable(name string) {
	switch f := x.folder; {
	case f == nil: // said already
	case len(f.unread) > 0:
		x.warn(name, fmt.Sprintf("%d of %d cannot be read: %s", len(f.unread), f.documents, strings.Join(f.unread[:min(3, len(f.unread))], "; ")),
			"give the daemon's account the right to read them (chmod, chown), or name them in .knowledgeignore")
	default:
		x.ok(name, "%d, all of them can be read", f.documents)
	}
}

// indexes lets a running daemon compare its indexes with the folder; without one the files are read.
func (x *examination) indexes(ctx context.Context) {
	if x.here {
		x.compared(ctx)
		return
	}
	if !x.registry() {
		return
	}
	x.part("keyword index", func() (string, error) { return "its files are whole", l0.Verify(filepath.Join(x.cfg.StateDir, "l0")) })
	if x.cfg.L1.Backend == config.BackendEmbedded {
		x.part("vectors", x.vectors)
	}
}

const rebuilt = "nothing is lost: `knowledged run` sets it aside and rebuilds it from the documents; check the disk"

// registry reports whether the other parts may be looked at.
func (x *examination) registry() bool {
	const name = "registry"
	n, err := registry.Verify(x.cfg.StateDir)
	file := filepath.Join(x.cfg.StateDir, "registry.db")
	switch info, statErr := os.Stat(file); {
	case statErr == nil && info.Size() == 0:
		x.warn(name, file+" is empty: it lists what is indexed, and a crash or a full disk left nothing of it", "nothing is lost but the documents' ids: `knowledged run` fills it anew from the documents; check the disk")
	case errors.Is(err, fs.ErrNotExist):
		x.ok(name, "there is no index yet")
		return false
	case errors.Is(err, registry.ErrLocked):
		x.fail(name, "another process has the state in "+x.cfg.StateDir, "it is a daemon with another socket, most likely: name that with --socket, or give this one its own --state")
		return false
	case errors.Is(err, registry.ErrNewer):
		x.fail(name, err.Error(), "install the newer version again, or name another --state")
	case err != nil:
		x.warn(name, err.Error(), rebuilt)
	default:
		x.ok(name, "%d documents", n)
	}
	return true
}

func (x *examination) part(name string, verify func() (string, error)) {
	message, err := verify()
	if err != nil {
		x.warn(name, err.Error(), rebuilt)
		return
	}
	x.ok(name, "%s", message)
}

func (x *examination) vectors() (string, error) {
	files, _ := filepath.Glob(filepath.Join(globQuoted(x.cfg.StateDir), "l1", "*.vec"))
	total := 0
	for _, file := range files {
		n, err := vecfile.Verify(file)
		if err != nil {
			return "", err
		}
		total += n
	}
	return fmt.Sprintf("%d records in %d files", total, len(files)), nil
}

// compared asks the daemon what a reconcile would do.
func (x *examination) compared(ctx context.Context) {
	const name = "indexes"
	patience := cmp.Or(x.comparePatience, defaultComparePatience)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	job, err := x.Daemon.Reconcile(ctx, true)
	if err != nil {
		x.warn(name, "could not be compared: "+lateness(ctx, "the daemon", patience, err), "a large folder or a server that hangs takes longer: `knowledged reconcile --dry-run` waits; else see the daemon's log, then `knowledged reconcile`")
		return
	}
	d, v := job.Documents, job.Vectors
	differ := d.Created + d.Updated + d.Deleted + v.Orphans
	if x.status.Pending.L1 == 0 {
		differ += v.Missing // else they are on their way
	}
	switch {
	case len(job.Problems) > 0:
		x.fail(name, strings.Join(job.Problems, "; "), "`knowledged reconcile` repairs what it can; `knowledged status` says more")
	case differ > 0:
		x.warn(name, fmt.Sprintf("%d documents and %d vectors differ from the folder", d.Created+d.Updated+d.Deleted, v.Missing+v.Orphans), "`knowledged reconcile` repairs it")
	default:
		x.ok(name, "%d documents and %d vectors agree with the folder", d.Checked, v.Checked)
	}
	switch s := x.status.L1; s.State {
	case ipc.L1Down:
		x.fail("semantic index", "down: "+s.LastError, "see below; lookups by keyword go on, and it comes back by itself")
	case ipc.L1Building, ipc.L1Backlog:
		x.warn("semantic index", fmt.Sprintf("%s: %d chunks to go", s.State, x.status.Pending.L1), "wait for it: `knowledged status --wait`")
	default:
		x.ok("semantic index", "%s, %d chunks", s.State, s.Chunks)
	}
}

// semantic asks the embedding model for one real vector, and Milvus whether it would serve.
func (x *examination) semantic(ctx context.Context) {
	if x.cfg.L1.Backend == config.BackendOff {
		x.ok("embedding", "not used: l1.backend is off")
		return
	}
	patience := cmp.Or(x.patience, defaultPatience)
	embedding, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	start := time.Now()
	model, dims, err := kd.TryEmbedding(embedding, x.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		x.fail("embedding", lateness(embedding, x.cfg.Embedding.OpenAI.BaseURL, patience, err), "check embedding.openai.base_url, model and api_key_file, and that the server runs; lookups by keyword work without")
	} else {
		x.ok("embedding", "%s, %d dimensions; a passage took %s", model, dims, time.Since(start).Round(100*time.Microsecond))
	}
	if x.cfg.L1.Backend != config.BackendMilvus {
		return
	}
	server, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := kd.TryMilvus(server, x.cfg, model, dims); err != nil {
		x.fail("milvus", lateness(server, x.cfg.L1.Milvus.Address, patience, err), "check l1.milvus.address and the credentials, and that the server runs; docs/milvus.md says more")
	} else {
		x.ok("milvus", "%s answers", x.cfg.L1.Milvus.Address)
	}
}
