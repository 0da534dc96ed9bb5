package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/ipc"
	"knowledged/lookup"
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

// withAnswerer calls f with the daemon, or without one with an index in this process over the same state.
func (g *globals) withAnswerer(ctx context.Context, cfg *config.Config, f func(answerer) error) error {
	err := f(g.client(cfg))
	if !errors.Is(err, ipc.ErrNoDaemon) {
		return err
	}
	fmt.Fprintf(g.io.err, "knowledged: no daemon answers on %s; answering from the state in %s\n", cfg.IPC.Socket, cfg.StateDir)
	log := slog.New(slog.NewTextHandler(g.io.err, &slog.HandlerOptions{Level: slog.LevelError}))
	d, err := daemon.New(cfg, version, log)
	if err != nil {
		return startError(err)
	}
	defer d.Close()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, nil) }()
	stop := func() error {
		cancel()
		return <-ended
	}
	if err := d.WaitIndexed(ctx, localL1Wait); err != nil {
		return errors.Join(err, stop())
	}
	err = f(d)
	return errors.Join(err, stop())
}
