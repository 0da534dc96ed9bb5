package ipc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"knowledged/lookup"
)

// fakeAgents answers each request with who asks, and echoes lines on a pipe.
type fakeAgents struct {
	closed chan struct{}
	stuck  bool // a pipe does not end with Close, only with its context
}

func (f *fakeAgents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s", r.Method, Caller(r.Context()))
}

func (f *fakeAgents) ServePipe(ctx context.Context, conn io.ReadWriteCloser) error {
	defer conn.Close()
	closed := f.closed
	if f.stuck {
		closed = nil
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(conn)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	defer func() {
		conn.Close()
		for range lines {
		}
	}()
	for {
		select {
		case line, open := <-lines:
			if !open {
				return io.EOF
			}
			if _, err := io.WriteString(conn, Caller(ctx)+" "+line); err != nil {
				return err
			}
		case <-closed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *fakeAgents) Close(ctx context.Context) {
	close(f.closed)
	if f.stuck {
		<-ctx.Done()
	}
}

func agentHouse(t *testing.T, agents *fakeAgents, change func(*Config)) *house {
	t.Helper()
	agents.closed = make(chan struct{})
	return openHouse(t, func(c *Config) {
		c.Agents, c.Grace = agents, 100*time.Millisecond
		if change != nil {
			change(c)
		}
	})
}

// SPEC 6.3: asking is reading, so an agent needs no token on the port; a page in a browser is none.
func TestMCPDoor_6_3(t *testing.T) {
	h := agentHouse(t, &fakeAgents{}, nil)
	const agent = "application/json"
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if r := h.ask(method, h.url+"/mcp", "{}", "Content-Type", agent); r.status != 200 || r.body != method+" 127.0.0.1" {
			t.Errorf("%s: %d %s", method, r.status, r.body)
		}
		h.problem(h.ask(method, h.url+"/mcp", "{}", "Content-Type", agent, "Origin", "http://evil.invalid"), 403)
		h.problem(h.ask(method, h.url+"/mcp", "{}", "Content-Type", agent, "Host", "evil.invalid"), 403)
	}
	// The requests of the case sv-csrf-simple.
	for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=gbk"} {
		h.problem(h.ask("POST", h.url+"/mcp", "{}", "Content-Type", contentType, "Host", "localhost"), 415)
	}
	h.problem(h.ask("PUT", h.url+"/mcp", "{}", "Content-Type", agent), 403)
	h.problem(h.ask("GET", h.url+"/mcp/pipe", "", "Upgrade", "mcp", "Connection", "Upgrade"), 404)
	h.problem(h.ask("GET", "/mcp/pipe", ""), 426)
	h.problem(openHouse(t, nil).ask("GET", "/mcp", ""), 404)
	h.problem(openHouse(t, nil).ask("GET", "/mcp/pipe", ""), 404)
}

func TestMCPNeedsTheTokenWhereReadingDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := agentHouse(t, &fakeAgents{}, func(c *Config) { c.HTTPAuth, c.TokenFile = "all", file })
	h.problem(h.ask("POST", h.url+"/mcp", "{}", "Content-Type", "application/json"), 401)
	if r := h.ask("POST", h.url+"/mcp", "{}", "Content-Type", "application/json", "Authorization", "Bearer secret"); r.status != 200 {
		t.Errorf("with the token: %d", r.status)
	}
}

func TestMCPPipe(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		h := agentHouse(t, &fakeAgents{stuck: stuck}, nil)
		c := &Client{Socket: h.sock}
		conn, err := c.MCP(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "hello\n"); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		var uid, pid int
		var word string
		if line, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		} else if _, err := fmt.Sscanf(line, "uid=%d pid=%d %s", &uid, &pid, &word); err != nil || pid != os.Getpid() || word != "hello" {
			t.Errorf("echo: %q", line)
		}
		if a, err := c.Lookup(context.Background(), lookup.Request{Query: "q"}); err != nil || a == nil {
			t.Errorf("beside it: %v", err)
		}
		c.Close()
		if err := h.stop(); err != nil { // ends the pipe too, if need be by force
			t.Error(err)
		}
		if _, err := r.ReadString('\n'); err == nil {
			t.Error("the pipe outlived the daemon")
		}
		if _, err := c.MCP(context.Background()); !errors.Is(err, ErrNoDaemon) {
			t.Errorf("without a daemon: %v", err)
		}
	}
}

func TestMCPPipeOfADaemonWithout(t *testing.T) {
	h := openHouse(t, nil)
	c := &Client{Socket: h.sock}
	var p *Problem
	if _, err := c.MCP(context.Background()); !errors.As(err, &p) || p.Status != 404 {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.MCP(ctx); err == nil {
		t.Error("a context that has ended")
	}
}
