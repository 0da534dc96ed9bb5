package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newStats(g *globals) *cobra.Command {
	var (
		since  = span(24 * time.Hour)
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "stats",
		Short: "What was asked: hit rates, slow and unanswered lookups, documents never found",
		Example: `  knowledged stats
  knowledged stats --since 7d --json | jq '.unansweredGroups[].examples'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			s, err := g.client(cfg).Stats(c.Context(), time.Now().Add(-time.Duration(since)))
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
	c.Flags().Var(&since, "since", "how far back: 24h, 7d")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func printStats(w io.Writer, s ipc.Stats) {
	fmt.Fprintf(w, "%d lookups, %.0f %% answered, %d degraded, %d slow; p50 %.1f ms, p99 %.1f ms\n", s.Lookups, 100*s.HitRate, s.Degraded, s.Slow, s.P50Ms, s.P99Ms)
	for _, k := range s.Kinds {
		fmt.Fprintf(w, "  %-18s %6d, %.0f %% answered\n", k.Reason, k.Lookups, 100*k.HitRate)
	}
	if len(s.UnansweredGroups) > 0 {
		fmt.Fprintln(w, "\nunanswered: what to write next, most asked first:")
		for _, g := range s.UnansweredGroups {
			examples := make([]string, len(g.Examples))
			for i, question := range g.Examples {
				examples[i] = clipped(question)
			}
			fmt.Fprintf(w, "  %4d× %s\n", g.Count, strings.Join(examples, " · "))
		}
	}
	if len(s.Slowest) > 0 {
		fmt.Fprintln(w, "\nslowest:")
		for _, h := range s.Slowest {
			fmt.Fprintf(w, "  %8.1f ms  %s  (%s)\n", h.TotalMs, clipped(h.Query), h.RequestID)
		}
	}
	if n := s.NeverFound; n.Count > 0 {
		fmt.Fprintf(w, "\nnever the answer (%d):\n", n.Count)
		for _, source := range n.Sources {
			fmt.Fprintf(w, "  %s\n", source)
		}
		if more := n.Count - len(n.Sources); more > 0 {
			fmt.Fprintf(w, "  … and %d more\n", more)
		}
	}
}

// clipped is what tells a question from others, on one line: some are a whole error message of a thousand characters. --json has it all.
func clipped(question string) string {
	const most = 80 // characters
	r := []rune(strings.Join(strings.Fields(question), " "))
	if len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return string(r)
}

func newReconcile(g *globals) *cobra.Command {
	var dry, asJSON bool
	c := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare folder, registry and vectors, and repair what differs",
		Example: `  knowledged reconcile --dry-run
  knowledged reconcile --json | jq .documents`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			job, err := g.client(cfg).Reconcile(c.Context(), dry)
			if err != nil {
				return clientError(err, cfg)
			}
			return g.printJob(job, asJSON)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, do nothing")
	jsonFlag(c, &asJSON)
	return c
}
