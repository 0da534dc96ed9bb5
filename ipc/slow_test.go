package ipc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"knowledged/lookup"
)

// drip connects and sends text a byte every few milliseconds until the other side hangs up; it gives what was answered.
func drip(t *testing.T, network, address, head, text string) string {
	t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	answer := make(chan string, 1)
	go func() {
		data, err := io.ReadAll(conn)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the connection was never closed")
		}
		answer <- string(data)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case a := <-answer:
			return a
		case <-tick.C:
			io.WriteString(conn, text[i%len(text):][:1]) // the end is seen by the reader
		}
	}
}

// API.md: headers must arrive in time. Meanwhile others are answered.
func TestSlowHeaders(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.HeaderTimeout = 100 * time.Millisecond })
	start := time.Now()
	drip(t, "unix", h.sock, "POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "a")
	drip(t, "tcp", strings.TrimPrefix(h.url, "http://"), "", "POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("closed after %v, before the time was up", took)
	}
	if r := h.ask("GET", "/v1/lookup?query=q", ""); r.status != 200 {
		t.Errorf("%+v", r)
	}
}

// A body that drips is no better than headers that do, read by a handler or not, with a length or in chunks.
func TestSlowBodies(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.BodyTimeout = 100 * time.Millisecond })
	for _, c := range []struct{ network, head, text, want string }{
		{"unix", "POST /v1/lookup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", " ", "408"},
		{"unix", "PUT /v1/documents/ops/x.md HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "408"},
		{"unix", "POST /v1/documents HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n--b\r\n", "X", "408"},
		{"unix", "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", "x", "404"},
		{"unix", "GET /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", "x", "200"},
		{"tcp", "PUT /v1/documents/ops/x.md HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", "x", "403"},
	} {
		address := h.sock
		if c.network == "tcp" {
			address = strings.TrimPrefix(h.url, "http://")
		}
		if got := drip(t, c.network, address, c.head, c.text); !strings.HasPrefix(got, "HTTP/1.1 "+c.want) {
			t.Errorf("%.40q: %.100q, want %s", c.head, got, c.want)
		}
	}
	if len(h.puts) != 0 {
		t.Errorf("half a body was written: %+v", h.puts)
	}
}

// A slow link is not an attack: time is earned by what arrives.
func TestSteadyBody(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.BodyTimeout = 150 * time.Millisecond })
	r, w := io.Pipe()
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 20 { // 400 ms in all, at 50 KB/s
			<-tick.C
			w.Write(make([]byte, 1000))
		}
		w.Close()
	}()
	req, _ := http.NewRequest(http.MethodPut, "http://sock/v1/documents/ops/x.md", r)
	resp, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated || len(h.puts[0].Body) != 20000 {
		t.Errorf("%d", resp.StatusCode)
	}
}

// After the body the answer may take its time: the body's deadline must not end the request.
func TestSlowAnswerAfterBody(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.BodyTimeout = 50 * time.Millisecond })
	h.answer = func(ctx context.Context, req lookup.Request) (*lookup.Answer, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
			return &lookup.Answer{}, nil
		}
	}
	for range 2 { // the connection is kept
		if r := h.ask("POST", "/v1/lookup", `{"query":"q"}`, "Content-Type", "application/json"); r.status != 200 {
			t.Errorf("%+v", r)
		}
	}
}

// A client that goes ends its own lookup, at once and without a line in the log that calls for help.
func TestClientGone(t *testing.T) {
	h := openHouse(t, nil)
	var begun, ended atomic.Int32
	h.answer = func(ctx context.Context, _ lookup.Request) (*lookup.Answer, error) {
		begun.Add(1)
		<-ctx.Done()
		ended.Add(1)
		return nil, fmt.Errorf("embed query: %w", ctx.Err())
	}
	for range 20 {
		conn, err := net.Dial("unix", h.sock)
		if err != nil {
			t.Fatal(err)
		}
		want := begun.Load() + 1
		io.WriteString(conn, "POST /v1/lookup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"query\":\"q\"}")
		eventually(t, "lookup begun", func() bool { return begun.Load() == want })
		conn.Close()
	}
	eventually(t, "lookups ended", func() bool { return ended.Load() == 20 })
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if log := h.logs.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, `"level":"WARN"`) {
		t.Errorf("log: %s", log)
	}
}

// Requests under way when the daemon stops are answered.
func TestGracefulStop(t *testing.T) {
	h := openHouse(t, nil)
	begun := make(chan struct{})
	release := make(chan struct{})
	h.answer = func(context.Context, lookup.Request) (*lookup.Answer, error) {
		close(begun)
		<-release
		return &lookup.Answer{RequestID: "late"}, nil
	}
	got := make(chan reply, 1)
	go func() { got <- h.ask("GET", "/v1/lookup?query=q", "") }()
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- h.stop() }()
	eventually(t, "no new connections", func() bool {
		conn, err := net.Dial("unix", h.sock)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	close(release)
	if r := <-got; r.status != 200 || r.json(t)["requestId"] != "late" {
		t.Errorf("%+v", r)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// One that does not end by itself is ended after the grace.
func TestStopEndsWhatHangs(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.Grace = 50 * time.Millisecond })
	begun := make(chan struct{})
	h.answer = func(ctx context.Context, _ lookup.Request) (*lookup.Answer, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	// A body that is not read hides the closed connection from net/http: only the server's own context is left.
	conn, err := net.Dial("unix", h.sock)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /v1/lookup?query=q HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
	<-begun
	start := time.Now()
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("stopped after %v", took)
	}
}

// A request that was read at the last moment finds the door closed, not a backend that is gone.
func TestClosedHandler(t *testing.T) {
	h := newHandler(Config{Backend: newFake(), BodyTimeout: time.Second, WriteTimeout: time.Second}, newGuard("", false, false), testLog(t))
	h.close()
	serveOnce(t, h, func(url string) {
		if resp, err := http.Get(url + "/v1/status"); err == nil {
			resp.Body.Close()
			t.Errorf("answered %d", resp.StatusCode)
		}
	})
}

// A client that stops reading does not hold a stream for ever.
func TestClientThatDoesNotRead(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.WriteTimeout = 100 * time.Millisecond })
	conn, err := net.Dial("unix", h.sock)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	e := Event{Type: EventDocument, Title: strings.Repeat("x", 10000)}
	eventually(t, "the stream ended", func() bool {
		h.Publish(e)
		h.Hub.mu.Lock()
		defer h.Hub.mu.Unlock()
		return len(h.subs) == 0
	})
}
