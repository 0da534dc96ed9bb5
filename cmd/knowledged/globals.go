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
	baseFrom                  config.Origin // of the folder in the configuration that was loaded
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
	opt, err := g.options(more)
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(opt)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err, hint: "once that is mended, `knowledged config show` prints the effective settings and where each came from"}
	}
	g.baseFrom = loaded.Origins["knowledge.base_path"]
	return loaded, nil
}

// options are where the configuration is loaded from.
func (g *globals) options(more map[string]string) (config.Options, error) {
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
	cwd, err := config.WorkingDir()
	if err != nil {
		return config.Options{}, &exitError{code: exitFailed, err: fmt.Errorf("find the working directory: %w", err)}
	}
	return config.Options{File: g.file, Env: os.Environ(), Flags: flags, Cwd: cwd}, nil
}

// client is the daemon's client at the configured socket. Where somebody named the folder, by flag, variable or file, a daemon
// that serves another one is none to ask. The default names none: who sets nothing asks whoever answers.
func (g *globals) client(cfg *config.Config) *ipc.Client {
	c := g.anyClient(cfg)
	if g.baseFrom.Kind != config.FromDefault {
		c.Base = config.RealPath(cfg.Knowledge.BasePath)
	}
	return c
}

// anyClient is for who looks at which folder the daemon serves.
func (g *globals) anyClient(cfg *config.Config) *ipc.Client {
	return &ipc.Client{Socket: cfg.IPC.Socket}
}

// clientError gives an error of a call to the daemon its exit code.
func clientError(err error, cfg *config.Config) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ipc.ErrNoDaemon):
		return &exitError{code: exitNoDaemon, err: fmt.Errorf("no daemon answers on %s", cfg.IPC.Socket), hint: "start one with `knowledged run`, or name its --socket"}
	}
	p, ok := errors.AsType[*ipc.Problem](err)
	switch {
	case ok && p.Status == http.StatusMisdirectedRequest:
		return &exitError{
			code: exitInUse,
			err:  fmt.Errorf("the daemon on %s is not that of %s: %s", cfg.IPC.Socket, cfg.Knowledge.BasePath, p.Detail),
			hint: "name the --socket of that folder's daemon, or the --base of this one; `knowledged config show` says where either is set",
		}
	case ok && p.Status == http.StatusConflict && p.Record != nil:
		return &exitError{code: exitFailed, err: errors.New(strings.TrimSuffix(p.Detail, ipc.ForceHint)), hint: "--force writes it all the same"}
	}
	return inputError(err)
}

// noAnswer is a daemon that hangs: for who asks, it is not to be reached.
func noAnswer(err error) error {
	return &exitError{code: exitNoDaemon, err: err, hint: "let that process go on (kill -CONT), or end it and start the daemon again"}
}

// newLogger writes to w: coloured text on a terminal, JSON otherwise, unless the format is given. Its level can be changed.
// A process's standard error is not waited for from then on.
func newLogger(w io.Writer, c config.Log) (*slog.Logger, *slog.LevelVar, error) {
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, nil, fmt.Errorf("log.level: %w", err)
	}
	format := c.Format
	if format == "auto" {
		format = "json"
		if terminal(w) {
			format = "text"
		}
	}
	handler := func(w io.Writer) slog.Handler {
		if format == "json" {
			return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds})
		}
		return tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: "15:04:05.000", NoColor: !colour(w), ReplaceAttr: withoutControls})
	}
	u, queued := w.(*unhurried)
	if queued {
		w = u.w
	}
	if format != "json" {
		w = obeyed(w)
	}
	if !queued {
		return slog.New(handler(w)), level, nil
	}
	lossLog := slog.New(handler(w))
	u.q.outlive(func(lost int) {
		lossLog.Warn("log lines are lost: nobody read standard error", "lines", lost)
	})
	return slog.New(handler(u.to(w))), level, nil
}

// inMilliseconds writes times spent as answers do (l0Ms): as a number of milliseconds. slog would write nanoseconds.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(float64(a.Value.Duration().Microseconds()) / 1000)
	}
	return a
}

// withoutControls shows the control characters of what is logged as text: the handler quotes some, and lets escape sequences pass
// where it writes colours itself.
func withoutControls(_ []string, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if v.Kind() != slog.KindString && v.Kind() != slog.KindAny {
		return a
	}
	text := v.String()
	if safe := string(shown([]byte(text))); safe != text {
		a.Value = slog.StringValue(safe)
	}
	return a
}

func terminal(w io.Writer) bool {
	f, ok := obeyed(w).(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// interactive: somebody is there to answer a question.
func interactive(s streams) bool {
	f, ok := s.in.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// colour: only on a terminal that knows colours, and not where NO_COLOR (no-color.org) is set.
func colour(w io.Writer) bool {
	return terminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
