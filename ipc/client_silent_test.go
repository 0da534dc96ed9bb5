package ipc

import (
	"context"
	"errors"
	"net"
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
		"put":       func() error { _, _, err := c.Put(ctx, PutRequest{FileName: "a.md"}); return err },
		"delete":    func() error { _, err := c.Delete(ctx, "d", Match{}); return err },
		"reindex":   func() error { _, err := c.Reindex(ctx, "d"); return err },
		"reconcile": func() error { _, err := c.Reconcile(ctx, false); return err },
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
	if _, err := c.Reconcile(cancelled(t), false); !errors.Is(err, context.Canceled) {
		t.Errorf("work called off: %v", err)
	}
}
