package ipc

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// SPEC 7.3: /metrics on both doors, guarded as reading is; requests are counted by route, not by path.
func TestMetrics_7_3(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t0ken"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openHouse(t, func(c *Config) {
		c.Metrics, c.HTTPAuth, c.TokenFile = NewMetrics(prometheus.NewRegistry()), "all", token
	})
	h.store("ops", "a.md", []byte("# A\n"))
	h.ask("GET", "/v1/documents/ops-a.md", "")
	h.ask("GET", "/v1/documents/ops-b.md", "")
	h.ask("GET", "/nothing/here/"+strings.Repeat("x", 20), "")
	h.ask("PUT", "/v1/documents/x/chunks", "")
	r := h.ask("GET", "/metrics", "")
	if r.status != http.StatusOK || !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%d %s", r.status, r.header.Get("Content-Type"))
	}
	for _, line := range []string{
		`knowledged_http_requests_total{code="200",route="GET /v1/documents/{docId}"} 1`,
		`knowledged_http_requests_total{code="404",route="GET /v1/documents/{docId}"} 1`,
		`knowledged_http_requests_total{code="404",route="none"} 1`,
		`knowledged_http_requests_total{code="405",route="PUT /v1/documents/{docId}/chunks"} 1`,
		`knowledged_http_requests_total{code="200",route="POST /v1/lookup"} 0`,
	} {
		if !strings.Contains(r.body, line+"\n") {
			t.Errorf("no %s in\n%s", line, r.body)
		}
	}
	res, err := http.Get(h.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", res.Status)
	}
	h.problem(h.ask("GET", "/metrics?x=1", ""), http.StatusBadRequest)
	h.problem(openHouse(t, nil).ask("GET", "/metrics", ""), http.StatusNotFound)
}

// A path that a route with wildcards would take for its own is a wrong method, and Allow names what there is.
func TestShadowedPathsAreWrongMethods(t *testing.T) {
	h := openHouse(t, nil)
	for _, c := range [][3]string{
		{"PUT", "/v1/documents/x/content", "GET, HEAD"},
		{"PUT", "/v1/documents/x/chunks", "GET, HEAD"},
		{"PUT", "/v1/documents/x/reindex", "POST"},
		{"DELETE", "/v1/documents/by-source", "GET, HEAD"},
		{"OPTIONS", "/v1/documents/by-source", "GET, HEAD"},
	} {
		r := h.ask(c[0], c[1], "")
		if h.problem(r, http.StatusMethodNotAllowed); r.header.Get("Allow") != c[2] {
			t.Errorf("%s %s: Allow: %s, want %s", c[0], c[1], r.header.Get("Allow"), c[2])
		}
	}
}
