package mcp

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"knowledged/ipc"
	"knowledged/lookup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far beyond what anything here takes.
const patience = 10 * time.Second

// fakeBackend is a folder in memory.
type fakeBackend struct {
	ipc.Hub
	mu    sync.Mutex
	texts map[string]string // by path below "kb"
	bad   map[string]bool   // FAILED
	asked []lookup.Request
	block chan struct{} // a lookup waits for it to close; nil: not

	subscribed chan struct{} // gets one value a subscription
}

func newFake() *fakeBackend {
	return &fakeBackend{subscribed: make(chan struct{}, 9), texts: map[string]string{"api/a.md": "# A\n", "domain/会员 等级.md": "# 会员\n", "readme.md": "# R\n", "My Notes/x#1?.md": "# X\n"}}
}

func (f *fakeBackend) Subscribe(ctx context.Context) <-chan ipc.Event {
	defer func() { f.subscribed <- struct{}{} }()
	return f.Hub.Subscribe(ctx)
}

func (f *fakeBackend) Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, req)
	block := f.block
	f.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if strings.TrimSpace(req.Query) == "" {
		return nil, &lookup.InputError{Field: "query", Message: "is empty"}
	}
	a := &lookup.Answer{RequestID: "12345678", Results: []lookup.Result{}, Degraded: []string{}, Decision: lookup.Decision{Reason: lookup.ReasonNone, L1: lookup.L1Empty}}
	switch req.Query {
	case "ERR_A", "<b>":
		a.Found = true
		a.Primary = &lookup.Primary{
			DocID: "1", Title: "A <b>", Content: "text of A " + f.texts["api/a.md"], Source: "kb/api/a.md", MatchType: lookup.MatchExact, Confidence: lookup.High, AvailableSections: []string{"S"},
		}
		if req.SectionTitle != "" {
			a.Primary.Section = &req.SectionTitle
		}
		a.Decision = lookup.Decision{L0Matches: 1, Reason: lookup.ReasonUnique, L1: lookup.L1Skipped}
	case "several":
		a.Found, a.Hint, a.Degraded = true, "try S", []string{lookup.DegradedIndexing}
		a.Primary = &lookup.Primary{DocID: "1", Title: "A", Source: "kb/api/a.md", MatchType: lookup.MatchExact, Confidence: lookup.Low, AvailableSections: []string{}}
		a.Supplement = &lookup.Supplement{DocID: "2", Title: "B", Breadcrumb: "B > C", Content: "passage", Source: "kb/readme.md", MatchType: lookup.MatchSemantic, Relevance: lookup.Weak, More: []lookup.Extra{}}
		a.Results = []lookup.Result{{DocID: "1"}, {DocID: "3", Breadcrumb: "D > E", Source: "kb/domain/d.md"}}
		a.Decision = lookup.Decision{L0Matches: 2, Reason: lookup.ReasonSeveral, L1: lookup.L1Used}
	}
	return a, nil
}

func (f *fakeBackend) record(path string) ipc.Record {
	status := ipc.StatusIndexed
	if f.bad[path] {
		status = ipc.StatusFailed
	}
	return ipc.Record{DocID: path, Source: "kb/" + path, Title: "Title of " + path, Status: status, UpdatedAt: time.Unix(1, 0)}
}

// Documents pages by two, whatever is asked for: cursors are always needed.
func (f *fakeBackend) Documents(_ context.Context, q ipc.DocumentsQuery) (ipc.DocumentList, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var paths []string
	for p := range f.texts {
		if strings.Contains(strings.ToLower(p), strings.ToLower(q.Q)) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	start, err := strconv.Atoi("0" + q.Cursor)
	if err != nil || start > len(paths) {
		return ipc.DocumentList{}, &ipc.InvalidError{Field: "cursor", Message: "not a cursor"}
	}
	var out ipc.DocumentList
	for _, p := range paths[start:min(start+2, len(paths))] {
		out.Documents = append(out.Documents, f.record(p))
	}
	if start+2 < len(paths) {
		out.NextCursor = strconv.Itoa(start + 2)
	}
	return out, nil
}

func (f *fakeBackend) BySource(_ context.Context, source string) (ipc.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, _ := strings.CutPrefix(source, "kb/")
	if _, ok := f.texts[path]; !ok {
		return ipc.Record{}, ipc.ErrNotFound
	}
	return f.record(path), nil
}

func (f *fakeBackend) Content(_ context.Context, docID string, _ ipc.ContentQuery) (ipc.Content, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return ipc.Content{DocID: docID, Content: f.texts[docID]}, nil
}

// write changes a document as a save would.
func (f *fakeBackend) write(path, text string) {
	f.mu.Lock()
	_, had := f.texts[path]
	f.texts[path] = text
	f.mu.Unlock()
	action := ipc.ActionUpdated
	if !had {
		action = ipc.ActionCreated
	}
	f.Publish(ipc.Event{Type: ipc.EventDocument, Action: action, Source: "kb/" + path, Title: "Title of " + path})
}

// house is a running Server.
type house struct {
	*fakeBackend
	*Server
	t   testing.TB
	url string
}

func openHouse(t testing.TB) *house {
	h := &house{fakeBackend: newFake(), t: t}
	h.Server = New(Config{Backend: h.fakeBackend, BaseName: "kb", Version: "9"}, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})))
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	<-h.subscribed
	web := httptest.NewServer(h.Server)
	h.url = web.URL
	t.Cleanup(func() {
		end, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		h.Close(end)
		if end.Err() != nil {
			t.Error("sessions did not end")
		}
		web.Close()
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return h
}

// heard is what a client was told.
type heard struct {
	updated chan string
	listed  chan struct{}
}

func newHeard() *heard {
	return &heard{updated: make(chan string, 100), listed: make(chan struct{}, 100)}
}

func (n *heard) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { n.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { n.listed <- struct{}{} },
	}
}

// transports are the ways in, by name. A pipe is what the bridge speaks.
func (h *house) transports() map[string]func() sdk.Transport {
	return map[string]func() sdk.Transport{
		"pipe": func() sdk.Transport {
			ours, theirs := net.Pipe()
			go func() { _ = h.ServePipe(context.Background(), theirs) }()
			return &sdk.IOTransport{Reader: ours, Writer: ours}
		},
		"http": func() sdk.Transport {
			return &sdk.StreamableClientTransport{Endpoint: h.url, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
		},
	}
}

func (h *house) connect(transport sdk.Transport, n *heard, version string) *sdk.ClientSession {
	h.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1 2"}, n.options())
	session, err := client.Connect(context.Background(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = session.Close() })
	return session
}

func await[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("never: %s", what)
		panic("unreachable")
	}
}

func newPipe() (net.Conn, net.Conn) { return net.Pipe() }
