package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newStatus(g *globals) *cobra.Command {
	var (
		asJSON  bool
		wait    string
		timeout = span(10 * time.Minute)
	)
	c := &cobra.Command{
		Use:   "status",
		Short: "What the daemon has indexed, and what is pending",
		Example: `  knowledged status
  knowledged status --wait           # returns when everything seen so far is applied
  knowledged status --wait=l0 --timeout 30s`,
		Args: func(_ *cobra.Command, args []string) error {
			if wait == "all" && len(args) == 1 && (args[0] == "l0" || args[0] == "l1") {
				wait = args[0] // `--wait l0`: the flag's value may be left out, so it takes none after a blank
				return nil
			}
			if len(args) > 0 {
				return fmt.Errorf("status takes no argument, got %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			if wait != "" && wait != "all" && wait != "l0" && wait != "l1" {
				return &exitError{code: exitUsage, err: fmt.Errorf("--wait=%s: there is l0, l1, or neither for both", wait)}
			}
			client := g.client(cfg)
			if wait != "" || c.Flags().Changed("timeout") {
				bound(client, time.Now().Add(time.Duration(timeout)))
			}
			s, err := client.Status(c.Context())
			if err == nil && wait != "" {
				s, err = waitFor(c.Context(), client, wait, time.Duration(timeout), newProgress(g.io.err))
			}
			if errors.Is(err, errTimeUp) {
				return &exitError{code: exitFailed, err: fmt.Errorf("still pending after %s: %d in L0, %d in L1", &timeout, s.Pending.L0, s.Pending.L1)}
			}
			if err != nil {
				return clientError(err, cfg)
			}
			if asJSON {
				return printJSON(g.io.out, s)
			}
			printStatus(g.io.out, s)
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "as JSON")
	f.StringVar(&wait, "wait", "", "wait until nothing (of that `LAYER`: l0 or l1) is pending")
	f.Lookup("wait").NoOptDefVal = "all"
	choices(c, "wait", "l0", "l1")
	f.Var(&timeout, "timeout", "how long --wait waits")
	return c
}

var errTimeUp = errors.New("time is up")

// waitPoll is short against a save (about 40 ms to be visible) and long against a status call (below 1 ms).
const waitPoll = 20 * time.Millisecond

// bound lets client wait for an answer no longer than until deadline, but for as long as a daemon under load may take: a
// short --timeout asks what is pending now.
func bound(client *ipc.Client, deadline time.Time) {
	const least, most = time.Second, 30 * time.Second
	client.Patience = min(max(time.Until(deadline).Round(time.Second), least), most)
}

func waitFor(ctx context.Context, client *ipc.Client, layer string, timeout time.Duration, bar *progress) (ipc.Status, error) {
	deadline := time.Now().Add(timeout)
	tick := time.NewTicker(waitPoll)
	defer tick.Stop()
	defer bar.end()
	for {
		bound(client, deadline)
		s, err := client.Status(ctx)
		if err != nil {
			return s, err
		}
		bar.show(s)
		if (layer == "l1" || s.Pending.L0 == 0) && (layer == "l0" || s.Pending.L1 == 0) && s.Ready {
			return s, nil
		}
		if time.Now().After(deadline) {
			return s, errTimeUp
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

func printStatus(w io.Writer, s ipc.Status) {
	state := "ready"
	if !s.Ready {
		state = "first scan under way"
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s "+format+"\n", append([]any{name}, args...)...)
	}
	row("daemon", "%s, pid %d, up %s, version %s", state, s.PID, time.Since(s.StartedAt).Round(time.Second), s.Version)
	row("folder", "%s", s.BasePath)
	row("documents", "%d: %d by keyword (L0), %d by meaning (L1), %d failed, %d with warnings", s.Documents.Total, s.Documents.L0, s.Documents.L1, s.Documents.Failed, s.Documents.Warnings)
	row("pending", "%d in L0, %d in L1; %d updates since start", s.Pending.L0, s.Pending.L1, s.Updates)
	row("watching", "%s, %d folders, %d polled, %d overflows", s.Watch.Mode, s.Watch.Folders, s.Watch.PolledFolders, s.Watch.Overflows)
	row("semantic", "%s: %s, %d chunks, %s", s.L1.Backend, s.L1.State, s.L1.Chunks, s.Embedding.Model)
	if s.L1.EtaSeconds > 0 {
		row("", "%.0f chunks a second, about %s left", s.L1.ChunksPerSecond, time.Duration(s.L1.EtaSeconds*float64(time.Second)).Round(time.Second))
	}
	if s.L1.LastError != "" {
		row("", "last error: %s", s.L1.LastError)
	}
	if s.Watch.BaseMissing {
		row("", "the base folder is missing: put it back, it is looked for every few seconds")
	}
	if s.Documents.Failed+s.Documents.Warnings > 0 {
		row("", "`knowledged docs list --warnings` says what to mend")
	}
	switch h := s.HTTP; {
	case h.On:
		row("http", "http://%s/", h.Address)
	case h.Reason != "": // a daemon of an older version says nothing
		row("http", "off: %s", h.Reason)
		if h.Address != "" {
			row("", "free the port or name another (ipc.http or --http), then restart the daemon; the socket works without")
		}
	}
	row("memory", "%.1f MB resident", float64(s.Memory.RSSBytes)/1e6)
}
