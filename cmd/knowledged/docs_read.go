package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

func newDocsRead(g *globals) *cobra.Command {
	var (
		q      ipc.ContentQuery
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "read DOCUMENT",
		Short: "A document's text as its file is now",
		Example: `  knowledged docs read api/payment-errors.md
  knowledged docs read api/payment-errors.md --section 超时排查`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.suggest(documentNames),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("max-chars") && q.MaxChars < 1 {
				return &exitError{code: exitUsage, err: fmt.Errorf("--max-chars %d: use 1 or more", q.MaxChars)}
			}
			return g.reading(c.Context(), args[0], func(a answerer, r ipc.Record) error {
				if err := tooLong(r, q, c.Flags().Changed("max-chars")); err != nil {
					return err
				}
				text, err := a.Content(c.Context(), r.DocID, q)
				if err != nil {
					return err
				}
				if q.Section != "" && text.Section == nil {
					return &exitError{code: exitFailed, err: fmt.Errorf("%s has no section %q", r.Source, q.Section), hint: sectionsOf(text)}
				}
				if asJSON {
					return printJSON(g.io.out, text)
				}
				fmt.Fprintln(g.io.out, strings.TrimRight(text.Content, "\n"))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().IntVar(&q.MaxChars, "max-chars", ipc.MaxChars, "cut after this many characters; without it, the whole text")
	c.Flag("max-chars").DefValue = "" // a number that says nothing
	c.Flags().StringVar(&q.Section, "section", "", "only this section (`TITLE`)")
	g.completes(c, "section", sections)
	return c
}

// sectionsOf says in the language of errors what the document has: the answer's own hint is in the document's.
func sectionsOf(text ipc.Content) string {
	titles := text.AvailableSections
	if len(titles) == 0 {
		return "the document has no sections"
	}
	const shown = 12
	if more := len(titles) - shown; more > 0 {
		return fmt.Sprintf("it has %s and %d more", strings.Join(titles[:shown], " | "), more)
	}
	return "it has " + strings.Join(titles, " | ")
}

// tooLong refuses what one answer cannot hold whole: neither the daemon nor this process should take memory for it in vain.
func tooLong(r ipc.Record, q ipc.ContentQuery, cutByHand bool) error {
	if cutByHand || q.Section != "" || r.FileSize <= ipc.MaxChars {
		return nil
	}
	return &exitError{
		code: exitFailed,
		err:  fmt.Errorf("%s has %d MiB; a whole text is given up to %d MiB", r.Source, r.FileSize>>20, ipc.MaxChars>>20),
		hint: "the beginning: --max-chars N; one part: --section TITLE; all of it: open the file " + r.FilePath,
	}
}
