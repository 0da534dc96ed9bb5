package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newDocsRemove(g *globals) *cobra.Command {
	var asJSON bool
	c := g.onDocument("rm DOCUMENT", "Delete a document: file, record and index entries", func(ctx context.Context, client *ipc.Client, r ipc.Record) error {
		done, err := client.Delete(ctx, r.DocID, ipc.Match{})
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(g.io.out, removed{DocID: r.DocID, Source: r.Source, VectorsPending: !done})
		case done:
			fmt.Fprintln(g.io.out, "deleted", r.Source)
		default:
			fmt.Fprintln(g.io.out, "deleted", r.Source, "(its vectors follow when the semantic index is back)")
		}
		return nil
	})
	c.Example = "  knowledged docs rm domain/old.md"
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// removed is what `docs rm --json` says.
type removed struct {
	DocID          string `json:"docId"`
	Source         string `json:"source"`
	VectorsPending bool   `json:"vectorsPending"` // they go when the semantic index is back
}

func newDocsReindex(g *globals) *cobra.Command {
	var asJSON bool
	c := g.onDocument("reindex DOCUMENT", "Read a document's file again, whatever its times say", func(ctx context.Context, client *ipc.Client, r ipc.Record) error {
		job, err := client.Reindex(ctx, r.DocID)
		if err != nil {
			return err
		}
		return g.printJob(job, asJSON)
	})
	c.Example = "  knowledged docs reindex api/payment-errors.md"
	jsonFlag(c, &asJSON)
	return c
}
