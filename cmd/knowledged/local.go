package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/ipc"
	"knowledged/lookup"
	"knowledged/registry"
)

// answerer is what lookups and reading need: the daemon through its socket, or one in this process.
type answerer interface {
	Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error)
	Documents(ctx context.Context, q ipc.DocumentsQuery) (ipc.DocumentList, error)
	Document(ctx context.Context, docID string) (ipc.Record, error)
	BySource(ctx context.Context, source string) (ipc.Record, error)
	Content(ctx context.Context, docID string, q ipc.ContentQuery) (ipc.Content, error)
}

// localL1Wait is how long a lookup without a daemon waits for vectors before it answers without some.
const localL1Wait = 10 * time.Second

// How long the state is waited for: another lookup without a daemon has it for a moment. A daemon that starts is shorter
// of patience, since what has the state is likely a daemon, too.
const (
	lookupPatience = 5 * time.Second
	runPatience    = 1500 * time.Millisecond
)

// A lookup without a daemon says by a file in the state folder that it has the state, or is about to, and not a daemon: then
// it is worth waiting for, however long the machine takes. What a killed one has left counts for markAge.
const (
	lookupMark  = "lookup-without-daemon-"
	openingMark = lookupMark + "opening-"
	havingMark  = lookupMark + "having-"
	markAge     = time.Minute
)

// mark leaves the file and returns what takes it away.
func mark(stateDir, kind string) (unmark func()) {
	_, unmark = markFile(stateDir, kind)
	return unmark
}

// markFile is mark for who keeps the file young.
func markFile(stateDir, kind string) (file string, unmark func()) {
	f, err := os.CreateTemp(stateDir, kind)
	if err != nil {
		return "", func() {} // others wait less long, no more
	}
	f.Close()
	return f.Name(), func() { _ = os.Remove(f.Name()) } // or it is too old soon
}

// marked reports a mark of the kind, or of any with lookupMark.
func marked(stateDir, kind string) bool {
	entries, _ := os.ReadDir(stateDir)
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !strings.HasPrefix(e.Name(), kind):
		case time.Since(info.ModTime()).Abs() < markAge: // a clock that was set back makes none eternal
			return true
		default:
			_ = os.Remove(filepath.Join(stateDir, e.Name()))
		}
	}
	return false
}

// openState opens the state folder, after whoever has it now. *ipc.InUseError: a daemon began to answer on the socket,
// which is "" if it is our own already. Patience begins anew as long as there are marks of the kind.
func openState(ctx context.Context, cfg *config.Config, socket string, patience time.Duration, kind string, log *slog.Logger) (*daemon.Daemon, error) {
	for deadline := time.Now().Add(patience); ; {
		d, err := daemon.New(cfg, version, log) // waits a little itself
		if marked(cfg.StateDir, kind) {
			deadline = time.Now().Add(patience)
		}
		if !errors.Is(err, registry.ErrLocked) || ctx.Err() != nil || time.Now().After(deadline) {
			return d, err
		}
		if socket == "" {
			continue
		}
		if err := ipc.CheckSocket(ctx, socket); err != nil {
			return nil, err
		}
	}
}

// withAnswerer calls f with the daemon, or without one with an index in this process over the same state. Where that cannot be
// used, the documents are indexed into a temporary one.
func (g *globals) withAnswerer(ctx context.Context, cfg *config.Config, f func(answerer) error) error {
	err := f(g.client(cfg))
	if p, ok := errors.AsType[*ipc.Problem](err); ok && p.Status == http.StatusMisdirectedRequest {
		return clientError(err, cfg)
	}
	if !errors.Is(err, ipc.ErrNoDaemon) {
		return err
	}
	// Only `run` makes folders: here a missing one is a name mistyped.
	if err := daemon.CheckBase(cfg.Knowledge.BasePath); errors.Is(err, fs.ErrNotExist) {
		return noFolder(cfg)
	} else if err != nil {
		return startError(err)
	}
	log := slog.New(slog.NewTextHandler(g.io.err, &slog.HandlerOptions{Level: slog.LevelError}))
	defer mark(cfg.StateDir, openingMark)() // for a daemon: another lookup would wait for one that waits
	d, err := openState(ctx, cfg, cfg.IPC.Socket, lookupPatience, havingMark, log)
	from := "the state in " + cfg.StateDir
	if unusable, ok := errors.AsType[*daemon.StateError](err); ok {
		temporary, remove, tempErr := temporaryState(cfg)
		if tempErr != nil {
			return noTemporary(unusable, tempErr)
		}
		defer remove()
		if temporary.L1.Backend == cfg.L1.Backend {
			from = "the documents alone"
		} else {
			from = "the documents alone, by keywords"
		}
		from += fmt.Sprintf(", since the state cannot be used: %s", strings.ReplaceAll(oneMessage(unusable), "\n ", ";"))
		cfg = temporary
		d, err = openState(ctx, cfg, cfg.IPC.Socket, lookupPatience, havingMark, log)
		if full, ok := errors.AsType[*daemon.StateError](err); ok {
			return noTemporary(unusable, full)
		}
	}
	var started *ipc.InUseError
	switch {
	case errors.As(err, &started):
		return f(g.client(cfg))
	case errors.Is(err, registry.ErrLocked):
		return &exitError{code: exitInUse, err: err, hint: "a daemon works on this state folder: name its --socket"}
	case err != nil:
		return startError(err)
	}
	defer mark(cfg.StateDir, havingMark)() // until after Close, which can take a moment
	defer d.Close()
	fmt.Fprintf(g.io.err, "knowledged: no daemon answers on %s; answering from %s\n", cfg.IPC.Socket, from)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running, ctx := errgroup.WithContext(ctx) // a daemon that can't go on ends the waiting
	running.Go(func() error { return d.Run(ctx, nil) })
	if err = d.WaitIndexed(ctx, localL1Wait); err == nil {
		g.sayUnread(ctx, d)
		err = f(d)
	}
	cancel()
	return errors.Join(running.Wait(), err)
}

// noFolder: nobody answers, and there is nothing to answer from.
func noFolder(cfg *config.Config) error {
	return &exitError{code: exitUsage, err: fmt.Errorf("no daemon answers on %s, and no such folder: %s", cfg.IPC.Socket, cfg.Knowledge.BasePath), hint: "start a daemon with `knowledged run`, or name the folder with --base"}
}

// sayUnread says that the folder holds more than is answered from: no daemon's log does.
func (g *globals) sayUnread(ctx context.Context, d *daemon.Daemon) {
	s, err := d.Status(ctx)
	if n := s.Documents.Failed; err == nil && n > 0 {
		files := "files"
		if n == 1 {
			files = "file"
		}
		fmt.Fprintf(g.io.err, "knowledged: %d %s could not be read; `knowledged lint` names what is wrong\n", n, files)
	}
}
