package ipc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"knowledged/lookup"
)

func newClient(t testing.TB, h *house) *Client {
	c := &Client{Socket: h.sock}
	t.Cleanup(c.Close)
	return c
}

func TestClient(t *testing.T) {
	h := openHouse(t, nil)
	c, ctx := newClient(t, h), t.Context()
	c.Tool = "knowledged-test"
	if a, err := c.Lookup(ctx, lookup.Request{Query: "q", TopK: 3}); err != nil || a.RequestID == "" || h.asked[0].TopK != 3 || h.asked[0].Tool != "knowledged-test" {
		t.Errorf("lookup: %+v %v", a, err)
	}
	if _, err := c.Lookup(ctx, lookup.Request{Query: "q"}); err != nil || h.asked[1].TopK != 0 {
		t.Errorf("lookup without topK: %+v %v", h.asked, err)
	}
	if st, err := c.Status(ctx); err != nil || st.PID != os.Getpid() {
		t.Errorf("status: %+v %v", st, err)
	}
	if ready, err := c.Ready(ctx); !ready || err != nil {
		t.Errorf("ready: %v %v", ready, err)
	}
	rec, created, err := c.Put(ctx, PutRequest{Category: "api/v 2", FileName: "错 误.md", Body: []byte("x"), Force: true, WaitL1: true, IfNoneMatch: Match{Given: true, Any: true}})
	if got := h.puts[0]; err != nil || !created || got.Category != "api/v 2" || got.FileName != "错 误.md" || !got.Force || !got.WaitL1 || !got.IfNoneMatch.Any {
		t.Errorf("put: %+v %v %v", got, created, err)
	}
	_, created, err = c.Put(ctx, PutRequest{FileName: "root 'a; b=c'.md", Body: []byte("y")})
	if got := h.puts[1]; err != nil || !created || got.FileName != "root 'a; b=c'.md" {
		t.Errorf("put under a name that a form must escape: %+v %v", got, err)
	}
	rec, created, err = c.Put(ctx, PutRequest{FileName: "root.md", Body: []byte("y"), Force: true})
	if got := h.puts[2]; err != nil || !created || got.Category != "" || got.FileName != "root.md" || string(got.Body) != "y" || !got.Force {
		t.Errorf("put into the base folder: %+v %v %v", got, created, err)
	}
	if got, err := c.Document(ctx, rec.DocID); err != nil || got.FileHash != rec.FileHash {
		t.Errorf("document: %+v %v", got, err)
	}
	if got, err := c.BySource(ctx, "kb/ops/a.md"); err != nil || got.DocID != "ops-a.md" {
		t.Errorf("by source: %+v %v", got, err)
	}
	if got, err := c.Content(ctx, "ops-a.md", ContentQuery{MaxChars: 3}); err != nil || got.Content != "# A" || !got.Truncated {
		t.Errorf("content: %+v %v", got, err)
	}
	if got, err := c.Chunks(ctx, "ops-a.md"); err != nil || len(got) != 1 {
		t.Errorf("chunks: %+v %v", got, err)
	}
	if job, err := c.Reindex(ctx, "ops-a.md"); err != nil || job.Documents.Checked != 1 {
		t.Errorf("reindex: %+v %v", job, err)
	}
	if job, err := c.Reconcile(ctx, true); err != nil || !job.DryRun {
		t.Errorf("reconcile: %+v %v", job, err)
	}
	if l, err := c.Lookups(ctx, time.Now().Add(-time.Hour), 5); err != nil || len(l) != 1 || time.Since(h.since) < time.Hour {
		t.Errorf("lookups: %+v %v", l, err)
	}
	if s, err := c.Stats(ctx, time.Time{}); err != nil || s.Lookups != 1 || !h.since.IsZero() {
		t.Errorf("stats: %+v %v", s, err)
	}
	if done, err := c.Delete(ctx, rec.DocID, Match{Given: true, Hashes: []string{rec.FileHash}}); !done || err != nil {
		t.Errorf("delete: %v %v", done, err)
	}
	h.notDone = true
	if done, err := c.Delete(ctx, rec.DocID, Match{}); done || err != nil {
		t.Errorf("delete: %v %v", done, err)
	}
}

func TestClientPages(t *testing.T) {
	h := openHouse(t, nil)
	c := newClient(t, h)
	n := 0
	for rec, err := range c.AllDocuments(t.Context(), DocumentsQuery{Category: "ops", Warnings: true, Limit: 1}) {
		if err != nil || rec.DocID != "ops-a.md" {
			t.Fatalf("%+v %v", rec, err)
		}
		n++
	}
	if n != 2 || h.queries[1] != (DocumentsQuery{Category: "ops", Warnings: true, Limit: 1, Cursor: "two"}) {
		t.Errorf("%d records, queries %+v", n, h.queries)
	}
	for range c.AllDocuments(t.Context(), DocumentsQuery{Limit: 1}) {
		break
	}
	h.err = errors.New("broken")
	for _, err := range c.AllDocuments(t.Context(), DocumentsQuery{}) {
		if err == nil {
			t.Error("no error")
		}
	}
}

func TestClientErrors(t *testing.T) {
	h := openHouse(t, nil)
	c, ctx := newClient(t, h), t.Context()
	var p *Problem
	if _, err := c.Document(ctx, "none"); !errors.As(err, &p) || p.Status != 404 || p.RequestID == "" {
		t.Errorf("%v", err)
	}
	if _, err := c.Lookup(ctx, lookup.Request{Query: " "}); !errors.As(err, &p) || p.Errors[0].Field != "query" || !strings.Contains(err.Error(), "query") {
		t.Errorf("%v", err)
	}
	if _, _, err := c.Put(ctx, PutRequest{Category: "ops", FileName: "b.md", Body: []byte("# A\n\nbody")}); !errors.As(err, &p) || p.Status != 409 || p.Record.DocID != "ops-a.md" {
		t.Errorf("%v", err)
	}
	h.unready = true
	if ready, err := c.Ready(ctx); ready || err != nil {
		t.Errorf("ready: %v %v", ready, err)
	}
	for _, err := range c.Events(cancelled(t)) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("events: %v", err)
		}
	}
}

// Something else that speaks HTTP on our socket.
func TestClientAgainstAStranger(t *testing.T) {
	path := shortPath(t, "kd.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/status" {
			http.Error(w, "teapot", http.StatusTeapot)
		}
		_, _ = io.WriteString(w, "<html>")
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	c := &Client{Socket: path}
	defer c.Close()
	var p *Problem
	if _, err := c.Status(t.Context()); !errors.As(err, &p) || p.Status != 418 || !strings.Contains(err.Error(), "418") {
		t.Errorf("%v", err)
	}
	if _, err := c.Document(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "daemon's answer") {
		t.Errorf("%v", err)
	}
}

func TestNoDaemon(t *testing.T) {
	missing := &Client{Socket: shortPath(t, "none.sock")}
	if _, err := missing.Status(t.Context()); !errors.Is(err, ErrNoDaemon) || !strings.Contains(err.Error(), missing.Socket) || strings.Contains(err.Error(), "http://") {
		t.Errorf("%v", err)
	}
	stale := &Client{Socket: shortPath(t, "stale.sock")}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := stale.Status(t.Context()); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("%v", err)
	}
	patient := &Client{Socket: missing.Socket, Wait: time.Minute}
	if _, err := patient.Status(cancelled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	tooLong := &Client{Socket: "/" + strings.Repeat("x", 200)}
	if _, err := tooLong.Status(t.Context()); err == nil || errors.Is(err, ErrNoDaemon) {
		t.Errorf("%v", err)
	}
}

// A client that is told to wait finds the daemon that starts a little later.
func TestClientWaitsForTheDaemon(t *testing.T) {
	path := shortPath(t, "kd.sock")
	c := &Client{Socket: path, Wait: 10 * time.Second}
	got := make(chan error, 1)
	go func() {
		_, err := c.Status(t.Context())
		got <- err
	}()
	openHouse(t, func(cfg *Config) { cfg.Socket = path })
	if err := <-got; err != nil {
		t.Error(err)
	}
	c.Close()
}

func TestClientEvents(t *testing.T) {
	h := openHouse(t, nil)
	c := newClient(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil && h.subscribers() == 0 {
			time.Sleep(time.Millisecond)
		}
		h.Publish(Event{Type: EventDocument, Action: ActionDeleted, DocID: "d"})
		h.Publish(Event{Type: EventL1, State: L1Down})
	}()
	var got []Event
	for e, err := range c.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e); len(got) == 2 {
			break
		}
	}
	if got[0].Action != ActionDeleted || got[1].State != L1Down {
		t.Errorf("%+v", got)
	}
	ended := make(chan error, 1)
	go func() {
		var last error
		for _, err := range c.Events(t.Context()) {
			last = err
		}
		ended <- last
	}()
	eventually(t, "subscribed", func() bool { return h.subscribers() > 0 })
	h.stop()
	if err := <-ended; err == nil {
		t.Error("the daemon went and no error said so")
	}
}

func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
