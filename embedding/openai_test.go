package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeServer answers as OpenAI does, with vectors of Hash, unless answer deals with the call. There can be one a test.
type fakeServer struct {
	*httptest.Server
	dims   atomic.Int64
	opened atomic.Int64 // connections

	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request, texts []string) (done bool)
	calls  []fakeCall
}

type fakeCall struct {
	path, query, key string
	body             map[string]any
	texts            []string
	at               time.Time
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{}
	s.dims.Store(16)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.handle))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(func() { // the providers are closed by now, and all that they started must have ended
		s.Close()
		goleak.VerifyNone(t)
	})
	return s
}

func (s *fakeServer) handle(w http.ResponseWriter, r *http.Request) {
	c := fakeCall{path: r.URL.Path, query: r.URL.RawQuery, key: r.Header.Get("Authorization"), at: time.Now()}
	if err := json.NewDecoder(r.Body).Decode(&c.body); err != nil {
		return // the caller left
	}
	for _, text := range c.body["input"].([]any) {
		c.texts = append(c.texts, text.(string))
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	answer := s.answer
	s.mu.Unlock()
	if answer == nil || !answer(w, r, c.texts) {
		s.vectors(w, c.texts)
	}
}

func (s *fakeServer) vectors(w io.Writer, texts []string) {
	hash := Hash{Dims: int(s.dims.Load())}
	var data []map[string]any
	for i, text := range texts {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": hash.encode(text)})
	}
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

func (s *fakeServer) set(answer func(w http.ResponseWriter, r *http.Request, texts []string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// refuse answers every call with a status.
func (s *fakeServer) refuse(status int, body string, headers ...string) {
	s.set(func(w http.ResponseWriter, _ *http.Request, _ []string) bool {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
		return true
	})
}

// reply answers every call with these words.
func (s *fakeServer) reply(body string) { s.refuse(http.StatusOK, body) }

// take gives the calls since the last take.
func (s *fakeServer) take() []fakeCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// refuseIf answers with a status where one of the texts is bad.
func (s *fakeServer) refuseIf(status int, body string, bad func(text string) bool) {
	s.set(func(w http.ResponseWriter, _ *http.Request, texts []string) bool {
		if !slices.ContainsFunc(texts, bad) {
			return false
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
		return true
	})
}

// safeBuffer is a log that goroutines write to.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// newOpenAI makes a provider of the server.
func newOpenAI(t *testing.T, s *fakeServer, change func(*OpenAIConfig)) (*OpenAI, *safeBuffer) {
	t.Helper()
	c := OpenAIConfig{BaseURL: s.URL + "/v1", Model: "m", Batch: 32, Timeout: 20 * time.Second}
	if change != nil {
		change(&c)
	}
	log := &safeBuffer{}
	o, err := NewOpenAI(c, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o, log
}

func passages(texts ...string) []Passage {
	out := make([]Passage, len(texts))
	for i, text := range texts {
		out[i] = Passage{Text: text}
	}
	return out
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("text number %d", i)
	}
	return out
}

// wantVectors fails unless each text has its own vector, and the bad ones an error.
func wantVectors(t *testing.T, s *fakeServer, texts []string, got [][]float32, err error, bad ...int) {
	t.Helper()
	var failed *PassageErrors
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	hash := Hash{Dims: int(s.dims.Load())}
	for i, text := range texts {
		if slices.Contains(bad, i) {
			if failed == nil || failed.Errs[i] == nil || got[i] != nil {
				t.Errorf("text %d has a vector %v", i, got[i])
			}
			continue
		}
		if failed != nil && failed.Errs[i] != nil {
			t.Errorf("text %d failed: %v", i, failed.Errs[i])
			continue
		}
		want := hash.encode(text)
		for d := range want {
			if diff := want[d] - got[i][d]; diff > 1e-5 || diff < -1e-5 {
				t.Errorf("text %d has another text's vector", i)
				break
			}
		}
	}
}

// SPEC 3.5, 3.2: the request that any compatible server understands; what models want besides is configurable.
func TestOpenAIRequest_3_5(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) {
		c.QueryPrefix, c.DocumentPrefix = "query: ", "passage: "
		c.QueryBody = map[string]any{"input_type": "query", "encoding_format": "float"}
		c.DocumentBody = map[string]any{"input_type": "passage", "truncate_prompt_tokens": 512}
		c.Dimensions = 16
	})
	if _, err := o.EmbedQuery(t.Context(), "超时 <b>"); err != nil {
		t.Fatal(err)
	}
	calls := s.take()
	if len(calls) != 1 || calls[0].path != "/v1/embeddings" || calls[0].key != "" {
		t.Fatalf("calls %+v", calls)
	}
	want := map[string]any{
		"model": "m", "input": []any{"query: 超时 <b>"}, "dimensions": 16., "input_type": "query", "encoding_format": "float",
	}
	if got := calls[0].body; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("query body %v, want %v", got, want)
	}
	if _, err := o.EmbedPassages(t.Context(), []Passage{{"Guide > Setup", "Run it."}, {"", "Alone."}}); err != nil {
		t.Fatal(err)
	}
	want = map[string]any{
		"model": "m", "input": []any{"passage: Guide > Setup\nRun it.", "passage: Alone."}, "dimensions": 16.,
		"input_type": "passage", "truncate_prompt_tokens": 512.,
	}
	if got := s.take()[0].body; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("passage body %v, want %v", got, want)
	}
}

func TestOpenAIAddress(t *testing.T) {
	for base, want := range map[string]string{
		"/v1": "/v1/embeddings", "/v1/": "/v1/embeddings", "/v1/embeddings": "/v1/embeddings", "": "/embeddings",
		"/openai/deployments/x?api-version=1": "/openai/deployments/x/embeddings",
	} {
		t.Run(base, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.BaseURL = s.URL + base })
			if _, err := o.EmbedQuery(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
			c := s.take()[0]
			if _, query, _ := strings.Cut(base, "?"); c.path != want || c.query != query {
				t.Errorf("asked at %s?%s", c.path, c.query)
			}
		})
	}
}

func TestNewOpenAIRefuses(t *testing.T) {
	for want, change := range map[string]func(*OpenAIConfig){
		"base_url":                   func(c *OpenAIConfig) { c.BaseURL = "localhost" },
		`query_body: "input"`:        func(c *OpenAIConfig) { c.QueryBody = map[string]any{"input": 1} },
		`document_body: "model"`:     func(c *OpenAIConfig) { c.DocumentBody = map[string]any{"model": "x"} },
		"encoding_format base64":     func(c *OpenAIConfig) { c.QueryBody = map[string]any{"encoding_format": "base64"} },
		"document_body: json":        func(c *OpenAIConfig) { c.DocumentBody = map[string]any{"x": make(chan int)} },
		"query_body: json":           func(c *OpenAIConfig) { c.QueryBody = map[string]any{"x": make(chan int)} },
		`document_body: "dimensions`: func(c *OpenAIConfig) { c.DocumentBody = map[string]any{"dimensions": 5} },
	} {
		c := OpenAIConfig{BaseURL: "http://h/v1", Model: "m"}
		change(&c)
		if _, err := NewOpenAI(c, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// The name tells vectors apart that differ, and no others: moving a server re-embeds nothing.
func TestOpenAIName(t *testing.T) {
	name := func(change func(*OpenAIConfig)) string {
		c := OpenAIConfig{BaseURL: "http://a/v1", Model: "bge-m3", Batch: 1}
		change(&c)
		o, err := NewOpenAI(c, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return o.Name()
	}
	plain := name(func(*OpenAIConfig) {})
	if !strings.HasPrefix(plain, "openai-bge-m3-") {
		t.Errorf("name %s", plain)
	}
	for what, change := range map[string]func(*OpenAIConfig){
		"model":           func(c *OpenAIConfig) { c.Model = "e5" },
		"dimensions":      func(c *OpenAIConfig) { c.Dimensions = 256 },
		"document_prefix": func(c *OpenAIConfig) { c.DocumentPrefix = "passage: " },
		"document_body":   func(c *OpenAIConfig) { c.DocumentBody = map[string]any{"input_type": "passage"} },
	} {
		if name(change) == plain {
			t.Errorf("another %s has the same name", what)
		}
	}
	for what, change := range map[string]func(*OpenAIConfig){
		"address":      func(c *OpenAIConfig) { c.BaseURL = "https://b:99/v1" },
		"key":          func(c *OpenAIConfig) { c.APIKeyFile = "/key" },
		"query_prefix": func(c *OpenAIConfig) { c.QueryPrefix = "query: " },
		"query_body":   func(c *OpenAIConfig) { c.QueryBody = map[string]any{"input_type": "query"} },
		"empty body":   func(c *OpenAIConfig) { c.DocumentBody = map[string]any{} },
		"batch":        func(c *OpenAIConfig) { c.Batch = 7 },
	} {
		if name(change) != plain {
			t.Errorf("another %s has another name", what)
		}
	}
}

func TestOpenAIBlankTextsAreNotSent(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 16 })
	if v, err := o.EmbedQuery(t.Context(), " \n"); err != nil || len(v) != 16 || !IsZero(v) {
		t.Errorf("blank query: %v, %v", v, err)
	}
	texts := []string{"a", " \n\t", "b"}
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err, 1)
	var failed *PassageErrors
	if !errors.As(err, &failed) || !errors.Is(failed.Errs[1], ErrNothingKnown) {
		t.Errorf("error %v", err)
	}
	if calls := s.take(); len(calls) != 1 || !slices.Equal(calls[0].texts, []string{"a", "b"}) {
		t.Errorf("calls %+v", calls)
	}
}

// SPEC 3.5: batches; a bounded number at a time, and only one as long as nobody knows whether the server works.
func TestOpenAIBatches(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 3; c.Dimensions = 16 })
	var now, most, answered, early atomic.Int64
	s.set(func(w http.ResponseWriter, _ *http.Request, texts []string) bool {
		n := now.Add(1)
		defer now.Add(-1)
		if answered.Load() == 0 && n > 1 {
			early.Add(1)
		}
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		if answered.Load() > 0 { // let the others come
			deadline := time.Now().Add(100 * time.Millisecond)
			for now.Load() < maxBatches && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
		}
		s.vectors(w, texts)
		answered.Add(1)
		return true
	})
	texts := numbered(31)
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err)
	if early.Load() > 0 || most.Load() != maxBatches {
		t.Errorf("%d at a time, %d beside the first", most.Load(), early.Load())
	}
	for _, c := range s.take() {
		if len(c.texts) > 3 {
			t.Errorf("%d texts in a call", len(c.texts))
		}
	}
	if n := s.opened.Load(); n > maxBatches {
		t.Errorf("%d connections for %d at a time", n, maxBatches)
	}
}

// A connection that the server closed while it was idle costs nobody an error.
func TestOpenAIStaleConnection(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	for range 5 {
		if _, err := o.EmbedQuery(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		s.CloseClientConnections()
	}
}

// SPEC 3.6: a caller who leaves ends the call at once, on the server's side too.
func TestOpenAIEndsWithContext(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 16 })
	arrived, left := make(chan struct{}), make(chan struct{})
	s.set(func(_ http.ResponseWriter, r *http.Request, _ []string) bool {
		arrived <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
		return true
	})
	for what, call := range map[string]func(context.Context) error{
		"query":    func(ctx context.Context) error { _, err := o.EmbedQuery(ctx, "x"); return err },
		"passages": func(ctx context.Context) error { _, err := o.EmbedPassages(ctx, passages("x")); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- call(ctx) }()
		<-arrived
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
		<-left
	}
}

// Lookups that wait are bounded, and leave when their time is over.
func TestOpenAIBoundsQueries(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	s.set(func(_ http.ResponseWriter, r *http.Request, _ []string) bool { <-r.Context().Done(); return true })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 5 * maxQueries {
		wg.Go(func() {
			if _, err := o.EmbedQuery(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(s.take()); n > maxQueries {
		t.Errorf("%d calls", n)
	}
	s.set(nil)
	if _, err := o.embedQuery(t.Context(), "x"); err != nil { // past the breaker, which may have opened
		t.Errorf("afterwards: %v", err)
	}
}
