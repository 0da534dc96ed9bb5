package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newDocs(g *globals) *cobra.Command {
	c := group(&cobra.Command{Use: "docs", Short: "List, read and change documents"})
	c.AddCommand(newDocsList(g), newDocsShow(g), newDocsRead(g), newDocsChunks(g), newDocsNew(g), newDocsPut(g), newDocsRemove(g), newDocsReindex(g))
	return c
}

func newDocsList(g *globals) *cobra.Command {
	var (
		q      ipc.DocumentsQuery
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "list",
		Short: "List documents",
		Example: `  knowledged docs list --category api
  knowledged docs list --warnings      # what the authors should mend, with file and line
  knowledged docs list --status FAILED --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			var all []ipc.Record
			err = g.withAnswerer(c.Context(), cfg, func(a answerer) error {
				all, err = allDocuments(c.Context(), a, q)
				return err
			})
			switch {
			case err != nil:
				return inputError(err)
			case asJSON:
				return printJSON(g.io.out, ipc.DocumentList{Documents: all})
			case len(all) == 0:
				fmt.Fprintln(g.io.err, "no documents, or none that these flags name")
			case q.Warnings:
				printWarnings(g.io.out, all)
			default:
				printDocuments(g.io.out, all)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&q.Category, "category", "", "only this `CATEGORY`")
	f.StringVar(&q.Status, "status", "", "only PENDING, INDEXING, INDEXED or FAILED (`STATUS`)")
	f.StringVar(&q.Layer, "layer", "", "only documents in `LAYER` l0 or l1")
	f.StringVar(&q.Q, "q", "", "part of title, path, keyword or alias")
	f.BoolVar(&q.Warnings, "warnings", false, "only documents with warnings, and what they are")
	f.BoolVar(&asJSON, "json", false, "as JSON")
	g.completes(c, "category", categories)
	choices(c, "status", ipc.StatusPending, ipc.StatusIndexing, ipc.StatusIndexed, ipc.StatusFailed)
	choices(c, "layer", "l0", "l1")
	return c
}

func allDocuments(ctx context.Context, a answerer, q ipc.DocumentsQuery) ([]ipc.Record, error) {
	q.Limit = ipc.MaxPage
	all := []ipc.Record{}
	for {
		page, err := a.Documents(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Documents...)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return all, nil
		}
	}
}

func printDocuments(w io.Writer, all []ipc.Record) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	t.SetStyle(style)
	t.AppendHeader(table.Row{"source", "title", "category", "l0", "chunks", "status"})
	for _, r := range all {
		l0 := ""
		if r.InL0 {
			l0 = "yes"
		}
		t.AppendRow(table.Row{r.Source, r.Title, r.Category, l0, r.ChunkCount, r.Status})
	}
	t.Render()
}

func printWarnings(w io.Writer, all []ipc.Record) {
	for _, r := range all {
		if r.ErrorMessage != "" {
			fmt.Fprintf(w, "%s: %s\n", r.Source, r.ErrorMessage)
		}
		for _, warning := range r.Warnings {
			if warning.Line > 0 {
				fmt.Fprintf(w, "%s:%d: %s\n", r.Source, warning.Line, warning.Message)
			} else {
				fmt.Fprintf(w, "%s: %s\n", r.Source, warning.Message)
			}
		}
	}
}

func newDocsShow(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show DOCUMENT",
		Short: "One document's record (DOCUMENT: docId or path below the base)",
		Long:  "One document's record: as a table on a terminal, else as JSON.",
		Example: `  knowledged docs show api/payment-errors.md
  knowledged docs show api/payment-errors.md --json | jq -r .docId`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.suggest(documentNames),
		RunE: func(c *cobra.Command, args []string) error {
			return g.reading(c.Context(), args[0], func(_ answerer, r ipc.Record) error {
				if asJSON || !terminal(g.io.out) {
					return printJSON(g.io.out, r)
				}
				printRecord(g.io.out, r)
				return nil
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func newDocsChunks(g *globals) *cobra.Command {
	var asJSON bool
	c := g.onDocument("chunks DOCUMENT", "A document's chunks", func(ctx context.Context, client *ipc.Client, r ipc.Record) error {
		chunks, err := client.Chunks(ctx, r.DocID)
		switch {
		case err != nil:
			return err
		case asJSON || !terminal(g.io.out):
			return printJSON(g.io.out, ipc.ChunkList{Chunks: chunks})
		}
		printChunks(g.io.out, chunks)
		return nil
	})
	c.Example = "  knowledged docs chunks api/payment-errors.md"
	jsonFlag(c, &asJSON)
	return c
}
