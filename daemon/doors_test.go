package daemon

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/lookup"
)

// SPEC 6.1, 7.1: the daemon behind its socket; a request's id is that of the indexing it causes, vectors included.
func TestDoors_6_1_7_1(t *testing.T) {
	w := newWorld(t)
	dir, err := os.MkdirTemp("", "kd") // a socket's path must be short
	w.must(err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	w.cfg.IPC.Socket = filepath.Join(dir, "s")
	w.cfg.IPC.HTTP = config.HTTPOff
	w.open()
	serve, err := w.Doors(nil)
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.Run(ctx, serve) })
	defer func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Errorf("Run: %v", err)
		}
		w.must(w.Close())
	}()
	if w.HTTPAddr() != "off" {
		t.Errorf("HTTP at %s", w.HTTPAddr())
	}
	client := &ipc.Client{Socket: w.cfg.IPC.Socket}
	defer client.Close()
	if s, err := client.Status(ctx); err != nil || s.BasePath != w.base || s.Version != "test" || s.HTTP.On || s.HTTP.Reason != "ipc.http is off" {
		t.Errorf("%+v, %v", s, err)
	}
	raw := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", w.cfg.IPC.Socket)
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://localhost/v1/documents/api/a.md?wait=l1", strings.NewReader(doc("Alpha", "kw-alpha")))
	w.must(err)
	req.Header.Set("X-Request-Id", "my-request")
	res, err := raw.Do(req)
	w.must(err)
	var rec ipc.Record
	w.must(json.NewDecoder(res.Body).Decode(&rec))
	res.Body.Close()
	if res.StatusCode != http.StatusCreated || rec.Source != "kb/api/a.md" || rec.Status != ipc.StatusIndexed {
		t.Errorf("%s: %+v", res.Status, rec)
	}
	for _, msg := range []string{"document indexed", "document's vectors stored"} {
		w.eventually("logged", func() bool { return len(w.log.lines(msg)) > 0 })
		if line := w.log.lines(msg); len(line) != 1 || line[0]["requestId"] != "my-request" || line[0]["path"] != "api/a.md" {
			t.Errorf("%s: %v", msg, line)
		}
	}
	if a, err := client.Lookup(ctx, lookup.Request{Query: "kw-alpha"}); err != nil || a.Primary == nil || a.Primary.DocID != rec.DocID {
		t.Errorf("%+v, %v", a, err)
	}
}

// embedServer is an OpenAI-compatible server that counts the passages it is asked for.
type embedServer struct {
	texts atomic.Int64 // those of questions are none: calibration asks some whenever it finds the time
	down  atomic.Bool
}

func (s *embedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input []string
		Kind  string // as remoteWorld configures it
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || s.down.Load() {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	}
	type row struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var out struct {
		Data []row `json:"data"`
	}
	for i, text := range in.Input {
		if in.Kind != "question" {
			s.texts.Add(1)
		}
		vector := make([]float32, 16)
		for j, c := range []byte(text) {
			vector[j%16] += float32(c)
		}
		out.Data = append(out.Data, row{i, vector})
	}
	_ = json.NewEncoder(w).Encode(out)
}

func remoteWorld(t *testing.T) (*world, *embedServer) {
	fake := &embedServer{}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	w := newWorld(t)
	t.Cleanup(w.halt) // before the server
	w.cfg.Embedding.Provider = config.ProviderOpenAI
	w.cfg.Embedding.OpenAI.BaseURL = server.URL + "/v1"
	w.cfg.Embedding.OpenAI.Model = "fake"
	w.cfg.Embedding.OpenAI.QueryBody = map[string]any{"kind": "question"}
	return w, fake
}

// SPEC 3.4: a moved document is embedded from the cache; an edit asks only for what changed.
func TestMoveEmbedsNothing_3_4(t *testing.T) {
	w, fake := remoteWorld(t)
	w.save("dir/a.md", doc("Alpha", "kw-alpha"))
	w.save("dir/b.md", doc("Beta", "kw-beta"))
	w.start()
	if n := fake.texts.Load(); n < 4 {
		t.Fatalf("%d texts embedded", n)
	}
	before := fake.texts.Load()
	w.move("dir", "moved/dir")
	w.eventually("moved", func() bool { return w.has("moved/dir/a.md") && w.has("moved/dir/b.md") && !w.has("dir/a.md") })
	w.idle()
	if n := fake.texts.Load() - before; n != 0 || w.l1.Status().Chunks != 4 || w.record("moved/dir/a.md").Status != ipc.StatusIndexed {
		t.Errorf("%d texts embedded for a move; %d vectors", n, w.l1.Status().Chunks)
	}
	w.save("moved/dir/a.md", doc("Alpha", "kw-alpha")+"\n## More\n\nnew text\n")
	w.eventually("edited", func() bool { return w.record("moved/dir/a.md").ChunkCount == 3 })
	w.idle()
	if n := fake.texts.Load() - before; n != 1 {
		t.Errorf("%d texts embedded for an edit", n)
	}
}

// SPEC 2.10, 5.1: with the embedding server away keywords answer, an upload is INDEXING, and nothing else waits.
func TestEmbeddingAway_2_10_5_1(t *testing.T) {
	w, fake := remoteWorld(t)
	fake.down.Store(true)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.open().run()
	w.eventually("scanned", func() bool { return w.status().Ready })
	if !w.answers("kw-alpha", "a.md") {
		t.Error("keywords wait for vectors")
	}
	rec := w.mustPut("", "b.md", doc("Beta", "kw-beta"))
	if rec.Status != ipc.StatusIndexing || rec.InL1 || !w.answers("kw-beta", "b.md") {
		t.Errorf("record %+v", rec)
	}
	w.eventually("down", func() bool { return w.status().L1.State == ipc.L1Down })
	if a := w.ask("something in other words"); len(a.Degraded) != 1 || a.Degraded[0] != lookup.DegradedL1 {
		t.Errorf("degraded %v", a.Degraded)
	}
	fake.down.Store(false)
	w.idle()
	if s := w.status(); s.L1.State != ipc.L1Ready || s.Documents.L1 != 2 || s.L1.LastError != "" {
		t.Errorf("status %+v", s)
	}
}
