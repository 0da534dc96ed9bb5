package ipc

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"knowledged/lookup"

	"github.com/prometheus/client_golang/prometheus"
)

func TestLookup(t *testing.T) {
	h := openHouse(t, nil)
	r := h.ask("POST", "/v1/lookup", `{"query":"超时","sectionTitle":"s","category":"c","topK":7,"alwaysSemantic":true,"content":"full","explain":true}`,
		"Content-Type", "application/json; charset=UTF-8", "X-Request-Id", "abc_DEF-1", "User-Agent", "agent/2.0 (x)")
	if r.status != 200 || r.header.Get("Content-Type") != "application/json" || r.json(t)["requestId"] != "abc_DEF-1" || r.header.Get("X-Request-Id") != "abc_DEF-1" {
		t.Errorf("answer: %+v", r)
	}
	r = h.ask("GET", "/v1/lookup?query=%E8%B6%85%E6%97%B6&sectionTitle=s&category=c&topK=7&alwaysSemantic=1&content=full&explain", "", "User-Agent", "agent/2.0 (x)")
	if r.status != 200 {
		t.Errorf("GET: %+v", r)
	}
	want := lookup.Request{
		Query: "超时", SectionTitle: "s", Category: "c", TopK: 7, AlwaysSemantic: true, Content: "full", Explain: true, Tool: "agent/2.0",
		Caller: fmt.Sprintf("uid=%d pid=%d", os.Getuid(), os.Getpid()),
	}
	for i, got := range h.asked {
		if i == 1 && (len(got.RequestID) != 8 || got.RequestID != r.header.Get("X-Request-Id")) {
			t.Errorf("request id %q", got.RequestID)
		}
		got.RequestID = ""
		if got != want {
			t.Errorf("asked %+v\nwant  %+v", got, want)
		}
	}
	if len(h.asked) != 2 {
		t.Errorf("%d lookups", len(h.asked))
	}
}

// The longest query that the engine takes fits through both doors, however it is escaped.
func TestLongestQuery(t *testing.T) {
	h := openHouse(t, nil)
	query := strings.Repeat("🚀", lookup.MaxQuery)
	escaped := strings.Repeat(`\ud83d\ude80`, lookup.MaxQuery)
	for _, r := range []reply{
		h.ask("GET", h.url+"/v1/lookup?query="+url.QueryEscape(query), ""),
		h.ask("POST", "/v1/lookup", `{"query":"`+escaped+`"}`, "Content-Type", "application/json"),
	} {
		if r.status != 200 {
			t.Errorf("%+v", r)
		}
	}
	if len(h.asked) != 2 || h.asked[0].Query != query || h.asked[1].Query != query {
		t.Error("it arrived as another")
	}
}

// SPEC 7.1: an id that could forge a log line or a header is replaced.
func TestRequestID_7_1(t *testing.T) {
	h := openHouse(t, nil)
	for id, taken := range map[string]bool{"a": true, strings.Repeat("Z", 64): true, strings.Repeat("Z", 65): false, "a b": false, "ü": false, "a;b": false, "": false} {
		got := h.ask("GET", "/healthz", "", "X-Request-Id", id).header.Get("X-Request-Id")
		if taken != (got == id) || !taken && len(got) != 8 {
			t.Errorf("%q became %q", id, got)
		}
	}
}

func TestLookupRefusals(t *testing.T) {
	h := openHouse(t, nil)
	const js = "application/json"
	for _, c := range []struct {
		name, method, target, body, contentType string
		status                                  int
		field                                   string
	}{
		{"blank", "POST", "/v1/lookup", `{"query":" "}`, js, 400, "query"},
		{"unknown field", "POST", "/v1/lookup", `{"query":"q","k":1}`, js, 400, "k"},
		{"null", "POST", "/v1/lookup", `{"query":null}`, js, 400, "query"},
		{"not JSON", "POST", "/v1/lookup", `query=q`, js, 400, ""},
		{"no body", "POST", "/v1/lookup", ``, js, 400, ""},
		{"text/plain", "POST", "/v1/lookup", `{"query":"q"}`, "text/plain", 415, ""},
		{"form", "POST", "/v1/lookup", `query=q`, "application/x-www-form-urlencoded", 415, ""},
		{"no type", "POST", "/v1/lookup", `{"query":"q"}`, "", 415, ""},
		{"broken type", "POST", "/v1/lookup", `{"query":"q"}`, "application/json; =", 415, ""},
		{"other charset", "POST", "/v1/lookup", `{"query":"q"}`, "application/json; charset=gbk", 415, ""},
		{"too long", "POST", "/v1/lookup", `{"query":"` + strings.Repeat("x", maxLookupBody) + `"}`, js, 413, ""},
		{"parameter", "POST", "/v1/lookup?topK=3", `{"query":"q"}`, js, 400, "topK"},
		{"no query", "GET", "/v1/lookup", "", "", 400, "query"},
		{"unknown parameter", "GET", "/v1/lookup?query=q&top_k=3", "", "", 400, "top_k"},
		{"repeated", "GET", "/v1/lookup?query=q&query=r", "", "", 400, "query"},
		{"topK", "GET", "/v1/lookup?query=q&topK=x", "", "", 400, "topK"},
		{"topK too high", "GET", "/v1/lookup?query=q&topK=51", "", "", 400, "topK"},
		{"topK too low", "GET", "/v1/lookup?query=q&topK=0", "", "", 400, "topK"},
		{"topK too low in a body", "POST", "/v1/lookup", `{"query":"q","topK":0}`, js, 400, "topK"},
		{"flag", "GET", "/v1/lookup?query=q&explain=maybe", "", "", 400, "explain"},
		{"not UTF-8", "GET", "/v1/lookup?query=%ff", "", "", 400, "query"},
		{"escape", "GET", "/v1/lookup?query=%zz", "", "", 400, "query string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			p := h.problem(h.ask(c.method, c.target, c.body, "Content-Type", c.contentType), c.status)
			if c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
				t.Errorf("errors %+v, want field %s", p.Errors, c.field)
			}
		})
	}
	if n := strings.Count(h.logs.String(), `"level":"ERROR"`) + strings.Count(h.logs.String(), `"level":"WARN"`); n != 0 {
		t.Errorf("a client's mistake is not the daemon's: %d lines in the log", n)
	}
}

func TestReadingDocuments(t *testing.T) {
	h := openHouse(t, nil)
	hash := h.docs["ops-a.md"].FileHash
	for _, c := range []struct {
		target string
		want   map[string]any // some of the answer's fields
		etag   bool
	}{
		{"/v1/documents/ops-a.md", map[string]any{
			"docId": "ops-a.md", "source": "kb/ops/a.md", "fileHash": hash, "status": "INDEXED", "title": "A <b>",
			"metadata": nil, "indexedAt": nil, "inL0": false, "errorMessage": "",
		}, true},
		{"/v1/documents/by-source?source=kb/ops/a.md", map[string]any{"docId": "ops-a.md"}, true},
		{"/v1/documents/ops-a.md/content", map[string]any{"content": "# A\n\nbody", "truncated": false, "section": nil}, true},
		{"/v1/documents/ops-a.md/content?maxChars=3", map[string]any{"content": "# A", "truncated": true}, false},
		{"/v1/documents/ops-a.md/chunks", nil, false},
		{"/v1/documents", map[string]any{"nextCursor": ""}, false},
		{"/v1/status", map[string]any{"version": "test", "ready": true, "updates": 0.0}, false},
		{"/v1/lookups", nil, false},
		{"/v1/stats", map[string]any{"lookups": 1.0}, false},
	} {
		r := h.ask("GET", c.target, "")
		if r.status != 200 || strings.Contains(r.body, `"keywords":null`) || strings.Contains(r.body, `:null,"aliases`) {
			t.Errorf("%s: %d %s", c.target, r.status, r.body)
		}
		got := r.json(t)
		for k, v := range c.want {
			if got[k] != v {
				t.Errorf("%s: %s is %v, want %v", c.target, k, got[k], v)
			}
		}
		if (r.header.Get("ETag") == `"`+hash+`"`) != c.etag {
			t.Errorf("%s: ETag %q", c.target, r.header.Get("ETag"))
		}
	}
	rec := h.ask("GET", "/v1/documents/ops-a.md", "").json(t)
	for _, k := range []string{"keywords", "aliases", "warnings"} {
		if l, isList := rec[k].([]any); !isList || len(l) != 0 {
			t.Errorf("%s is %v, want an empty list", k, rec[k])
		}
	}
	head := h.ask("HEAD", "/v1/documents/ops-a.md", "")
	if head.status != 200 || head.body != "" || head.header.Get("ETag") == "" {
		t.Errorf("HEAD: %+v", head)
	}
}

func TestDocumentsQuery(t *testing.T) {
	h := openHouse(t, nil)
	h.ask("GET", "/v1/documents?category=ops&status=FAILED&layer=l1&q=x&warnings=1&limit=500&cursor=c", "")
	want := DocumentsQuery{Category: "ops", Status: StatusFailed, Layer: "l1", Q: "x", Warnings: true, Limit: 500, Cursor: "c"}
	if h.queries[0] != want {
		t.Errorf("%+v", h.queries[0])
	}
	for target, field := range map[string]string{
		"/v1/documents?status=indexed":                       "status",
		"/v1/documents?layer=l3":                             "layer",
		"/v1/documents?limit=0":                              "limit",
		"/v1/documents?limit=1001":                           "limit",
		"/v1/documents?limit=1.5":                            "limit",
		"/v1/documents?page=2":                               "page",
		"/v1/documents?cursor=broken":                        "cursor",
		"/v1/documents/by-source":                            "source",
		"/v1/documents/ops-a.md?x=1":                         "x",
		"/v1/documents/ops-a.md/chunks?x=1":                  "x",
		"/v1/documents/ops-a.md/content?maxChars=0":          "maxChars",
		"/v1/documents/ops-a.md/content?maxChars=9999999999": "maxChars",
		"/v1/status?x":                                       "x",
		"/v1/events?x":                                       "x",
		"/v1/lookups?limit=-1":                               "limit",
		"/v1/lookups?since=yesterday":                        "since",
		"/v1/stats?since=-1h":                                "since",
	} {
		if p := h.problem(h.ask("GET", target, ""), 400); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", target, p)
		}
	}
}

func TestSince(t *testing.T) {
	h := openHouse(t, nil)
	h.ask("GET", "/v1/stats?since=2026-01-02T03:04:05Z", "")
	if !h.since.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("since %v", h.since)
	}
	h.ask("GET", "/v1/lookups?since=24h", "")
	if ago := time.Since(h.since); ago < 24*time.Hour || ago > 25*time.Hour {
		t.Errorf("since %v", h.since)
	}
}

func TestNotFoundAndWrongMethod(t *testing.T) {
	h := openHouse(t, nil)
	for _, target := range []string{"/v1/documents/none", "/v1/documents/none/content", "/v1/documents/none/chunks", "/v1/documents/by-source?source=kb/none.md", "/nothing", "/", "/v1/", "/v1/documents/"} {
		h.problem(h.ask("GET", target, ""), 404)
	}
	h.problem(h.ask("POST", "/v1/documents/none/reindex", ""), 404)
	h.problem(h.ask("DELETE", "/v1/documents/none", ""), 404)
	for _, c := range [][3]string{{"GET", "/v1/reconcile", "POST"}, {"DELETE", "/v1/documents", "GET, HEAD, POST"}, {"PUT", "/v1/documents/x", "GET, HEAD, DELETE"}, {"POST", "/v1/status", "GET, HEAD"}, {"OPTIONS", "/v1/lookup", "GET, HEAD, POST"}} {
		r := h.ask(c[0], c[1], "")
		if p := h.problem(r, 405); strings.Contains(p.Detail, "POST /v1/documents.") != (c[0] == "PUT") || !strings.HasPrefix(p.Detail, c[0]+" is not for this path") {
			t.Errorf("%s %s: %s", c[0], c[1], p.Detail)
		}
		if r.header.Get("Allow") != c[2] {
			t.Errorf("%s %s: Allow %q", c[0], c[1], r.header.Get("Allow"))
		}
	}
	for _, target := range []string{"/v1/documents/../status", "/v1//status", "/./healthz", "//healthz"} {
		h.problem(h.ask("GET", "http://sock"+target, ""), 400)
	}
}

func TestJobs(t *testing.T) {
	h := openHouse(t, nil)
	r := h.ask("POST", "/v1/documents/ops-a.md/reindex", "{}", "Content-Type", "application/json")
	if got := r.json(t); r.status != 200 || got["requestId"] != r.header.Get("X-Request-Id") || len(got["problems"].([]any)) != 0 {
		t.Errorf("reindex: %+v", r)
	}
	if r = h.ask("POST", "/v1/reconcile?dryRun=true", ""); r.status != 200 || r.json(t)["dryRun"] != true || !h.dryRun {
		t.Errorf("reconcile: %+v", r)
	}
	for _, target := range []string{"/v1/reconcile", "/v1/documents/ops-a.md/reindex"} {
		h.problem(h.ask("POST", target, "x", "Content-Type", "text/plain"), 415)
		h.problem(h.ask("POST", target, "", "Content-Type", "text/plain"), 415)
		h.problem(h.ask("POST", target, `{"a":1}`, "Content-Type", "application/json"), 400)
		h.problem(h.ask("POST", target+"?x=1", ""), 400)
		h.problem(h.ask("POST", target, strings.Repeat(" ", 2000), "Content-Type", "application/json"), 413)
	}
}

// A client that is in the middle of sending too much gets its answer, and keeps its connection if the rest is small.
func TestTooLargeIsAnsweredWithoutABreak(t *testing.T) {
	h := openHouse(t, nil)
	for size, closes := range map[int]bool{400 << 10: false, 3 << 20: true} {
		r := h.ask("POST", "/v1/lookup", strings.Repeat("x", size), "Content-Type", "application/json")
		h.problem(r, 413)
		if r.closed != closes {
			t.Errorf("%d bytes: connection closed %v, want %v", size, r.closed, closes)
		}
	}
}

func TestHealth(t *testing.T) {
	h := openHouse(t, nil)
	h.unready = true
	if r := h.ask("GET", "/healthz", ""); r.status != 200 || r.body != "ok\n" {
		t.Errorf("healthz: %+v", r)
	}
	if p := h.problem(h.ask("GET", "/readyz", ""), 503); p.Detail == "" {
		t.Error("no reason")
	}
	h.unready = false
	if r := h.ask("GET", "/readyz", ""); r.status != 200 {
		t.Errorf("readyz: %+v", r)
	}
}

// Every error of the backend has its status; the daemon's own faults are logged and not told.
func TestBackendErrors(t *testing.T) {
	h := openHouse(t, nil)
	for _, c := range []struct {
		err    error
		status int
		level  string
	}{
		{ErrNotFound, 404, ""},
		{fmt.Errorf("put x: %w", ErrTooLarge), 413, ""},
		{&InvalidError{"file", "is ignored"}, 400, ""},
		{&lookup.InputError{Field: "query", Message: "is empty"}, 400, ""},
		{&ExistsError{Record: Record{DocID: "other"}}, 409, ""},
		{&StaleError{Hash: "beef"}, 412, ""},
		{ErrUnavailable, 503, ""},
		{fmt.Errorf("write x: %w", ErrReadOnly), 503, "WARN"},
		{&MissingError{Path: "/srv/kb"}, 503, "WARN"},
		{fmt.Errorf("write x: %w", ErrNoSpace), 507, "WARN"},
		{fmt.Errorf("wait: %w", contextDeadline()), 504, ""},
		{errors.New("secret detail"), 500, "ERROR"},
	} {
		h.err = c.err
		before := len(h.logs.String())
		r := h.ask("PUT", "/v1/documents/ops/new.md", "x", "X-Request-Id", "find-me")
		h.problem(r, c.status)
		if missing := (*MissingError)(nil); errors.As(c.err, &missing) && !strings.Contains(r.body, "folder /srv/kb is missing: put it back") {
			t.Errorf("missing folder: %s", r.body)
		}
		if strings.Contains(r.body, "secret") {
			t.Errorf("told: %s", r.body)
		}
		log := h.logs.String()[before:]
		for _, level := range []string{"WARN", "ERROR"} {
			if strings.Contains(log, `"level":"`+level+`"`) != (level == c.level) {
				t.Errorf("%v: log %s", c.err, log)
			}
		}
		if c.level != "" && (!strings.Contains(log, `"requestId":"find-me"`) || !strings.Contains(log, c.err.Error())) {
			t.Errorf("%v: log does not say it: %s", c.err, log)
		}
	}
	for _, target := range []string{"/v1/status", "/v1/documents", "/v1/lookups", "/v1/stats", "/v1/lookup?query=q", "/v1/documents/x/content"} {
		h.problem(h.ask("GET", target, ""), 500)
	}
	h.problem(h.ask("POST", "/v1/reconcile", ""), 500)
}

// SPEC 7: one broken request must not end the daemon.
func TestPanicEndsOneRequest(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.Metrics = NewMetrics(prometheus.NewRegistry()) })
	h.answer = panics
	h.problem(h.ask("GET", "/v1/lookup?query=q", ""), 500)
	if log := h.logs.String(); !strings.Contains(log, "index out of range") || !strings.Contains(log, "ipc.panics(") {
		t.Errorf("log without cause and stack: %s", log)
	}
	if h.ask("GET", "/healthz", "").status != 200 {
		t.Error("the daemon is gone")
	}
	if line := `knowledged_http_requests_total{code="500",route="GET /v1/lookup"} 1`; !strings.Contains(h.ask("GET", "/metrics", "").body, line) {
		t.Error("the failure that matters most is not counted")
	}
}

// An answer that broke half-way must not look whole.
func TestPanicAfterWriting(t *testing.T) {
	for _, v := range []any{"late", http.ErrAbortHandler} {
		h := openHouse(t, nil)
		h2 := newHandler(Config{Backend: h.fakeBackend, BodyTimeout: time.Second, WriteTimeout: time.Second}, newGuard("", false, false), testLog(t))
		h2.mux.HandleFunc("GET /late", func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("half"))
			w.(http.Flusher).Flush()
			panic(v)
		})
		h.stop()
		serveOnce(t, h2, func(url string) {
			resp, err := http.Get(url + "/late")
			if err == nil {
				_, err = resp.Body.Read(make([]byte, 100))
				for err == nil {
					_, err = resp.Body.Read(make([]byte, 100))
				}
				resp.Body.Close()
				if err.Error() == "EOF" {
					t.Errorf("%v: half an answer ended as a whole one", v)
				}
			}
		})
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	h := openHouse(t, nil)
	doc := h.ask("GET", "/openapi.json", "").json(t)
	if doc["openapi"] != "3.1.0" || doc["info"].(map[string]any)["version"] != "9.9" {
		t.Errorf("%v %v", doc["openapi"], doc["info"])
	}
}

// SPEC 7.3: pprof on the socket only.
func TestPprofOnSocketOnly_7_3(t *testing.T) {
	h := openHouse(t, nil)
	if r := h.ask("GET", "/debug/pprof/goroutine?debug=1", ""); r.status != 200 || !strings.Contains(r.body, "goroutine profile") {
		t.Errorf("socket: %d", r.status)
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/profile", "/debug/pprof/heap"} {
		h.problem(h.ask("GET", h.url+path, ""), 404)
	}
}
