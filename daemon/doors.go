package daemon

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/ipc"
	"knowledged/mcp"
)

// Doors opens the socket and the loopback port and returns what serves them until its context ends.
func (d *Daemon) Doors() (func(context.Context) error, error) {
	agents := mcp.New(mcp.Config{Backend: d, BaseName: d.baseName, Version: d.version}, d.log)
	server, err := ipc.New(ipc.Config{
		Backend:     d,
		Agents:      agents,
		Version:     d.version,
		Socket:      d.cfg.IPC.Socket,
		HTTP:        d.cfg.IPC.HTTP,
		HTTPAuth:    d.cfg.IPC.HTTPAuth,
		TokenFile:   d.cfg.IPC.TokenFile,
		AllowRemote: d.cfg.IPC.AllowRemote,
		MaxFileSize: int64(d.cfg.Knowledge.MaxFileSize),
	}, d.log)
	if err != nil {
		return nil, err
	}
	if err := server.Listen(); err != nil {
		return nil, err
	}
	d.httpAddr = cmp.Or(server.HTTPAddr(), "off")
	return func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return server.Serve(ctx) })
		g.Go(func() error { return agents.Run(ctx) })
		return g.Wait()
	}, nil
}

// HTTPAddr is the loopback address in force: "off" also where its port was taken.
func (d *Daemon) HTTPAddr() string { return d.httpAddr }

// indexedPoll is how often WaitIndexed looks.
const indexedPoll = 5 * time.Millisecond

// WaitIndexed waits until the first scan is done, and then for vectors, but for those no longer than l1, nor while they
// can't be made.
func (d *Daemon) WaitIndexed(ctx context.Context, l1 time.Duration) error {
	tick := time.NewTicker(indexedPoll)
	defer tick.Stop()
	for !d.Ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if d.l1 == nil {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, l1)
	defer cancel()
	for short.Err() == nil { // late vectors make a weaker answer, not an error
		progress := d.l1.Progress()
		if s := d.l1.Status(); s.Pending == 0 || s.State == ipc.L1Down {
			break
		}
		select {
		case <-progress:
		case <-short.Done():
		}
	}
	return ctx.Err()
}
