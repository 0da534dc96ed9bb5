package ipc

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"knowledged/lookup"
)

// A daemon that was stopped (kill -STOP): the system takes connections, nobody reads from them.
func TestClientDoesNotWaitForADaemonThatHangs(t *testing.T) {
	path := shortPath(t, "kd.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := &Client{Socket: path, Patience: time.Millisecond}
	defer c.Close()
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"lookup":    func() error { _, err := c.Lookup(ctx, lookup.Request{Query: "q"}); return err },
		"status":    func() error { _, err := c.Status(ctx); return err },
		"ready":     func() error { _, err := c.Ready(ctx); return err },
		"stats":     func() error { _, err := c.Stats(ctx, time.Time{}); return err },
		"lookups":   func() error { _, err := c.Lookups(ctx, time.Time{}, 1); return err },
		"documents": func() error { _, err := c.Documents(ctx, DocumentsQuery{}); return err },
		"document":  func() error { _, err := c.Document(ctx, "d"); return err },
		"content":   func() error { _, err := c.Content(ctx, "d", ContentQuery{}); return err },
		"chunks":    func() error { _, err := c.Chunks(ctx, "d"); return err },
		"mcp":       func() error { _, err := c.MCP(ctx); return err },
		"events": func() (last error) {
			for _, err := range c.Events(ctx) {
				last = err
			}
			return last
		},
	} {
		if err := ask(); !errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrNoDaemon) || !strings.Contains(err.Error(), "no answer within 1ms") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Status(cancelled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}

// What waits for work has no limit, nor has an answer that has begun.
func TestClientWaitsForWork(t *testing.T) {
	path := shortPath(t, "kd.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	patient, hasty := &Client{Socket: path, Patience: time.Millisecond}, &Client{Socket: path, Patience: time.Millisecond}
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			return
		}
		if _, err := hasty.Status(context.Background()); !errors.Is(err, ErrNoAnswer) { // the time is up by then
			t.Errorf("%v", err)
		}
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	defer patient.Close()
	defer hasty.Close()
	if _, err := patient.Delete(t.Context(), "d", Match{}); err != nil {
		t.Errorf("delete: %v", err)
	}
	for name, call := range map[string]func() error{
		"reconcile": func() error { _, err := patient.Reconcile(t.Context(), false); return err },
		"reindex":   func() error { _, err := patient.Reindex(t.Context(), "d"); return err },
		"put":       func() error { _, _, err := patient.Put(t.Context(), PutRequest{FileName: "a.md"}); return err },
	} {
		if err := call(); err == nil || errors.Is(err, ErrNoAnswer) { // the answer is empty: no JSON
			t.Errorf("%s: %v", name, err)
		}
	}
}
