package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newDocsPut(g *globals) *cobra.Command {
	var (
		put    ipc.PutRequest
		match  string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "put FILE",
		Short: "Save a Markdown file into the folder and index it",
		Example: `  knowledged docs put errors.md --category api
  knowledged docs put draft.md --category domain --name glossary.md
  cat x.md | knowledged docs put - --category api --name x.md`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			if put.Body, err = readInput(g.io.in, args[0]); err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			if put.FileName == "" {
				if args[0] == "-" {
					return &exitError{code: exitUsage, err: errors.New("reading standard input needs --name FILE.md")}
				}
				put.FileName = filepath.Base(args[0])
			}
			if match != "" {
				put.IfMatch = ipc.Match{Given: true, Hashes: []string{match}}
			}
			r, created, err := g.client(cfg).Put(c.Context(), put)
			switch {
			case err != nil:
				return clientError(err, cfg)
			case asJSON:
				return printJSON(g.io.out, r)
			case created:
				fmt.Fprintln(g.io.out, "created", r.Source)
			default:
				fmt.Fprintln(g.io.out, "saved", r.Source)
			}
			printWarnings(g.io.err, []ipc.Record{r})
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&put.Category, "category", "", "folder below the base (`CATEGORY`, may hold /)")
	f.StringVar(&put.FileName, "name", "", "file name in the folder (default FILE's)")
	f.BoolVar(&put.Force, "force", false, "even if the same text is indexed elsewhere")
	f.BoolVar(&put.WaitL1, "wait", false, "wait for the semantic index as well")
	f.StringVar(&match, "if-match", "", "only over this version (`HASH`, the record's fileHash)")
	f.BoolVar(&asJSON, "json", false, "the record as JSON")
	g.completes(c, "category", categories)
	return c
}

func readInput(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}
