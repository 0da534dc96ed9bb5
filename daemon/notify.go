package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"knowledged/ipc"
	"knowledged/l0"
)

// How often the service manager's status line is renewed: for people, who look after a start to see whether the scan is over.
const (
	statusEvery    = 2 * time.Second
	statusScanning = 200 * time.Millisecond
)

// Supervise tells the service manager how the daemon is until ctx ends: that its doors answer, a line on its state, and,
// where a watchdog is set, that it is alive. Without a service manager it does nothing. To be run beside Run.
func (d *Daemon) Supervise(ctx context.Context, log *slog.Logger) error {
	if !supervised() {
		return nil
	}
	select {
	case <-d.serving:
	case <-ctx.Done():
		notify(log, notifyStopping)
		return nil
	}
	line := d.statusLine()
	notify(log, notifyReady, "STATUS="+line)
	status := time.NewTimer(statusScanning)
	defer status.Stop()
	var beat <-chan time.Time
	watchdog := watchdogInterval(log)
	if watchdog > 0 {
		ticker := time.NewTicker(watchdog / 4) // a late one or two must not matter
		defer ticker.Stop()
		beat = ticker.C
	}
	silent := false
	for {
		select {
		case <-ctx.Done():
			notify(log, notifyStopping, "STATUS=stopping")
			return nil
		case <-status.C:
			if now := d.statusLine(); now != line {
				line = now
				notify(log, "STATUS="+line)
			}
			if d.Ready() {
				status.Reset(statusEvery)
			} else {
				status.Reset(statusScanning)
			}
		case <-beat:
			if d.alive(ctx, watchdog/4) {
				silent = false
				notify(log, notifyWatchdog)
			} else if ctx.Err() == nil && !silent {
				silent = true
				log.Error("indexing does not get on: unless it does, the service manager restarts the daemon", "watchdog", watchdog)
			}
		}
	}
}

// alive reports whether the daemon does its work: L0 answers, and the pipeline takes work within patience or gets on with
// what it has. If L0 hangs this hangs with it, and so does the caller, who then tells nobody that all is well. An index
// that answers with an error is alive: that is a state of its own, which a restart would not mend.
func (d *Daemon) alive(ctx context.Context, patience time.Duration) bool {
	d.l0.Match(probe)
	_, _ = d.l0.Search(ctx, probe, l0.SearchOptions{K: 1})
	return d.pipeline.alive(ctx, patience)
}

// probe is a query like any other.
const probe = "knowledged"

// alive waits for the pipeline's loop. One that is in a long batch gets on with it from file to file.
func (p *pipeline) alive(ctx context.Context, patience time.Duration) bool {
	before := p.progress.Load()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.pulse:
		return true
	case <-timer.C:
		return p.progress.Load() != before
	case <-ctx.Done():
		return false
	}
}

// statusLine is the state in a line for people.
func (d *Daemon) statusLine() string {
	s, _ := d.Status(context.Background()) // never fails
	if !s.Ready {
		return fmt.Sprintf("first scan under way; %d documents so far", s.Documents.Total)
	}
	var parts []string
	parts = append(parts, fmt.Sprintf("%d documents, %d of them by keyword", s.Documents.Total, s.Documents.L0))
	if s.Documents.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Documents.Failed))
	}
	switch s.L1.State {
	case ipc.L1Ready:
		parts = append(parts, fmt.Sprintf("%d passages by meaning", s.L1.Chunks))
	case ipc.L1Building, ipc.L1Backlog:
		parts = append(parts, fmt.Sprintf("%d passages by meaning, %d to come", s.L1.Chunks, s.Pending.L1))
	case ipc.L1Down:
		parts = append(parts, "semantic index down")
	}
	return strings.Join(parts, "; ")
}
