package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"knowledged/config"
)

func newConfig(g *globals) *cobra.Command {
	c := group(&cobra.Command{Use: "config", Short: "Check or show the configuration"})
	c.AddCommand(newConfigCheck(g), newConfigShow(g))
	return c
}

func newConfigCheck(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "check",
		Short:   "Check the configuration; exit code 2 if it has faults",
		Example: "  knowledged config check --config /etc/knowledged/config.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			opt, err := g.options(nil)
			if err != nil {
				return err
			}
			loaded, err := config.Check(opt)
			if asJSON {
				if err := printJSON(g.io.out, checked(loaded, err)); err != nil {
					return err
				}
			}
			switch {
			case err != nil:
				return &exitError{code: exitUsage, err: err}
			case asJSON:
			case loaded.File == "":
				fmt.Fprintln(g.io.out, "no configuration file; defaults, environment and flags are good")
			default:
				fmt.Fprintln(g.io.out, loaded.File, "is good")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// configReport is what `config check --json` says.
type configReport struct {
	File   string   `json:"file"` // "" if there is none
	OK     bool     `json:"ok"`
	Faults []string `json:"faults"`
}

func checked(loaded *config.Loaded, err error) configReport {
	r := configReport{File: loaded.File, OK: err == nil, Faults: []string{}}
	var many *config.Error
	switch {
	case errors.As(err, &many):
		for _, p := range many.Problems {
			r.Faults = append(r.Faults, p.String())
		}
	case err != nil:
		r.Faults = append(r.Faults, err.Error())
	}
	return r
}

func newConfigShow(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show",
		Short: "Print the effective settings and where each came from",
		Example: `  knowledged config show
  knowledged config show --json | jq -r '.settings[] | select(.name == "ipc.socket") | .value'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, err := g.loadAll(nil)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(g.io.out, struct {
					File     string           `json:"file"`
					Settings []config.Setting `json:"settings"`
				}{loaded.File, loaded.Settings()})
			}
			fmt.Fprint(g.io.out, loaded.Show())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}
