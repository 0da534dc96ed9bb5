package main

import (
	"context"
	"errors"
	"net/http"

	"knowledged/config"
	"knowledged/ipc"
)

// folder is for commands that write into the base folder with or without a daemon, and gives the client of that folder's. Where
// nobody named the folder, it is that of the daemon that answers, where the other commands write, too.
func (g *globals) folder(ctx context.Context, cfg *config.Config) (*ipc.Client, error) {
	client := g.client(cfg)
	status, err := client.Status(ctx)
	p, refusal := errors.AsType[*ipc.Problem](err)
	switch named := client.Base != ""; {
	case err == nil && !named:
		cfg.Knowledge.BasePath = status.BasePath
	case err == nil, errors.Is(err, ipc.ErrNoDaemon):
	case !named, refusal && p.Status == http.StatusMisdirectedRequest, errors.Is(err, ipc.ErrNoAnswer), ctx.Err() != nil:
		return nil, clientError(err, cfg)
	}
	client.Base = config.RealPath(cfg.Knowledge.BasePath) // it stays that folder, whoever answers next
	return client, nil
}
