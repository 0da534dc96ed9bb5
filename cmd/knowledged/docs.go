package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newDocs(g *globals) *cobra.Command {
	c := group(&cobra.Command{Use: "docs", Short: "List, read and change documents"})
	c.AddCommand(newDocsList(g), newDocsShow(g), newDocsRead(g), newDocsChunks(g), newDocsPut(g), newDocsRemove(g), newDocsReindex(g))
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

// find takes a docId, a source, or a path below the base.
func find(ctx context.Context, a answerer, name string) (ipc.Record, error) {
	r, err := a.Document(ctx, name)
	if notFound(err) {
		r, err = a.BySource(ctx, name)
	}
	if notFound(err) {
		return r, &exitError{code: exitFailed, err: fmt.Errorf("no document %q", name), hint: "`knowledged docs list` names them all; give a docId, or a path below the base folder"}
	}
	return r, err
}

func notFound(err error) bool {
	var p *ipc.Problem
	return errors.Is(err, ipc.ErrNotFound) || errors.As(err, &p) && p.Status == 404
}

func newDocsShow(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show DOCUMENT",
		Short: "One document's record, as JSON (DOCUMENT: docId or path below the base)",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return g.reading(c.Context(), args[0], func(_ answerer, r ipc.Record) error { return printJSON(g.io.out, r) })
		},
	}
}

// reading finds a document, with or without a daemon, and calls do with it.
func (g *globals) reading(ctx context.Context, name string, do func(answerer, ipc.Record) error) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	err = g.withAnswerer(ctx, cfg, func(a answerer) error {
		r, err := find(ctx, a, name)
		if err != nil {
			return err
		}
		return do(a, r)
	})
	if err != nil {
		return inputError(err)
	}
	return nil
}

func newDocsRead(g *globals) *cobra.Command {
	var q ipc.ContentQuery
	c := &cobra.Command{
		Use:   "read DOCUMENT",
		Short: "A document's text as its file is now",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if q.MaxChars < 1 {
				return &exitError{code: exitUsage, err: fmt.Errorf("--max-chars %d: use 1 or more", q.MaxChars)}
			}
			return g.reading(c.Context(), args[0], func(a answerer, r ipc.Record) error {
				text, err := a.Content(c.Context(), r.DocID, q)
				if err != nil {
					return err
				}
				if q.Section != "" && text.Section == nil {
					return &exitError{code: exitFailed, err: fmt.Errorf("%s has no section %q", r.Source, q.Section), hint: text.Hint}
				}
				fmt.Fprintln(g.io.out, strings.TrimRight(text.Content, "\n"))
				return nil
			})
		},
	}
	c.Flags().IntVar(&q.MaxChars, "max-chars", 2000, "cut after this many characters")
	c.Flags().StringVar(&q.Section, "section", "", "only this section (`TITLE`)")
	return c
}

func newDocsChunks(g *globals) *cobra.Command {
	return g.onDocument("chunks DOCUMENT", "A document's chunks, as JSON", func(ctx context.Context, client *ipc.Client, r ipc.Record) error {
		chunks, err := client.Chunks(ctx, r.DocID)
		if err != nil {
			return err
		}
		return printJSON(g.io.out, ipc.ChunkList{Chunks: chunks})
	})
}

func newDocsRemove(g *globals) *cobra.Command {
	return g.onDocument("rm DOCUMENT", "Delete a document: file, record and index entries", func(ctx context.Context, client *ipc.Client, r ipc.Record) error {
		done, err := client.Delete(ctx, r.DocID, ipc.Match{})
		switch {
		case err != nil:
			return err
		case done:
			fmt.Fprintln(g.io.out, "deleted", r.Source)
		default:
			fmt.Fprintln(g.io.out, "deleted", r.Source, "(its vectors follow when the semantic index is back)")
		}
		return nil
	})
}

func newDocsReindex(g *globals) *cobra.Command {
	return g.onDocument("reindex DOCUMENT", "Read a document's file again, whatever its times say", func(ctx context.Context, client *ipc.Client, r ipc.Record) error {
		job, err := client.Reindex(ctx, r.DocID)
		if err != nil {
			return err
		}
		return printJSON(g.io.out, job)
	})
}

// onDocument is a subcommand on one document that needs the daemon.
func (g *globals) onDocument(use, short string, do func(context.Context, *ipc.Client, ipc.Record) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short + " (DOCUMENT: docId or path below the base)",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			client := g.client(cfg)
			r, err := find(c.Context(), client, args[0])
			if err == nil {
				err = do(c.Context(), client, r)
			}
			var exit *exitError
			if errors.As(err, &exit) {
				return err
			}
			return clientError(err, cfg)
		},
	}
}
