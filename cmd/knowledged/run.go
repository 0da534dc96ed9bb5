package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/ipc"
	"knowledged/registry"
)

func newRun(g *globals) *cobra.Command {
	var http, level, format string
	c := &cobra.Command{
		Use:   "run",
		Short: "Watch the folder, keep the indexes hot, answer lookups",
		Example: `  knowledged run --base ~/notes
  knowledged run --config /etc/knowledged/config.yaml --log-format json
  knowledged run --http off          # the Unix socket alone`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &exitError{code: exitUsage, err: fmt.Errorf("run takes no argument, got %q", args[0]), hint: fmt.Sprintf("name the folder with --base: `knowledged run --base %s`", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			flags := map[string]string{"ipc.http": http, "log.level": level, "log.format": format}
			return serve(c.Context(), func() (*config.Loaded, error) { return g.loadAll(flags) }, g.io)
		},
	}
	c.Flags().StringVar(&http, "http", "", "loopback `ADDR`, or off (ipc.http)")
	c.Flags().StringVar(&level, "log-level", "", "debug, info, warn or error (log.level)")
	c.Flags().StringVar(&format, "log-format", "", "auto, text or json; auto is text on a terminal (log.format)")
	choices(c, "log-level", "debug", "info", "warn", "error")
	choices(c, "log-format", "auto", "text", "json")
	return c
}

// serve runs the daemon until ctx ends.
func serve(ctx context.Context, load func() (*config.Loaded, error), io streams) error {
	outliveLog()
	loaded, err := load()
	if err != nil {
		return err
	}
	cfg := &loaded.Config
	log, level, err := newLogger(io.err, cfg.Log)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	ctx, hangups, stop := hangupsOf(ctx, io)
	defer stop()
	door, d, answers, err := takePlace(ctx, cfg, log)
	if err != nil {
		return startError(err)
	}
	defer answers()
	defer d.Close()
	doors, err := d.Doors(door.inherited)
	if err != nil {
		return startError(err)
	}
	answers()
	log.Info("knowledged started", "version", version, "pid", os.Getpid(), "base", cfg.Knowledge.BasePath, "state", cfg.StateDir,
		"socket", door.path, "http", d.HTTPAddr(), "l1", cfg.L1.Backend, "embedding", cfg.Embedding.Provider)
	if addr := d.HTTPAddr(); addr != config.HTTPOff {
		log.Info("web page: open the address in a browser", "url", "http://"+addr+"/")
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.Run(ctx, doors) })
	g.Go(func() error { return d.Supervise(ctx, log) })
	g.Go(func() error { return (&reloader{load: load, daemon: d, level: level, log: log}).run(ctx, hangups) })
	if err := g.Wait(); err != nil {
		return startError(err)
	}
	log.Info("knowledged stopped")
	return nil
}

// takePlace finds the socket and opens the state, after an agent that stands in has given way. answers is to be called once the
// daemon does, or has ended.
func takePlace(ctx context.Context, cfg *config.Config, log *slog.Logger) (door, *daemon.Daemon, func(), error) {
	var at door
	for again := false; ; again = true {
		succeeds, answers := succeed(ctx, cfg)
		var err error
		if at.path == "" { // a service manager's socket is given once
			at, err = findSocket(ctx, cfg, log)
		}
		if err == nil {
			wait := runPatience
			if succeeds {
				wait = givingWay // it closes the state after the socket
			}
			var d *daemon.Daemon
			if d, err = openState(ctx, cfg, at.ask, wait, lookupMark, log); err == nil {
				return at, d, answers, nil
			}
		}
		// Look for the agent once more: it may have begun to stand in only after the first look.
		stoodIn := marked(cfg.StateDir, standInMark)
		answers()
		if again || !stoodIn || !taken(err) {
			return door{}, nil, nil, err
		}
	}
}

// taken tells that another process has the socket or the state.
func taken(err error) bool {
	var inUse *ipc.InUseError
	return errors.As(err, &inUse) || errors.Is(err, registry.ErrLocked)
}

// hangupsOf gives the signals that ask for a reload; one waits until it is taken. On a terminal the signal means that the
// window was closed, and ends ctx.
func hangupsOf(ctx context.Context, io streams) (context.Context, <-chan os.Signal, func()) {
	if terminal(io.err) {
		ctx, stop := signal.NotifyContext(ctx, hangup)
		return ctx, nil, stop
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, hangup)
	return ctx, hangups, func() { signal.Stop(hangups) }
}

// door is the socket to serve.
type door struct {
	path      string
	inherited net.Listener // nil: the daemon opens it
	ask       string       // whom to ask whether another daemon has it; "" for an inherited one: that is us
}

// findSocket takes the service manager's socket, or makes sure that nobody has the configured one: a daemon that answers
// there is named with its pid before anything is touched.
func findSocket(ctx context.Context, cfg *config.Config, log *slog.Logger) (door, error) {
	path := cfg.IPC.Socket
	inherited, err := ipc.Inherited()
	switch {
	case err != nil:
		return door{}, &exitError{code: exitUsage, err: err, hint: "`knowledged service install --print` shows a unit that fits"}
	case inherited == nil:
		if err := ipc.CheckSocket(ctx, path); err != nil {
			return door{}, err
		}
		return door{path: path, ask: path}, nil
	}
	at := inherited.Addr().String()
	if at != path {
		log.Warn("the service manager's socket is not the configured one: let ListenStream= and ipc.socket say the same, so that commands find the daemon", "socket", at, "ipc.socket", path)
	}
	return door{path: at, inherited: inherited}, nil
}

// startError gives a fault of the start its exit code and what to do.
func startError(err error) error {
	var (
		inUse *ipc.InUseError
		bad   *ipc.ConfigError
		op    *net.OpError
		said  *exitError
	)
	switch {
	case errors.As(err, &said):
		return err
	case errors.As(err, &inUse):
		return &exitError{code: exitInUse, err: err, hint: "stop it (one that is an agent's `knowledged mcp` ends with the agent), or give this one its own --socket and --state"}
	case errors.Is(err, registry.ErrLocked):
		return &exitError{code: exitInUse, err: err, hint: "another knowledged works on this state folder: stop it, or give this one its own --state"}
	case errors.Is(err, registry.ErrNewer):
		return &exitError{code: exitFailed, err: err, hint: "use the newer version, or another --state; nothing was changed"}
	case errors.As(err, &bad):
		return &exitError{code: exitUsage, err: err}
	case errors.As(err, &op):
		return &exitError{code: exitFailed, err: err, hint: "check the socket's folder and its rights"}
	}
	return &exitError{code: exitFailed, err: err, hint: stateHint(err)}
}

func newVersion(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  knowledged version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(g.io.out, map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			fmt.Fprintln(g.io.out, "knowledged", version)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, with Go's version and the platform")
	return c
}
