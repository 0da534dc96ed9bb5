package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newStats(g *globals) *cobra.Command {
	var (
		since  time.Duration
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "stats",
		Short: "What was asked: hit rates, slow and unanswered lookups",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			s, err := g.client(cfg).Stats(c.Context(), time.Now().Add(-since))
			switch {
			case err != nil:
				return clientError(err, cfg)
			case asJSON:
				return printJSON(g.io.out, s)
			}
			printStats(g.io.out, s)
			return nil
		},
	}
	c.Flags().DurationVar(&since, "since", 24*time.Hour, "how far back")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func printStats(w io.Writer, s ipc.Stats) {
	fmt.Fprintf(w, "%d lookups, %.0f %% answered, %d degraded; p50 %.1f ms, p99 %.1f ms\n", s.Lookups, 100*s.HitRate, s.Degraded, s.P50Ms, s.P99Ms)
	for _, k := range s.Kinds {
		fmt.Fprintf(w, "  %-18s %6d, %.0f %% answered\n", k.Reason, k.Lookups, 100*k.HitRate)
	}
	if len(s.Unanswered) > 0 {
		fmt.Fprintln(w, "\nunanswered, most asked first:")
		for _, q := range s.Unanswered {
			fmt.Fprintf(w, "  %4d× %s\n", q.Count, q.Query)
		}
	}
	if len(s.Slowest) > 0 {
		fmt.Fprintln(w, "\nslowest:")
		for _, h := range s.Slowest {
			fmt.Fprintf(w, "  %8.1f ms  %s  (%s)\n", h.TotalMs, h.Query, h.RequestID)
		}
	}
}

func newReconcile(g *globals) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare folder, registry and vectors, and repair what differs",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			job, err := g.client(cfg).Reconcile(c.Context(), dry)
			if err != nil {
				return clientError(err, cfg)
			}
			return printJSON(g.io.out, job)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, do nothing")
	return c
}
