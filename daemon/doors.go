package daemon

import (
	"cmp"
	"context"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/mcp"
	"knowledged/web"
)

// hasToken reports whether one is set now.
func (d *Daemon) hasToken() bool {
	d.policy.Lock()
	defer d.policy.Unlock()
	return d.live.IPC.TokenFile != ""
}

// Doors opens the socket, or takes over an inherited one, and the loopback port, and returns what serves them until its
// context ends.
func (d *Daemon) Doors(inherited net.Listener) (func(context.Context) error, error) {
	agents := mcp.New(mcp.Config{Backend: d, BaseName: d.baseName, Version: d.version}, d.log)
	pages, err := web.New(web.Config{
		Backend: d, BaseName: d.baseName, Version: d.version, Fallback: d.cfg.Knowledge.FrontMatter.Fallback,
		HasToken: d.hasToken, MaxFileSize: int64(d.cfg.Knowledge.MaxFileSize),
	}, d.log)
	if err != nil {
		return nil, err
	}
	server, err := ipc.New(ipc.Config{
		Backend:     d,
		Agents:      agents,
		Pages:       pages,
		Metrics:     d.metrics.requests,
		Version:     d.version,
		Base:        func() string { return config.RealPath(d.base) },
		Socket:      d.cfg.IPC.Socket,
		Inherited:   inherited,
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
	d.access = server.SetAccess
	d.httpAddr = cmp.Or(server.HTTPAddr(), "off")
	return func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return server.Serve(ctx) })
		g.Go(func() error { return agents.Run(ctx) })
		close(d.serving) // who has connected meanwhile waited for this
		return g.Wait()
	}, nil
}

// HTTPAddr is the loopback address in force: "off" also where its port was taken.
func (d *Daemon) HTTPAddr() string { return d.httpAddr }

// httpStatus says whether the loopback door is open, and why it is not.
func (d *Daemon) httpStatus() ipc.StatusHTTP {
	switch configured := d.cfg.IPC.HTTP; {
	case d.httpAddr != "" && d.httpAddr != config.HTTPOff:
		return ipc.StatusHTTP{On: true, Address: d.httpAddr}
	case configured == "" || configured == config.HTTPOff:
		return ipc.StatusHTTP{Reason: "ipc.http is off"}
	default:
		return ipc.StatusHTTP{Address: configured, Reason: configured + " could not be had when the daemon started: the port was taken, most likely; the log says why"}
	}
}

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
