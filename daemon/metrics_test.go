package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"gopkg.in/yaml.v3"

	"knowledged/config"
)

// metricsText is what a scrape of this daemon gets.
func (w *world) metricsText() string {
	w.t.Helper()
	r := httptest.NewRecorder()
	promhttp.HandlerFor(w.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if r.Code != http.StatusOK {
		w.t.Fatalf("metrics: %d %s", r.Code, r.Body)
	}
	return r.Body.String()
}

// metric is the value of one series, by name and labels as a scrape shows them; "" if it is not there.
func (w *world) metric(series string) string {
	w.t.Helper()
	for line := range strings.Lines(w.metricsText()) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// shows compares series with what they should be.
func (w *world) shows(want map[string]string) {
	w.t.Helper()
	for series, value := range want {
		if got := w.metric(series); got != value {
			w.t.Errorf("%s is %q, not %q", series, got, value)
		}
	}
}

func TestMetricsCountWhatHappens_7_3(t *testing.T) {
	w := newWorld(t)
	w.save("there.md", doc("There before", "kw-there"))
	w.start()
	if lag := w.metric("knowledged_index_lag_seconds_count"); lag != "0" {
		t.Errorf("the first scan counts as %s saves", lag)
	}
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("bad.md", "\xff\xfe\x00\xd8not text\x00\x00")
	w.idle()
	if _, _, err := w.put("api", "up.md", doc("Uploaded", "kw-up")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.put("ops", "again.md", doc("Uploaded", "kw-up")); err == nil {
		t.Fatal("the same bytes twice are accepted")
	}
	w.delete("there.md")
	w.idle()
	w.ask("kw-alpha")
	w.ask("how to bake bread with rye")
	w.shows(map[string]string{
		`knowledged_lookups_total{decision="unique_match",found="true",l1="skipped"}`:        "1",
		`knowledged_lookup_duration_seconds_count{decision="unique_match",layer="all"}`:      "1",
		`knowledged_lookup_duration_seconds_count{decision="unique_match",layer="l0"}`:       "1",
		`knowledged_lookup_duration_seconds_count{decision="unique_match",layer="l1"}`:       "", // it was not asked
		`knowledged_lookup_duration_seconds_count{decision="no_match",layer="l1"}`:           "1",
		`knowledged_lookups_degraded_total{part="l1"}`:                                       "0",
		`knowledged_index_updates_total{action="created"}`:                                   "3",
		`knowledged_index_updates_total{action="failed"}`:                                    "1",
		`knowledged_index_updates_total{action="deleted"}`:                                   "1",
		`knowledged_index_lag_seconds_count`:                                                 "2",
		`knowledged_uploads_total{outcome="created"}`:                                        "1",
		`knowledged_uploads_total{outcome="refused"}`:                                        "1",
		`knowledged_uploads_total{outcome="failed"}`:                                         "0",
		`knowledged_documents{status="INDEXED"}`:                                             "2",
		`knowledged_documents{status="FAILED"}`:                                              "1",
		`knowledged_documents{status="INDEXING"}`:                                            "0",
		`knowledged_documents_searchable{layer="l0"}`:                                        "2",
		`knowledged_pending{layer="l1"}`:                                                     "0",
		`knowledged_l1_state{state="ready"}`:                                                 "1",
		`knowledged_l1_state{state="down"}`:                                                  "0",
		`knowledged_l0_load_failures_total`:                                                  "0",
		`knowledged_embedding_request_duration_seconds_count{kind="query",outcome="ok"}`:     "1",
		`knowledged_embedding_request_duration_seconds_count{kind="query",outcome="failed"}`: "0",
		`knowledged_watch_overflows_total`:                                                   "0",
		`knowledged_ready`:                                                                   "1",
	})
	if w.metric("knowledged_l1_chunks") == "0" || w.metric(`knowledged_index_memory_bytes{index="exact"}`) == "0" {
		t.Error("no chunks or no memory")
	}
	// Read anew, or found again with times of old, is no save.
	if _, err := w.Reindex(t.Context(), w.record("a.md").DocID); err != nil {
		t.Fatal(err)
	}
	w.shows(map[string]string{`knowledged_index_lag_seconds_count`: "2"})
}

func TestMetricsOfFaults_7_3(t *testing.T) {
	w := tenDocuments(t)
	w.halt()
	w.age()
	w.cool()
	w.spoil(filepath.Join(w.cfg.StateDir, "l0"))
	faulty := w.runFaulty()
	w.shows(map[string]string{"knowledged_l0_load_failures_total": "1", "knowledged_l0_serving": "1"})
	faulty.fail.Store(1)
	w.save("new.md", doc("New", "kw-new"))
	w.eventually("mended", func() bool { return w.answers("kw-new", "new.md") })
	w.shows(map[string]string{"knowledged_index_write_failures_total": "1"})
	if err := w.l0.Close(); err != nil {
		t.Fatal(err)
	}
	w.shows(map[string]string{"knowledged_l0_serving": "0", "knowledged_ready": "0"})
	if _, _, err := w.put("api", "up.md", doc("Uploaded", "kw-up")); err == nil {
		t.Error("an upload without an index is accepted")
	}
	w.shows(map[string]string{`knowledged_uploads_total{outcome="failed"}`: "1"})
	w.ask("kw-new")
	w.shows(map[string]string{`knowledged_lookups_degraded_total{part="indexing"}`: "1"})
}

func TestMetricsWithoutMilvusAndWithoutL1_7_3(t *testing.T) {
	w := newWorld(t)
	w.cfg.L1.Backend = config.BackendMilvus
	w.cfg.L1.Milvus.Address = "127.0.0.1:1"
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.open().run()
	w.eventually("down", func() bool { return w.metric(`knowledged_l1_state{state="down"}`) == "1" })
	w.ask("how to bake bread with rye")
	w.shows(map[string]string{
		`knowledged_documents{status="INDEXING"}`:      "1",
		`knowledged_lookups_degraded_total{part="l1"}`: "1",
		`knowledged_milvus_breaker_open`:               "0", // there is no connection that could be tried
	})
	w.halt()

	w = newWorld(t)
	w.cfg.L1.Backend = config.BackendOff
	w.start()
	w.shows(map[string]string{`knowledged_l1_state{state="off"}`: "1", "knowledged_milvus_breaker_open": "0", "knowledged_l1_chunks": "0"})
}

var metricName = regexp.MustCompile(`knowledged_[a-z0-9_]+`)

// namesIn lists the metrics that a text names; a histogram's series stand for it.
func namesIn(text string) (names []string) {
	for _, name := range metricName.FindAllString(text, -1) {
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			name = strings.TrimSuffix(name, part)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Every metric that dashboard, alerts or guides name is there, and every one that is there is in the guides and shown.
func TestMetricsAreThoseThatAreDocumented_7_3(t *testing.T) {
	w := newWorld(t).start()
	var there []string
	for line := range strings.Lines(w.metricsText()) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok && strings.HasPrefix(name, "knowledged_") {
			there = append(there, strings.Fields(name)[0])
		}
	}
	if len(there) < 20 {
		t.Fatalf("only %d metrics: %q", len(there), there)
	}
	complete := map[string]bool{"../docs/metrics.md": true, "../docs/metrics.zh-CN.md": true, "../packaging/grafana/knowledged.json": true}
	for _, file := range []string{"../docs/metrics.md", "../docs/metrics.zh-CN.md", "../packaging/grafana/knowledged.json", "../packaging/prometheus/alerts.yml", "../packaging/prometheus/alerts_test.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := namesIn(string(text))
		for _, name := range named {
			if !slices.Contains(there, name) {
				t.Errorf("%s names %s, which is no metric", file, name)
			}
		}
		for _, name := range there {
			if complete[file] && !slices.Contains(named, name) {
				t.Errorf("%s does not name %s", file, name)
			}
		}
	}
}

// The guides name every alert, and each alert has a case in the unit tests that promtool runs.
func TestAlertsAreDocumentedAndTested_7_3(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert string }
		}
	}
	if err := yaml.Unmarshal([]byte(read("../packaging/prometheus/alerts.yml")), &rules); err != nil {
		t.Fatal(err)
	}
	if len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 5 {
		t.Fatalf("%+v", rules)
	}
	for _, rule := range rules.Groups[0].Rules {
		for _, file := range []string{"../docs/metrics.md", "../docs/metrics.zh-CN.md", "../packaging/prometheus/alerts_test.yml"} {
			if !regexp.MustCompile(`\b` + rule.Alert + `\b`).MatchString(read(file)) {
				t.Errorf("%s does not name %s", file, rule.Alert)
			}
		}
	}
}
