package config

import (
	"slices"
	"testing"
)

func TestDiff(t *testing.T) {
	a := Default()
	b := a
	if d := Diff(&a, &b); len(d) > 0 {
		t.Errorf("equal ones differ in %q", d)
	}
	b.Log.Level = "debug"
	b.Lookup.Fusion.RRF.K = 1
	b.Lookup.MinScore = Score{set: true, value: .5}
	b.Embedding.OpenAI.QueryBody = map[string]any{"x": 1}
	want := []string{"lookup.min_score", "lookup.fusion.rrf.k", "embedding.openai.query_body", "log.level"}
	if d := Diff(&a, &b); !slices.Equal(d, want) {
		t.Errorf("got %q, want %q", d, want)
	}
}
