package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
)

// clientFolder is a folder, and programs that serve it.
type clientFolder struct {
	t               *testing.T
	bin, kb, socket string
	flags           []string
}

func newClientFolder(t *testing.T) *clientFolder {
	t.Helper()
	dir, err := os.MkdirTemp("", "kd") // short: a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &clientFolder{t: t, bin: filepath.Join(dir, "knowledged"), kb: filepath.Join(dir, "kb"), socket: filepath.Join(dir, "s")}
	f.flags = []string{"--base", f.kb, "--socket", f.socket, "--state", filepath.Join(dir, "state")}
	if err := os.Symlink(self, f.bin); err != nil { // testscript.Main goes by the name
		t.Fatal(err)
	}
	f.write("first answer")
	return f
}

func (f *clientFolder) write(text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Join(f.kb, "api"), 0o755); err != nil {
		f.t.Fatal(err)
	}
	doc := fmt.Sprintf("---\ntitle: Errors\nkeywords: [ERR_TIMEOUT]\nsummary: s\n---\n# Errors\n\n%s\n", text)
	if err := os.WriteFile(filepath.Join(f.kb, "api", "a.md"), []byte(doc), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// agent is a client over standard streams and the program it has started.
type agent struct {
	*mcp.ClientSession
	cmd     *exec.Cmd
	stderr  *lockedText
	updated chan string
}

type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (f *clientFolder) agent(version string) *agent {
	f.t.Helper()
	a := &agent{stderr: &lockedText{}, updated: make(chan string, 99)}
	a.cmd = exec.Command(f.bin, append([]string{"mcp"}, f.flags...)...)
	a.cmd.Env = append(os.Environ(), "KNOWLEDGED_IPC_HTTP=off")
	a.cmd.Stderr = a.stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test-agent", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { a.updated <- r.Params.URI },
	})
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: a.cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		f.t.Fatalf("%v\n%s", err, a.stderr)
	}
	a.ClientSession = session
	f.t.Cleanup(func() { _ = session.Close() })
	return a
}

func (a *agent) ask(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := a.CallTool(ctx, &mcp.CallToolParams{Name: "lookup_knowledge", Arguments: map[string]any{"query": "ERR_TIMEOUT"}})
	if err != nil || len(r.Content) != 1 {
		t.Fatalf("%v, %+v\n%s", err, r, a.stderr)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// SPEC 6.3: the first agent's process is the daemon, the second finds it; when the first goes, the second carries on; an edit
// is notified and the next call answers from it; each call is in the history with its tool and its client (SPEC 7.2).
func TestAgentsShareAndInheritADaemon_6_3(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			f := newClientFolder(t)
			first := f.agent(version)
			if text := first.ask(t); !strings.Contains(text, "first answer") || !strings.HasPrefix(text, "confidence: high") {
				t.Fatalf("first: %s", text)
			}
			second := f.agent(version)
			second.ask(t)
			if !strings.Contains(first.stderr.String(), "no daemon was running") || strings.Contains(second.stderr.String(), "no daemon was running") {
				t.Errorf("who is the daemon?\nfirst: %s\nsecond: %s", first.stderr, second.stderr)
			}
			ended := make(chan error, 1)
			go func() { ended <- first.Close() }()
			if err := await(t, ended); err != nil {
				t.Errorf("the first did not end cleanly: %v", err)
			}
			if text := second.ask(t); !strings.Contains(text, "first answer") {
				t.Errorf("after the first: %s", text)
			}
			go func() { // returns at once, or in the newest revision with the subscription
				_ = second.Subscribe(context.Background(), &mcp.SubscribeParams{URI: "kb://api/a.md"})
			}()
			for i, told := 0, false; !told; i++ {
				if i > 200 {
					t.Fatal("never told of an edit")
				}
				f.write(fmt.Sprint("edit number ", i))
				select {
				case uri := <-second.updated:
					told = uri == "kb://api/a.md"
				case <-time.After(100 * time.Millisecond): // subscribed a moment later, then
				}
			}
			if text := second.ask(t); !strings.Contains(text, "edit number") {
				t.Errorf("after the edit: %s", text)
			}
			client := &ipc.Client{Socket: f.socket}
			defer client.Close()
			lookups, err := client.Lookups(context.Background(), time.Time{}, 10)
			if err != nil || len(lookups) == 0 || lookups[0].Tool != "lookup_knowledge" || !strings.HasSuffix(lookups[0].Caller, "mcp=test-agent/1") {
				t.Errorf("history: %+v, %v", lookups, err)
			}
		})
	}
}

// A service that is restarted finds its socket and its state free: an agent that it had does not take its place.
func TestRestartedDaemonIsFoundAgain(t *testing.T) {
	f := newClientFolder(t)
	daemon := func() *exec.Cmd {
		cmd := exec.Command(f.bin, append([]string{"run", "--http", "off"}, f.flags...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		client := &ipc.Client{Socket: f.socket, Wait: patience}
		defer client.Close()
		if _, err := waitFor(context.Background(), client, "all", patience, &progress{}); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	cmd := daemon()
	a := f.agent("2025-06-18")
	a.ask(t)
	for range 3 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		cmd = daemon()
		a.ask(t)
	}
	if strings.Contains(a.stderr.String(), "no daemon was running") {
		t.Errorf("the agent became the daemon: %s", a.stderr)
	}
	_ = a.Close()
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
}

// Two that start at once do not both become the daemon, nor does either fail.
func TestAgentsStartTogether(t *testing.T) {
	f := newClientFolder(t)
	var starting sync.WaitGroup
	daemons := make(chan bool, 3)
	for range cap(daemons) {
		starting.Go(func() {
			a := f.agent("2025-06-18")
			a.ask(t)
			daemons <- strings.Contains(a.stderr.String(), "no daemon was running")
		})
	}
	starting.Wait()
	n := 0
	for range cap(daemons) {
		if <-daemons {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of them are daemons", n)
	}
}

func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("never")
		panic("unreachable")
	}
}
