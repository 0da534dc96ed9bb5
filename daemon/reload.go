package daemon

import (
	"log/slog"
	"strings"

	"knowledged/config"
	"knowledged/lookup"
)

// Live reports whether a setting can change while the daemon runs. log.level is the caller's, who made the logger.
func Live(setting string) bool {
	switch setting {
	case "log.level", "ipc.http_auth", "ipc.token_file":
		return true
	}
	return strings.HasPrefix(setting, "lookup.")
}

// Reloading tells the service manager that a reload has begun; the function it returns, that it is over.
func (d *Daemon) Reloading(log *slog.Logger) (done func()) {
	if !supervised() {
		return func() {}
	}
	notifyReloading(log)
	return func() { notify(log, notifyReady, "STATUS="+d.statusLine()) }
}

// Reload takes over what of cfg is Live, and reads the token and the synonyms again. It returns the settings that have
// changed since the last time and those that wait for a restart. After an error everything is as it was. Only one Reload may
// run at a time.
func (d *Daemon) Reload(cfg *config.Config) (changed, waiting []string, err error) {
	if d.access != nil {
		if err := d.access(cfg.IPC.TokenFile, cfg.IPC.HTTPAuth); err != nil {
			return nil, nil, err
		}
	}
	d.policy.Lock()
	defer d.policy.Unlock()
	for _, setting := range config.Diff(&d.live, cfg) {
		if Live(setting) {
			changed = append(changed, setting)
		} else {
			waiting = append(waiting, setting)
		}
	}
	d.live.Lookup, d.live.Log.Level = cfg.Lookup, cfg.Log.Level
	d.live.IPC.TokenFile, d.live.IPC.HTTPAuth = cfg.IPC.TokenFile, cfg.IPC.HTTPAuth
	d.engine.Store(lookup.New(d.lookupConfig(), d.lookupDeps(), d.log))
	d.pipeline.folder.Rescan() // synonyms, ignore files, and whatever the events may have missed
	return changed, waiting, nil
}
