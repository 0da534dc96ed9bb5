package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

// completePatience bounds what a person waits for after pressing the tab key.
const completePatience = 500 * time.Millisecond

// completion suggests what the running daemon knows; without one there is nothing to suggest.
type completion func(ctx context.Context, client *ipc.Client, args []string, typed string) []string

// suggest makes a completion of a flag's value or of an argument.
func (g *globals) suggest(what completion) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		cfg, err := g.load(nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completePatience)
		defer cancel()
		client := g.anyClient(cfg)
		defer client.Close()
		return what(ctx, client, args, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// documentNames are the paths of documents below the base folder, for an only argument DOCUMENT.
func documentNames(ctx context.Context, client *ipc.Client, args []string, typed string) (names []string) {
	if len(args) > 0 {
		return nil
	}
	page, err := client.Documents(ctx, ipc.DocumentsQuery{Q: typed, Limit: ipc.MaxPage})
	if err != nil {
		return nil
	}
	for _, r := range page.Documents {
		_, below, _ := strings.Cut(r.Source, "/")
		if strings.HasPrefix(below, typed) {
			names = append(names, cobra.CompletionWithDesc(below, r.Title))
		} else if strings.HasPrefix(r.Source, typed) {
			names = append(names, cobra.CompletionWithDesc(r.Source, r.Title))
		}
	}
	return names
}

// categories are those that documents have.
func categories(ctx context.Context, client *ipc.Client, _ []string, typed string) (names []string) {
	seen := map[string]bool{}
	for r, err := range client.AllDocuments(ctx, ipc.DocumentsQuery{Limit: ipc.MaxPage}) {
		if err != nil {
			return names
		}
		if r.Category != "" && !seen[r.Category] && strings.HasPrefix(r.Category, typed) {
			seen[r.Category] = true
			names = append(names, r.Category)
		}
	}
	return names
}

// sections are the titles of the document that the argument names.
func sections(ctx context.Context, client *ipc.Client, args []string, _ string) []string {
	if len(args) == 0 {
		return nil
	}
	r, err := find(ctx, client, args[0])
	if err != nil {
		return nil
	}
	text, err := client.Content(ctx, r.DocID, ipc.ContentQuery{MaxChars: 1})
	if err != nil {
		return nil
	}
	return text.AvailableSections
}

// mostAsked bounds the documents whose sections are suggested for a question.
const mostAsked = 5

// askedSections are the titles of the documents that a question names: as a whole, else by one of its words. It is no lookup, which
// would be part of the history.
func askedSections(ctx context.Context, client *ipc.Client, args []string, typed string) (names []string) {
	question := strings.TrimSpace(strings.Join(args, " "))
	if question == "" {
		return nil
	}
	for _, part := range append([]string{question}, strings.Fields(question)...) {
		page, err := client.Documents(ctx, ipc.DocumentsQuery{Q: part, Limit: mostAsked})
		if err != nil {
			return nil
		}
		for _, r := range page.Documents {
			for _, title := range sections(ctx, client, []string{r.DocID}, typed) {
				if !slices.Contains(names, title) {
					names = append(names, title)
				}
			}
		}
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

// choices completes a flag that takes one of a few values.
func choices(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
}

// completes completes a flag's value by what the daemon knows.
func (g *globals) completes(c *cobra.Command, flag string, what completion) {
	_ = c.RegisterFlagCompletionFunc(flag, g.suggest(what)) // as above
}
