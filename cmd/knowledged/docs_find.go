package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"knowledged/ipc"
)

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

// onDocument is a subcommand on one document that needs the daemon.
func (g *globals) onDocument(use, short string, do func(context.Context, *ipc.Client, ipc.Record) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short + " (DOCUMENT: docId or path below the base)",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: g.suggest(documentNames),
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
