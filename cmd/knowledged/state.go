package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"knowledged/registry"
	"knowledged/state"
)

func newState(g *globals) *cobra.Command {
	c := &cobra.Command{
		Use:     "state",
		Short:   "Back up what the daemon keeps, and put it back",
		Example: "  knowledged state export kd-backup.tar.gz",
	}
	c.AddCommand(newStateExport(g), newStateImport(g))
	return c
}

func newStateExport(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "export FILE",
		Short: "Write docIds, history and vectors into one archive; the daemon may run",
		Example: `  knowledged state export kd-backup.tar.gz
  knowledged state export --json kd-backup.tar.gz | jq .files`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "-" {
				return &exitError{code: exitUsage, err: errors.New("the archive goes to a file, not to standard output"), hint: "name the file: `knowledged state export kd-backup.tar.gz`"}
			}
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			file, err := filepath.Abs(args[0])
			if err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			m, err := state.Export(cfg.StateDir, cfg.Knowledge.BasePath, version, file)
			switch {
			case err != nil:
				return &exitError{code: exitFailed, err: err}
			case asJSON:
				return printJSON(g.io.out, m)
			}
			fmt.Fprintf(g.io.out, "exported %d files of %s\n", len(m.Files), cfg.StateDir)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: what the archive holds")
	return c
}

func newStateImport(g *globals) *cobra.Command {
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Put an exported archive in place of an empty state; no daemon may run",
		Example: `  knowledged state import kd-backup.tar.gz
  knowledged state import --force kd-backup.tar.gz    # the state that is there is kept beside`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			m, aside, err := state.Import(args[0], cfg.StateDir, force)
			switch {
			case errors.Is(err, state.ErrNotEmpty):
				return &exitError{code: exitFailed, err: err, hint: "--force keeps it beside and puts the archive in its place"}
			case errors.Is(err, registry.ErrLocked):
				return &exitError{code: exitInUse, err: err, hint: "stop the daemon that works on it: `knowledged service stop`"}
			case err != nil:
				return startError(err)
			}
			if m.Base != cfg.Knowledge.BasePath {
				fmt.Fprintf(g.io.err, "knowledged: the archive is of documents in %s, these are in %s: what differs is indexed anew\n", m.Base, cfg.Knowledge.BasePath)
			}
			if asJSON {
				return printJSON(g.io.out, struct {
					state.Manifest
					Aside string `json:"aside"` // where the former state is kept
				}{m, aside})
			}
			if aside != "" {
				fmt.Fprintln(g.io.out, "the former state is kept in", aside)
			}
			fmt.Fprintf(g.io.out, "imported %d files into %s\n", len(m.Files), cfg.StateDir)
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "put it in place of a state that is there, which is kept beside")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: what the archive held, and where the former state is kept")
	return c
}
