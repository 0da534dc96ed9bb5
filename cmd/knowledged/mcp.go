package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/ipc"
	"knowledged/mcp"
	"knowledged/registry"
)

func newMCP(g *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent over standard input and output (Model Context Protocol)",
		Long: `Serve an agent over standard input and output, by the Model Context Protocol.

An MCP client starts this itself. It joins the client to the running daemon; without one it
is the daemon, so that others find it, until its client ends it or "knowledged run" starts.
Standard output carries the protocol alone, the log goes to standard error.`,
		Example: `  knowledged mcp install --client claude-code
  knowledged mcp --base ~/notes`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			log, _, err := newLogger(g.io.err, cfg.Log)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			own := &ownDaemon{cfg: cfg, log: log}
			dial := &mcpDialer{client: g.client(cfg), own: own}
			bridge := &mcp.Bridge{Dial: dial.dial, Log: log}
			err = bridge.Run(c.Context(), g.io.in, g.io.out)
			if p, ok := errors.AsType[*ipc.Problem](err); ok && p.Status == http.StatusMisdirectedRequest {
				err = clientError(err, cfg)
			}
			if errors.Is(err, ipc.ErrNoAnswer) {
				err = noAnswer(err)
			}
			return errors.Join(err, own.end())
		},
	}
	c.AddCommand(newMCPInstall(g))
	return c
}

// mcpDialer finds a daemon, or is one.
type mcpDialer struct {
	client *ipc.Client
	own    *ownDaemon
	joined bool // there was a daemon before
}

const (
	// dialPatience is how long another process may hold the socket or the state without answering: one that starts or ends.
	dialPatience = 15 * time.Second
	dialPause    = 50 * time.Millisecond
	// succession is how long the daemon that went may take to come back before we stand in: taking its place and giving way
	// again at every restart would be work for nothing.
	succession = 3 * time.Second
	// ownScanWait is how long a client's first message waits for the first scan of a daemon of our own. Past that, answers
	// say that they come from a part of the folder.
	ownScanWait = 5 * time.Second
)

func (m *mcpDialer) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	for start := time.Now(); ; {
		conn, err := m.client.MCP(ctx)
		if !errors.Is(err, ipc.ErrNoDaemon) {
			m.joined = m.joined || err == nil
			return conn, err
		}
		var inUse *ipc.InUseError
		coming := marked(m.own.cfg.StateDir, daemonMark) && time.Since(start) < dialPatience
		if !coming && (!m.joined || time.Since(start) > succession) {
			err = m.own.begin(ctx)
		}
		var exit *exitError
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ipc.ErrNoDaemon): // not our turn yet
		case errors.As(err, &exit):
			return nil, err
		case !errors.As(err, &inUse) && !errors.Is(err, registry.ErrLocked), time.Since(start) > dialPatience:
			return nil, startError(err)
		}
		select { // or another process was quicker
		case <-time.After(dialPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ownDaemon is a daemon in this process, at most one at a time.
type ownDaemon struct {
	cfg   *config.Config
	log   *slog.Logger
	stop  context.CancelFunc
	ended chan error // gets one value
}

// begin starts the daemon and waits a while for its first scan. One that ran before has ended by itself: nobody answered.
func (o *ownDaemon) begin(ctx context.Context) error {
	if err := o.end(); err != nil {
		return err
	}
	if err := ipc.CheckSocket(ctx, o.cfg.IPC.Socket); err != nil {
		return err
	}
	if err := daemon.CheckBase(o.cfg.Knowledge.BasePath); errors.Is(err, fs.ErrNotExist) {
		return noFolder(o.cfg)
	}
	outliveLog() // a client that goes is noticed by writing to it all the same
	stand := standIn(o.cfg.StateDir)
	d, err := daemon.New(o.cfg, version, o.log)
	if err != nil {
		stand.end()
		return err
	}
	doors, err := d.Doors(nil)
	if err != nil {
		err = errors.Join(err, d.Close())
		stand.end()
		return err
	}
	o.log.Info("no daemon was running: this process is one until its client ends", "socket", o.cfg.IPC.Socket, "http", d.HTTPAddr(), "base", o.cfg.Knowledge.BasePath)
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	o.stop, o.ended = stop, make(chan error, 1)
	stand.watch(run, func() {
		o.log.Info("a daemon starts: this process gives way to it")
		stop()
	})
	ended := o.ended
	go func() {
		err := errors.Join(d.Run(run, doors), d.Close())
		stop()
		stand.end()
		ended <- err
	}()
	scan, cancel := context.WithTimeout(ctx, ownScanWait)
	defer cancel()
	_ = d.WaitIndexed(scan, ownScanWait) // late is no error: answers say so
	return nil
}

// end stops the daemon, if there is one, and waits for it.
func (o *ownDaemon) end() error {
	if o.stop == nil {
		return nil
	}
	o.stop()
	o.stop = nil
	return <-o.ended
}
