package ipc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"knowledged/lookup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBackend keeps documents in a map. A test sets err or lookup to make it misbehave.
type fakeBackend struct {
	Hub
	mu      sync.Mutex
	docs    map[string]Record // by docId, which is the source
	bodies  map[string][]byte
	puts    []PutRequest
	queries []DocumentsQuery
	asked   []lookup.Request
	since   time.Time
	dryRun  bool
	err     error // returned by every method that can
	answer  func(context.Context, lookup.Request) (*lookup.Answer, error)
	notDone bool // Delete leaves vectors to the backlog
	unready bool
}

func newFake() *fakeBackend {
	f := &fakeBackend{docs: map[string]Record{}, bodies: map[string][]byte{}}
	f.store("ops", "a.md", []byte("# A\n\nbody"))
	return f
}

func (f *fakeBackend) store(category, name string, body []byte) Record {
	sum := sha256.Sum256(body)
	id := strings.TrimPrefix(category+"/"+name, "/")
	rec := Record{
		DocID: strings.ReplaceAll(id, "/", "-"), Source: "kb/" + id, FileName: name, FilePath: "/kb/" + id, FileHash: hex.EncodeToString(sum[:]),
		FileSize: int64(len(body)), Title: "A <b>", Category: category, Status: StatusIndexed, CreatedAt: time.Unix(1, 0).UTC(), UpdatedAt: time.Unix(2, 0).UTC(),
	}
	f.docs[rec.DocID], f.bodies[rec.DocID] = rec, body
	return rec
}

func (f *fakeBackend) get(docID string) (Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rec, ok := f.docs[docID]
	if f.err != nil {
		return rec, f.err
	}
	if !ok {
		return rec, ErrNotFound
	}
	return rec, nil
}

func (f *fakeBackend) Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, req)
	answer, err := f.answer, f.err
	f.mu.Unlock()
	if answer != nil {
		return answer(ctx, req)
	}
	if err == nil && strings.TrimSpace(req.Query) == "" {
		err = &lookup.InputError{Field: "query", Message: "is empty"}
	}
	return &lookup.Answer{RequestID: req.RequestID, Results: []lookup.Result{}, Degraded: []string{}}, err
}

func (f *fakeBackend) Ready() bool { return !f.unready }

func (f *fakeBackend) Status(context.Context) (Status, error) {
	return Status{Version: "test", PID: os.Getpid(), Ready: true, Watch: StatusWatch{Mode: "poll"}, L1: StatusL1{Backend: "off", State: L1Off}}, f.err
}

func (f *fakeBackend) Documents(_ context.Context, q DocumentsQuery) (DocumentList, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, q)
	if q.Cursor == "broken" {
		return DocumentList{}, &InvalidError{"cursor", "is not one of ours"}
	}
	if q.Cursor == "" && q.Limit == 1 {
		return DocumentList{Documents: []Record{f.docs["ops-a.md"]}, NextCursor: "two"}, f.err
	}
	var l DocumentList
	for _, rec := range f.docs {
		if q.Category == "" || q.Category == rec.Category {
			l.Documents = append(l.Documents, rec)
		}
	}
	return l, f.err
}

func (f *fakeBackend) Document(_ context.Context, docID string) (Record, error) { return f.get(docID) }

func (f *fakeBackend) BySource(_ context.Context, source string) (Record, error) {
	return f.get(strings.ReplaceAll(strings.TrimPrefix(source, "kb/"), "/", "-"))
}

func (f *fakeBackend) Content(_ context.Context, docID string, q ContentQuery) (Content, error) {
	rec, err := f.get(docID)
	text := string(f.bodies[docID])
	return Content{DocID: docID, Source: rec.Source, FileHash: rec.FileHash, Content: text[:min(q.MaxChars, len(text))], Truncated: q.MaxChars < len(text)}, err
}

func (f *fakeBackend) Chunks(_ context.Context, docID string) ([]Chunk, error) {
	_, err := f.get(docID)
	return []Chunk{{ID: "1", Text: "t", TotalChunks: 1}}, err
}

func (f *fakeBackend) Put(_ context.Context, req PutRequest) (Record, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.puts = append(f.puts, req)
	if f.err != nil {
		return Record{}, false, f.err
	}
	id := strings.ReplaceAll(strings.TrimPrefix(req.Category+"/"+req.FileName, "/"), "/", "-")
	old, exists := f.docs[id]
	if err := CheckMatch(req.IfMatch, req.IfNoneMatch, old.FileHash); err != nil {
		return Record{}, false, err
	}
	for otherID, body := range f.bodies {
		if otherID != id && bytes.Equal(body, req.Body) && !req.Force {
			return Record{}, false, &ExistsError{Record: f.docs[otherID]}
		}
	}
	return f.store(req.Category, req.FileName, req.Body), !exists, nil
}

func (f *fakeBackend) Delete(_ context.Context, docID string, ifMatch Match) (bool, error) {
	rec, err := f.get(docID)
	if err == nil {
		err = CheckMatch(ifMatch, Match{}, rec.FileHash)
	}
	return !f.notDone, err
}

func (f *fakeBackend) Reindex(_ context.Context, docID string) (Job, error) {
	_, err := f.get(docID)
	return Job{Documents: JobDocuments{Checked: 1}}, err
}

func (f *fakeBackend) Reconcile(_ context.Context, dryRun bool) (Job, error) {
	f.dryRun = dryRun
	return Job{}, f.err
}

func (f *fakeBackend) Lookups(_ context.Context, since time.Time, limit int) ([]HistoryEntry, error) {
	f.since = since
	return []HistoryEntry{{Query: "q"}}, f.err
}

func (f *fakeBackend) Stats(_ context.Context, since time.Time) (Stats, error) {
	f.since = since
	return Stats{Lookups: 1, Unanswered: []StatsQuestion{{Query: "q", Count: 1}}}, f.err
}

// house is a running server with a fake behind it.
type house struct {
	*fakeBackend
	t      testing.TB
	sock   string
	url    string // of the loopback door
	client *http.Client
	logs   *lockedBuffer
	stop   func() error // ends Serve and gives its error
}

// openHouse starts a server on a socket and a free loopback port; change may set anything else.
func openHouse(t testing.TB, change func(*Config)) *house {
	t.Helper()
	h := &house{fakeBackend: newFake(), t: t, sock: shortPath(t, "kd.sock"), logs: &lockedBuffer{}}
	cfg := Config{Backend: h.fakeBackend, Version: "9.9", Socket: h.sock, HTTP: "127.0.0.1:0", MaxFileSize: 1 << 20}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, slog.New(slog.NewJSONHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	h.stop = sync.OnceValue(func() error { cancel(); return <-done })
	h.url = "http://" + s.HTTPAddr()
	h.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		if address == "sock:80" {
			return (&net.Dialer{}).DialContext(ctx, "unix", h.sock)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}}
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		if err := h.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return h
}

// shortPath is a path that fits into a socket's address whatever the test's name is.
func shortPath(t testing.TB, name string) string {
	dir, err := os.MkdirTemp("", "kd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, name)
}

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	body   string
	closed bool // the connection ends with this answer
}

func (r reply) json(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		t.Fatalf("answer is not JSON: %v: %s", err, r.body)
	}
	return m
}

// ask sends a request; a path goes to the socket, a URL where it says. headers are name, value, …
func (h *house) ask(method, target, body string, headers ...string) reply {
	h.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = "http://sock" + target
	}
	req, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := h.client.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, target, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, target, err)
	}
	return reply{resp.StatusCode, resp.Header, string(data), resp.Close}
}

// problem asserts an RFC 9457 answer and gives it.
func (h *house) problem(r reply, status int) Problem {
	h.t.Helper()
	if r.status != status {
		h.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	if ct := r.header.Get("Content-Type"); ct != "application/problem+json" {
		h.t.Errorf("content type %q", ct)
	}
	var p Problem
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		h.t.Fatalf("problem: %v: %s", err, r.body)
	}
	if p.Status != status || p.Title != http.StatusText(status) || p.Detail == "" || p.RequestID == "" || p.RequestID != r.header.Get("X-Request-Id") {
		h.t.Errorf("incomplete problem: %+v", p)
	}
	return p
}

// eventually waits for what another goroutine does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var _ backend = (*fakeBackend)(nil)

func contextDeadline() error { return context.DeadlineExceeded }

func panics(context.Context, lookup.Request) (*lookup.Answer, error) {
	none, i := []int{}, 0
	return &lookup.Answer{RequestID: string(rune(none[i]))}, nil
}

func testLog(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// serveOnce serves a handler on a loopback port while use runs.
func serveOnce(t testing.TB, h http.Handler, use func(url string)) {
	s := httptest.NewServer(h)
	defer http.DefaultClient.CloseIdleConnections()
	defer s.Close()
	use(s.URL)
}
