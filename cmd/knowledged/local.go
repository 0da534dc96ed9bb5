package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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

// openState opens the state folder, after whoever has it now. *ipc.InUseError: a daemon began to answer on the socket.
func openState(ctx context.Context, cfg *config.Config, patience time.Duration, log *slog.Logger) (*daemon.Daemon, error) {
	for deadline := time.Now().Add(patience); ; {
		d, err := daemon.New(cfg, version, log) // waits a little itself
		if !errors.Is(err, registry.ErrLocked) || ctx.Err() != nil || time.Now().After(deadline) {
			return d, err
		}
		if err := ipc.CheckSocket(ctx, cfg.IPC.Socket); err != nil {
			return nil, err
		}
	}
}

// withAnswerer calls f with the daemon, or without one with an index in this process over the same state.
func (g *globals) withAnswerer(ctx context.Context, cfg *config.Config, f func(answerer) error) error {
	err := f(g.client(cfg))
	if !errors.Is(err, ipc.ErrNoDaemon) {
		return err
	}
	// Only `run` makes folders: here a missing one is a name mistyped.
	if err := daemon.CheckBase(cfg.Knowledge.BasePath); errors.Is(err, fs.ErrNotExist) {
		return &exitError{code: exitUsage, err: fmt.Errorf("no daemon answers on %s, and no such folder: %s", cfg.IPC.Socket, cfg.Knowledge.BasePath), hint: "start a daemon with `knowledged run`, or name the folder with --base"}
	} else if err != nil {
		return startError(err)
	}
	log := slog.New(slog.NewTextHandler(g.io.err, &slog.HandlerOptions{Level: slog.LevelError}))
	d, err := openState(ctx, cfg, lookupPatience, log)
	var started *ipc.InUseError
	switch {
	case errors.As(err, &started):
		return f(g.client(cfg))
	case errors.Is(err, registry.ErrLocked):
		return &exitError{code: exitInUse, err: err, hint: "a daemon works on this state folder: name its --socket"}
	case err != nil:
		return startError(err)
	}
	defer d.Close()
	fmt.Fprintf(g.io.err, "knowledged: no daemon answers on %s; answering from the state in %s\n", cfg.IPC.Socket, cfg.StateDir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running, ctx := errgroup.WithContext(ctx) // a daemon that can't go on ends the waiting
	running.Go(func() error { return d.Run(ctx, nil) })
	if err = d.WaitIndexed(ctx, localL1Wait); err == nil {
		err = f(d)
	}
	cancel()
	return errors.Join(running.Wait(), err)
}
