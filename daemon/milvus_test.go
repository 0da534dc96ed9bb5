//go:build milvus

package daemon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/lookup"
)

// newTeamWorld is a world whose vectors are in the real Milvus that `make milvus-test` starts.
func newTeamWorld(t testing.TB, collection string) *world {
	t.Helper()
	address := os.Getenv("MILVUS_ADDRESS")
	if address == "" {
		t.Fatal("MILVUS_ADDRESS is not set: scripts/milvus.sh with COMMAND sets it")
	}
	w := newWorld(t)
	w.cfg.L1.Backend = config.BackendMilvus
	w.cfg.L1.Milvus.Address, w.cfg.L1.Milvus.Collection = address, collection
	return w
}

func freshCollection() string { return fmt.Sprintf("daemon%x", time.Now().UnixNano()) }

// meant reports whether the semantic index finds this document for a query that its text answers.
func (w *world) meant(query, path string) bool {
	a, err := w.Lookup(w.t.Context(), lookup.Request{Query: query, AlwaysSemantic: true, TopK: 20})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range a.Results {
		if r.Source == "kb/"+path {
			return r.Ranks.Semantic > 0
		}
	}
	return false
}

func (w *world) eventuallyMeant(query, path string) {
	w.t.Helper()
	w.eventually(path+" found by meaning", func() bool { return w.meant(query, path) })
}

// SPEC 3.6: two daemons on one Milvus have the same rows; a document removed on one machine only stays for the other.
func TestTwoDaemonsOneMilvus_3_6(t *testing.T) {
	collection := freshCollection()
	a, b := newTeamWorld(t, collection), newTeamWorld(t, collection)
	for _, w := range []*world{a, b} {
		w.save("ops/timeout.md", doc("Gateway timeouts", "timeout"))
		w.save("ops/refund.md", doc("Refunds of payments", "refund"))
	}
	a.start()
	b.start()
	for _, w := range []*world{a, b} {
		w.eventuallyMeant("Text of Gateway timeouts", "ops/timeout.md")
		if s := w.status(); s.L1.State != ipc.L1Ready || s.L1.Backend != config.BackendMilvus || s.Documents.L1 != 2 {
			t.Errorf("status %+v, %d documents in L1", s.L1, s.Documents.L1)
		}
	}
	a.delete("ops/timeout.md")
	a.settle()
	if a.meant("Text of Gateway timeouts", "ops/timeout.md") {
		t.Error("found where it was removed")
	}
	if !b.meant("Text of Gateway timeouts", "ops/timeout.md") {
		t.Error("ripped from under the other daemon")
	}
	job, err := b.Reconcile(t.Context(), true)
	if err != nil || job.Vectors.Missing != 0 || job.Vectors.Orphans != 0 {
		t.Errorf("reconcile: %+v, %v", job, err)
	}
	// The other gets the removal as well, and both the same new document at once.
	b.delete("ops/timeout.md")
	for _, w := range []*world{a, b} {
		w.save("ops/login.md", doc("Logging in with a token", "login"))
	}
	a.settle()
	b.settle()
	for _, w := range []*world{a, b} {
		w.eventuallyMeant("Text of Logging in with a token", "ops/login.md")
		job, err := w.Reconcile(t.Context(), true)
		if err != nil || job.Vectors.Missing != 0 || job.Vectors.Orphans != 0 {
			t.Errorf("reconcile: %+v, %v", job, err)
		}
	}
}

// SPEC 3.5: a reader answers from what a writer has put.
func TestReaderDaemon_3_5(t *testing.T) {
	collection := freshCollection()
	w, r := newTeamWorld(t, collection), newTeamWorld(t, collection)
	r.cfg.L1.Milvus.Role = config.MilvusReader
	for _, each := range []*world{w, r} {
		each.save("ops/timeout.md", doc("Gateway timeouts", "timeout"))
	}
	w.start()
	r.save("ops/own.md", doc("Only here", "here"))
	r.start()
	r.eventuallyMeant("Text of Gateway timeouts", "ops/timeout.md")
	if s := r.status(); s.L1.State != ipc.L1Ready || s.Documents.L1 != 1 {
		t.Errorf("status %+v, %d documents in L1", s.L1, s.Documents.L1)
	}
	if rec := r.record("ops/own.md"); rec.InL1 || !r.answers("here", "ops/own.md") {
		t.Errorf("the reader's own document: %+v", rec)
	}
}

// embedder is an OpenAI-compatible server that counts the texts it is asked for.
func embedder(t testing.TB, texts *atomic.Int64) string {
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var req struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(in.Body).Decode(&req); err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		texts.Add(int64(len(req.Input)))
		var data []string
		for i, text := range req.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1,%d,%d]}`, i, len(text)%7, len(text)%11))
		}
		fmt.Fprintf(out, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// SPEC 3.4: from embedded to Milvus and back, no text is embedded twice.
func TestBackendSwitchedKeepsEmbeddings_3_4(t *testing.T) {
	var texts atomic.Int64
	w := newTeamWorld(t, freshCollection())
	w.cfg.Embedding.Provider = config.ProviderOpenAI
	w.cfg.Embedding.OpenAI.BaseURL, w.cfg.Embedding.OpenAI.Model = embedder(t, &texts), "m"
	w.cfg.L1.Backend = config.BackendEmbedded
	w.save("ops/timeout.md", doc("Gateway timeouts", "timeout"))
	w.start()
	before := texts.Load()
	if before == 0 {
		t.Fatal("the embedding server was not asked")
	}
	for _, backend := range []string{config.BackendMilvus, config.BackendEmbedded, config.BackendMilvus} {
		w.halt()
		w.cfg.L1.Backend = backend
		w.start()
		if s := w.status(); s.L1.Backend != backend || s.L1.State != ipc.L1Ready || s.Documents.L1 != 1 {
			t.Errorf("%s: %+v", backend, s)
		}
	}
	if n := texts.Load(); n != before {
		t.Errorf("%d texts embedded anew", n-before)
	}
}
