package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"knowledged/config"
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
			cfg, err := g.load(map[string]string{"ipc.http": http, "log.level": level, "log.format": format})
			if err != nil {
				return err
			}
			return serve(c.Context(), cfg, g.io)
		},
	}
	c.Flags().StringVar(&http, "http", "", "loopback `ADDR`, or off (ipc.http)")
	c.Flags().StringVar(&level, "log-level", "", "debug, info, warn or error (log.level)")
	c.Flags().StringVar(&format, "log-format", "", "auto, text or json; auto is text on a terminal (log.format)")
	return c
}

// serve runs the daemon until ctx ends.
func serve(ctx context.Context, cfg *config.Config, io streams) error {
	log, err := newLogger(io.err, cfg.Log)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	// Ask the socket first: a daemon that answers there is named with its pid before anything is touched.
	if err := ipc.CheckSocket(ctx, cfg.IPC.Socket); err != nil {
		return startError(err)
	}
	d, err := openState(ctx, cfg, runPatience, log)
	if err != nil {
		return startError(err)
	}
	defer d.Close()
	doors, err := d.Doors()
	if err != nil {
		return startError(err)
	}
	log.Info("knowledged started", "version", version, "pid", os.Getpid(), "base", cfg.Knowledge.BasePath, "state", cfg.StateDir,
		"socket", cfg.IPC.Socket, "http", d.HTTPAddr(), "l1", cfg.L1.Backend, "embedding", cfg.Embedding.Provider)
	if err := d.Run(ctx, doors); err != nil {
		return startError(err)
	}
	log.Info("knowledged stopped")
	return nil
}

// startError gives a fault of the start its exit code and what to do.
func startError(err error) error {
	var (
		inUse *ipc.InUseError
		bad   *ipc.ConfigError
		op    *net.OpError
	)
	switch {
	case errors.As(err, &inUse):
		return &exitError{code: exitInUse, err: err, hint: "stop it, or give this one its own --socket and --state"}
	case errors.Is(err, registry.ErrLocked):
		return &exitError{code: exitInUse, err: err, hint: "another knowledged works on this state folder: stop it, or give this one its own --state"}
	case errors.Is(err, registry.ErrNewer):
		return &exitError{code: exitFailed, err: err, hint: "use the newer version, or another --state; nothing was changed"}
	case errors.As(err, &bad):
		return &exitError{code: exitUsage, err: err}
	case errors.As(err, &op):
		return &exitError{code: exitFailed, err: err, hint: "check the socket's folder and its rights"}
	}
	return &exitError{code: exitFailed, err: err}
}

func newVersion(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(g.io.out, "knowledged", version)
			return nil
		},
	}
}
