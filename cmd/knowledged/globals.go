package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"knowledged/config"
	"knowledged/ipc"
)

// streams are the process's, or a test's.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// globals are the flags that all subcommands share.
type globals struct {
	file, base, socket, state string
	io                        streams
}

// load reads the configuration with the flags over it. Every fault in it is exit code 2.
func (g *globals) load(more map[string]string) (*config.Config, error) {
	loaded, err := g.loadAll(more)
	if err != nil {
		return nil, err
	}
	return &loaded.Config, nil
}

func (g *globals) loadAll(more map[string]string) (*config.Loaded, error) {
	flags := map[string]string{}
	for key, value := range map[string]string{"knowledge.base_path": g.base, "ipc.socket": g.socket, "state_dir": g.state} {
		if value != "" {
			flags[key] = value
		}
	}
	for key, value := range more {
		if value != "" {
			flags[key] = value
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("find the working directory: %w", err)}
	}
	loaded, err := config.Load(config.Options{File: g.file, Env: os.Environ(), Flags: flags, Cwd: cwd})
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err, hint: "once that is mended, `knowledged config show` prints the effective settings and where each came from"}
	}
	return loaded, nil
}

// client is the daemon's client at the configured socket.
func (g *globals) client(cfg *config.Config) *ipc.Client { return &ipc.Client{Socket: cfg.IPC.Socket} }

// clientError gives an error of a call to the daemon its exit code.
func clientError(err error, cfg *config.Config) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ipc.ErrNoDaemon):
		return &exitError{code: exitNoDaemon, err: fmt.Errorf("no daemon answers on %s", cfg.IPC.Socket), hint: "start one with `knowledged run`, or name its --socket"}
	}
	if p, ok := errors.AsType[*ipc.Problem](err); ok && p.Status == http.StatusConflict && p.Record != nil {
		return &exitError{code: exitFailed, err: errors.New(strings.TrimSuffix(p.Detail, ipc.ForceHint)), hint: "--force writes it all the same"}
	}
	return inputError(err)
}

// newLogger writes to w: coloured text on a terminal, JSON otherwise, unless the format is given.
func newLogger(w io.Writer, c config.Log) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	format := c.Format
	if format == "auto" {
		format = "json"
		if terminal(w) {
			format = "text"
		}
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), nil
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: "15:04:05.000", NoColor: !colour(w)})), nil
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// colour: only on a terminal, and not where NO_COLOR (no-color.org) is set.
func colour(w io.Writer) bool { return terminal(w) && os.Getenv("NO_COLOR") == "" }
