package mcp

import (
	"context"
	"maps"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
)

// Run tells clients what happens to documents, and ends sessions nobody uses, until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	events := s.backend.Subscribe(ctx)
	s.relist(ctx)
	tick := s.sessions.ticker()
	defer tick.Stop()
	for {
		select {
		case e, open := <-events:
			if !open {
				return nil
			}
			s.notify(ctx, e)
		case <-tick.C:
			s.endIdle()
		}
	}
}

func (s *Server) notify(ctx context.Context, e ipc.Event) {
	switch e.Type {
	case ipc.EventLagged: // what was missed is unknown
		before := maps.Clone(s.titles)
		s.relist(ctx)
		s.listChanged()
		maps.Copy(before, s.titles)
		for source := range before {
			s.updated(ctx, source)
		}
	case ipc.EventDocument:
		listed := e.Action == ipc.ActionCreated || e.Action == ipc.ActionUpdated
		title, known := s.titles[e.Source]
		if listed {
			s.titles[e.Source] = e.Title
		} else {
			delete(s.titles, e.Source)
		}
		if e.Action == ipc.ActionCreated || known != listed || listed && title != e.Title {
			s.listChanged()
		}
		s.updated(ctx, e.Source)
	}
}

// updated tells those who have subscribed to a document.
func (s *Server) updated(ctx context.Context, source string) {
	uri := uriOf(strings.TrimPrefix(source, s.baseName+"/"))
	if err := s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		s.log.Debug("a client could not be told of an update", "path", source, "err", err)
	}
}

// listChanged has the SDK tell everybody that the list has changed. It does so, a few at once, when something is added: the
// template once more.
func (s *Server) listChanged() { s.sdk.AddResourceTemplate(documentTemplate(), s.readDocument) }

// relist gathers what a client that lists now is told, so that a save which changes nothing of it makes nobody list again.
func (s *Server) relist(ctx context.Context) {
	clear(s.titles)
	q := ipc.DocumentsQuery{Limit: ipc.MaxPage}
	for {
		page, err := s.backend.Documents(ctx, q)
		if err != nil {
			return
		}
		for _, rec := range page.Documents {
			if rec.Status != ipc.StatusFailed {
				s.titles[rec.Source] = rec.Title
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return
		}
	}
}
