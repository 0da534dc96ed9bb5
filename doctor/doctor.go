// Package doctor examines what a daemon needs: its configuration, folders, doors, watches, indexes and servers. It says for
// each what is wrong and what to do, changes nothing, and works beside a running daemon as well as without one.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"knowledged/config"
	"knowledged/ipc"
)

// States of a Check.
const (
	OK   = "ok"
	Warn = "warn" // it works, not as well as it could
	Fail = "fail" // it does not work
)

// Check is what was found out about one thing.
type Check struct {
	Name    string `json:"check"`
	State   string `json:"state"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"` // what to do; with every warn and fail
}

// daemon is the running one, if there is any.
type daemon interface {
	Status(ctx context.Context) (ipc.Status, error)
	Reconcile(ctx context.Context, dryRun bool) (ipc.Job, error)
}

// Config says what is examined.
type Config struct {
	Loaded  *config.Loaded
	Daemon  daemon
	Version string // of this program
}

// examination is one run over all checks.
type examination struct {
	Config
	cfg  *config.Config
	tell func(Check)

	limits func() (limits, bool) // of the system
	free   func(dir string) (int64, error)
	open   func(file string) error // for reading

	patience, comparePatience time.Duration // with one answer; zero: the default

	status *ipc.Status // of the running daemon; nil without one
	here   bool        // it serves the base folder of this configuration
	folder *folder     // what is in the base folder; nil if it cannot be listed
}

// Examine makes all checks and tells each as it is done.
func Examine(ctx context.Context, c Config, tell func(Check)) {
	x := &examination{Config: c, cfg: &c.Loaded.Config, tell: tell, limits: watchLimits, free: freeSpace, open: openable}
	x.run(ctx)
}

func (x *examination) run(ctx context.Context) {
	for _, check := range []func(context.Context){
		x.configuration, x.daemonRunning, x.baseFolder, x.stateFolder, x.space, x.clock,
		x.socket, x.port, x.watches, x.documents, x.servers,
	} {
		if ctx.Err() != nil {
			return
		}
		check(ctx)
	}
}

// How long one answer is waited for. A comparison reads what changed.
const (
	defaultPatience        = 5 * time.Second
	defaultComparePatience = 10 * time.Second
)

// servers makes the checks that wait for others side by side, and tells them in their order.
func (x *examination) servers(ctx context.Context) {
	var told [2][]Check
	var waiting sync.WaitGroup
	for i, check := range []func(*examination, context.Context){(*examination).indexes, (*examination).semantic} {
		one := *x
		one.tell = func(c Check) { told[i] = append(told[i], c) }
		waiting.Go(func() { check(&one, ctx) })
	}
	waiting.Wait()
	for _, checks := range told {
		for _, c := range checks {
			x.tell(c)
		}
	}
}

// lateness is err, or that nothing came in time: of a time that is up, errors say it in many ways.
func lateness(ctx context.Context, who string, patience time.Duration, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("%s: no answer within %s", who, patience)
	}
	return err.Error()
}

func (x *examination) ok(name, format string, args ...any) {
	x.tell(Check{Name: name, State: OK, Message: fmt.Sprintf(format, args...)})
}

func (x *examination) warn(name, message, remedy string) {
	x.tell(Check{Name: name, State: Warn, Message: message, Remedy: remedy})
}

func (x *examination) fail(name, message, remedy string) {
	x.tell(Check{Name: name, State: Fail, Message: message, Remedy: remedy})
}

func (x *examination) configuration(context.Context) {
	const name = "configuration"
	where := x.Loaded.File
	if where == "" {
		where = "no file: defaults, environment and flags"
	}
	if err := x.Loaded.CheckFiles(); err != nil {
		x.fail(name, err.Error(), "mend the setting, or the file that it names; `knowledged config show` says where each setting comes from")
		return
	}
	i := x.cfg.IPC
	if _, err := ipc.New(ipc.Config{HTTP: i.HTTP, HTTPAuth: i.HTTPAuth, TokenFile: i.TokenFile, AllowRemote: i.AllowRemote}, nil); err != nil {
		x.fail(name, err.Error(), "the daemon does not start with this setting: mend it")
		return
	}
	x.ok(name, "%s", where)
}

// daemonRunning asks the socket's daemon how it is.
func (x *examination) daemonRunning(ctx context.Context) {
	const name = "daemon"
	patience := cmp.Or(x.patience, defaultPatience)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := x.Daemon.Status(ctx)
	if err != nil && ctx.Err() != nil {
		x.fail(name, lateness(ctx, x.cfg.IPC.Socket, patience, err), "the process that has the socket hangs or is stopped: restart it, `knowledged service restart`, or see its log")
		return
	}
	if err != nil {
		x.warn(name, "none answers on "+x.cfg.IPC.Socket+", so lookups build an index of their own each time", "start one: `knowledged run`, or `knowledged service install`")
		return
	}
	x.status, x.here = &s, config.RealPath(s.BasePath) == config.RealPath(x.cfg.Knowledge.BasePath) // links may have two names for it
	switch {
	case !x.here:
		x.warn(name, fmt.Sprintf("the one on %s (pid %d) serves %s, not %s", x.cfg.IPC.Socket, s.PID, s.BasePath, x.cfg.Knowledge.BasePath),
			"give the second folder a socket and a port of its own (--socket, --http), or name the first with --base")
	case s.Version != x.Version:
		x.warn(name, fmt.Sprintf("pid %d is version %s, this program is %s", s.PID, s.Version, x.Version), "restart the daemon: `knowledged service restart`, or stop it and `knowledged run`")
	case !s.Ready:
		x.warn(name, fmt.Sprintf("pid %d is still at its first scan", s.PID), "wait for it: `knowledged status --wait`")
	default:
		x.ok(name, "pid %d, version %s, ready", s.PID, s.Version)
	}
}
