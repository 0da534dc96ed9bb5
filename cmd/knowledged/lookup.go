package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/lookup"
)

func newLookup(g *globals) *cobra.Command {
	var (
		req    lookup.Request
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "lookup QUERY",
		Short: "Ask the folder",
		Long: `Ask the folder a question, by keyword or in your own words.

A unique keyword match answers with high confidence. None or several: full text and
meaning answer together, and say how sure they are. Exit code 3: the folder doesn't know.`,
		Example: `  knowledged lookup ERR_TIMEOUT
  knowledged lookup 支付失败怎么办
  knowledged lookup ERR_TIMEOUT --section 超时排查
  knowledged lookup "database connections exhausted" --json | jq .primary`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("lookup needs a question, as in `knowledged lookup ERR_TIMEOUT`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			if c.Flags().Changed("top-k") && (req.TopK < 1 || req.TopK > lookup.MaxTopK) {
				return &exitError{code: exitUsage, err: fmt.Errorf("--top-k %d: use 1 to %d", req.TopK, lookup.MaxTopK)}
			}
			req.Query = strings.Join(args, " ")
			req.Tool = "cli"
			var answer *lookup.Answer
			err = g.withAnswerer(c.Context(), cfg, func(a answerer) error {
				answer, err = a.Lookup(c.Context(), req)
				return err
			})
			if err != nil {
				return inputError(err)
			}
			if asJSON {
				err = printJSON(g.io.out, answer)
			} else {
				printAnswer(g.io.out, answer)
			}
			if err == nil && !answer.Found {
				return &exitError{code: exitNotFound}
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&req.SectionTitle, "section", "", "answer with this section's text (`TITLE`)")
	f.StringVar(&req.Category, "category", "", "only documents of this `CATEGORY`")
	f.IntVar(&req.TopK, "top-k", 0, fmt.Sprintf("how many results, 1 to %d (`N`; default lookup.top_k, which is %d unless set)", lookup.MaxTopK, config.Default().Lookup.TopK))
	f.BoolVar(&req.AlwaysSemantic, "always-semantic", false, "ask the semantic index even where one keyword matches")
	f.BoolVar(&req.Explain, "explain", false, "show ranks and scores")
	f.BoolVar(&asJSON, "json", false, "the whole answer as JSON")
	c.ValidArgsFunction = cobra.NoFileCompletions
	g.completes(c, "category", categories)
	g.completes(c, "section", askedSections)
	return c
}

// inputError: what the person typed is wrong, not the daemon.
func inputError(err error) error {
	var (
		input   *lookup.InputError
		problem *ipc.Problem
		exit    *exitError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &exit):
		return err
	case errors.As(err, &input):
		return &exitError{code: exitUsage, err: err}
	case errors.As(err, &problem) && problem.Status == 400:
		return &exitError{code: exitUsage, err: err}
	case errors.Is(err, ipc.ErrNoAnswer):
		return noAnswer(err)
	case errors.As(err, &op) && errors.Is(err, fs.ErrPermission):
		return &exitError{code: exitNoDaemon, err: fmt.Errorf("you may not use the daemon's socket %s", op.Addr), hint: "of a service, members of the group knowledged may: sudo usermod -aG knowledged $USER, then log in again"}
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitFailed, err: errors.New("interrupted")}
	}
	return &exitError{code: exitFailed, err: err}
}

// printAnswer is the answer for a person: what is known first, then where else to look.
func printAnswer(w io.Writer, a *lookup.Answer) {
	if !a.Found {
		if len(a.Degraded) > 0 {
			fmt.Fprintln(w, "Not found, but not all could be asked:")
		} else {
			fmt.Fprintln(w, "Not found: the folder has nothing on this.")
		}
		if a.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", a.Hint)
		}
		printDegraded(w, a)
		printExplain(w, a)
		return
	}
	if p := a.Primary; p != nil {
		fmt.Fprintf(w, "%s\n%s  [%s confidence, %s]\n", p.Title, p.Source, p.Confidence, strings.ReplaceAll(a.Decision.Reason, "_", " "))
		if p.Section != nil {
			fmt.Fprintf(w, "section: %s\n", *p.Section)
		}
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(p.Content, "\n"))
	}
	if s := a.Supplement; s != nil {
		if a.Primary != nil {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n%s  [%s, %s match]\n\n%s\n", cmp.Or(s.Breadcrumb, s.Title), s.Source, s.MatchType, s.Relevance, strings.TrimRight(s.Content, "\n"))
	}
	printOthers(w, a)
	if a.Hint != "" {
		fmt.Fprintf(w, "\nhint: %s\n", a.Hint)
	}
	printDegraded(w, a)
	printExplain(w, a)
}

func printExplain(w io.Writer, a *lookup.Answer) {
	if a.Explain != nil {
		fmt.Fprintln(w, "\nexplain:")
		_ = printJSON(w, a.Explain)
	}
}

// printOthers lists results that were not printed in full.
func printOthers(w io.Writer, a *lookup.Answer) {
	for i, r := range a.Others() {
		if i == 0 {
			fmt.Fprintln(w, "\nAlso:")
		}
		fmt.Fprintf(w, "  %s  (%s)\n", cmp.Or(r.Breadcrumb, r.Title), r.Source)
	}
}

func printDegraded(w io.Writer, a *lookup.Answer) {
	for _, d := range a.Degraded {
		switch d {
		case lookup.DegradedIndexing:
			fmt.Fprintln(w, "note: the folder is still being indexed; ask again in a moment")
		case lookup.DegradedL1:
			fmt.Fprintln(w, "note: answered without the semantic index")
		case lookup.DegradedL0:
			fmt.Fprintln(w, "note: answered without the keyword index")
		}
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
