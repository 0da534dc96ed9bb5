package web_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/ipc"
)

const token = "the-token"

// house is a real daemon with its doors open, on a folder of its own.
type house struct {
	t    testing.TB
	base string // the documents' folder, called kb
	url  string
	d    *daemon.Daemon
}

// newHouse serves the files, by path below the base. change may adapt the settings.
func newHouse(t testing.TB, files map[string]string, change func(*config.Config)) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "kw") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &house{t: t, base: filepath.Join(dir, "kb")}
	for name, text := range files {
		h.write(name, text)
	}
	cfg := config.Default()
	cfg.Knowledge.BasePath, cfg.StateDir = h.base, filepath.Join(dir, "state")
	cfg.IPC.Socket, cfg.IPC.HTTP, cfg.IPC.TokenFile = filepath.Join(dir, "s"), "127.0.0.1:0", filepath.Join(dir, "token")
	if err := os.WriteFile(cfg.IPC.TokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&cfg)
	}
	h.d, err = daemon.New(&cfg, "test", slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	doors, err := h.d.Doors(nil)
	if err != nil {
		t.Fatal(err)
	}
	h.url = "http://" + h.d.HTTPAddr()
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return h.d.Run(ctx, doors) })
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := h.d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	wait, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	if err := h.d.WaitIndexed(wait, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) write(name, text string) {
	h.t.Helper()
	file := filepath.Join(h.base, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// reply is an answer, whole.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; headers are name, value, name, value…
func (h *house) ask(method, path, body string, headers ...string) reply {
	h.t.Helper()
	req, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(data)}
}

func (h *house) get(path string, headers ...string) reply {
	h.t.Helper()
	return h.ask("GET", path, "", headers...)
}

// queries are those of the history, newest first.
func (h *house) queries() (list []string) {
	h.t.Helper()
	entries, err := h.d.Lookups(context.Background(), time.Time{}, ipc.MaxPage)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Tool != "web" {
			h.t.Errorf("%q was asked by %q", e.Query, e.Tool)
		}
		list = append(list, e.Query)
	}
	return list
}

// unixClient knocks at the other door.
func unixClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
}
