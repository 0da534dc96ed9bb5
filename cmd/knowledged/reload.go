package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"knowledged/config"
	"knowledged/daemon"
)

// reloader reads the configuration again when the process gets a hangup.
type reloader struct {
	load   func() (*config.Loaded, error) // as at the start: the same flags and variables
	daemon *daemon.Daemon
	level  *slog.LevelVar
	log    *slog.Logger
}

// run takes one hangup after the other until ctx ends.
func (r *reloader) run(ctx context.Context, hangups <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangups:
			done := r.daemon.Reloading(r.log)
			r.reload()
			done()
		}
	}
}

// reload logs what came of it. A configuration with a fault changes nothing.
func (r *reloader) reload() {
	loaded, err := r.load()
	if err == nil {
		err = loaded.CheckFiles()
	}
	if err != nil {
		r.refused(err)
		return
	}
	changed, waiting, err := r.daemon.Reload(&loaded.Config)
	if err != nil {
		r.refused(err)
		return
	}
	if err := r.level.UnmarshalText([]byte(loaded.Config.Log.Level)); err != nil {
		r.log.Error("the log level stays", "err", err) // config has checked it
	}
	if len(waiting) > 0 {
		r.log.Warn("these settings have changed and wait for a restart of the daemon", "settings", strings.Join(waiting, ", "), "path", loaded.File)
	}
	r.log.Info("configuration read again", "path", loaded.File, "changed", strings.Join(changed, ", "))
}

// refused names every fault with its place.
func (r *reloader) refused(err error) {
	const message = "the configuration is not taken over, the one in force stays: mend it and reload again; `knowledged config check` tells whether it is good"
	var faults *config.Error
	if !errors.As(err, &faults) {
		r.log.Error(message, "err", err)
		return
	}
	for _, p := range faults.Problems {
		attrs := []any{"path", p.Origin.Name}
		if p.Origin.Line > 0 {
			attrs = append(attrs, "line", p.Origin.Line)
		}
		r.log.Error(message, append(attrs, "setting", p.Setting, "err", p.Message)...)
	}
}
