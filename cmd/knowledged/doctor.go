package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"knowledged/doctor"
)

func newDoctor(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine folders, doors, watches, limits, indexes and servers, and say what to do",
		Long: `Examine what the daemon needs, and say what to do about what is wrong: configuration, rights of
the folders, disk space, clock, socket, port, watches against the system's limits, indexes, and,
with a real request each, the embedding model and Milvus. Nothing is changed. It works beside a
running daemon, and without one.

Exit code 1: something does not work. Warnings alone are exit code 0.`,
		Example: `  knowledged doctor
  knowledged doctor --base ~/notes
  knowledged doctor --json | jq -r '.checks[] | select(.state != "ok") | .remedy'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := g.loadAll(nil)
			if err != nil {
				if exit, ok := errors.AsType[*exitError](err); ok && asJSON {
					report := doctorReport{Checks: []doctor.Check{{Name: "configuration", State: doctor.Fail, Message: exit.Error(), Remedy: exit.hint}}, Failures: 1}
					return errors.Join(printJSON(g.io.out, report), err)
				}
				return err
			}
			client := g.anyClient(&loaded.Config)
			defer client.Close()
			report := doctorReport{Checks: []doctor.Check{}}
			doctor.Examine(c.Context(), doctor.Config{Loaded: loaded, Daemon: client, Version: version}, func(check doctor.Check) {
				report.add(check)
				if !asJSON {
					printCheck(g.io.out, check)
				}
			})
			if err := c.Context().Err(); err != nil {
				return &exitError{code: exitFailed, err: errors.New("interrupted")}
			}
			if asJSON {
				err = printJSON(g.io.out, report)
			} else {
				fmt.Fprintf(g.io.out, "\n%d ok, %d warnings, %d failures\n", len(report.Checks)-report.Warnings-report.Failures, report.Warnings, report.Failures)
			}
			if err == nil && report.Failures > 0 {
				return &exitError{code: exitFailed}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

type doctorReport struct {
	Checks   []doctor.Check `json:"checks"`
	Warnings int            `json:"warnings"`
	Failures int            `json:"failures"`
}

func (r *doctorReport) add(c doctor.Check) {
	r.Checks = append(r.Checks, c)
	switch c.State {
	case doctor.Warn:
		r.Warnings++
	case doctor.Fail:
		r.Failures++
	}
}

var stateColours = map[string]text.Colors{doctor.OK: {text.FgGreen}, doctor.Warn: {text.FgYellow}, doctor.Fail: {text.FgRed}}

func printCheck(w io.Writer, c doctor.Check) {
	state := fmt.Sprintf("%-4s", c.State)
	if colour(w) {
		text.EnableColors() // go-pretty would judge by standard output
		state = stateColours[c.State].Sprint(state)
	}
	fmt.Fprint(obeyed(w), state)
	fmt.Fprintf(w, "  %-14s  %s\n", c.Name, c.Message)
	if c.Remedy != "" {
		fmt.Fprintf(w, "      %-14s  → %s\n", "", c.Remedy)
	}
}
