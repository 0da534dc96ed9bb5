package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

// jsonFlag is --json of a command that prints for people on a terminal alone: scripts get JSON without asking.
func jsonFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "as JSON, as it is anyway where the output is no terminal")
}

func printRecord(w io.Writer, r ipc.Record) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, value)
		}
	}
	row("title", r.Title)
	row("source", r.Source)
	row("file", r.FilePath)
	row("docId", r.DocID)
	row("summary", r.Summary)
	row("category", r.Category)
	row("keywords", strings.Join(r.Keywords, ", "))
	row("aliases", strings.Join(r.Aliases, ", "))
	row("status", r.Status)
	row("error", r.ErrorMessage)
	row("found", foundBy(r))
	row("chunks", fmt.Sprint(r.ChunkCount))
	row("size", fmt.Sprintf("%d bytes", r.FileSize))
	row("hash", r.FileHash)
	if r.IndexedAt != nil {
		row("indexed", r.IndexedAt.Local().Format(time.DateTime))
	}
	for _, warning := range r.Warnings {
		row("warning", fmt.Sprintf("line %d: %s", warning.Line, warning.Message))
	}
}

func foundBy(r ipc.Record) string {
	var ways []string
	if r.InL0 {
		ways = append(ways, "by name and rank (L0)")
	}
	if r.InL1 {
		ways = append(ways, "by meaning (L1)")
	}
	if len(ways) == 0 {
		return "by full text alone"
	}
	return strings.Join(ways, ", ")
}

func printChunks(w io.Writer, chunks []ipc.Chunk) {
	for _, c := range chunks {
		state := ""
		if !c.Synced {
			state = "  [no vector yet]"
		}
		fmt.Fprintf(w, "%d/%d  %s%s\n%s\n\n", c.ChunkIndex+1, c.TotalChunks, c.Breadcrumb, state, strings.TrimSpace(c.Text))
	}
}

// printJob prints what a reindex or a reconcile did.
func (g *globals) printJob(j ipc.Job, asJSON bool) error {
	if asJSON || !terminal(g.io.out) {
		return printJSON(g.io.out, j)
	}
	verb := "took"
	if j.DryRun {
		verb = "nothing was done; looking took"
	}
	fmt.Fprintf(g.io.out, "documents  %d checked: %d created, %d updated, %d deleted, %d failed\n", j.Documents.Checked, j.Documents.Created, j.Documents.Updated, j.Documents.Deleted, j.Documents.Failed)
	fmt.Fprintf(g.io.out, "vectors    %d checked: %d missing, %d without a chunk\n", j.Vectors.Checked, j.Vectors.Missing, j.Vectors.Orphans)
	for _, problem := range j.Problems {
		fmt.Fprintf(g.io.out, "problem    %s\n", problem)
	}
	fmt.Fprintf(g.io.out, "%s %.1f ms\n", verb, j.TookMs)
	return nil
}
