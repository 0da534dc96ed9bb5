package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newConfig(g *globals) *cobra.Command {
	c := group(&cobra.Command{Use: "config", Short: "Check or show the configuration"})
	c.AddCommand(
		&cobra.Command{
			Use:   "check",
			Short: "Check the configuration; exit code 2 if it has faults",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				loaded, err := g.loadAll(nil)
				if err == nil {
					err = loaded.CheckFiles()
				}
				if err != nil {
					return &exitError{code: exitUsage, err: err}
				}
				if loaded.File == "" {
					fmt.Fprintln(g.io.out, "no configuration file; defaults, environment and flags are good")
				} else {
					fmt.Fprintln(g.io.out, loaded.File, "is good")
				}
				return nil
			},
		},
		&cobra.Command{
			Use:   "show",
			Short: "Print the effective settings and where each came from",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				loaded, err := g.loadAll(nil)
				if err != nil {
					return err
				}
				fmt.Fprint(g.io.out, loaded.Show())
				return nil
			},
		},
	)
	return c
}
