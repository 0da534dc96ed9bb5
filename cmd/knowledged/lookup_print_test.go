package main

import (
	"bytes"
	"strings"
	"testing"

	"knowledged/lookup"
)

// SPEC 2.5, 2.6: silence is claimed only where everything was asked.
func TestNotFoundSaysWhatCouldNotBeAsked_2_5(t *testing.T) {
	for name, tc := range map[string]struct {
		degraded []string
		want     string
		not      string
	}{
		"all asked": {nil, "the folder has nothing on this", "note:"},
		"no L1":     {[]string{lookup.DegradedL1}, "not all could be asked:\nnote: answered without the semantic index", "has nothing"},
	} {
		var b bytes.Buffer
		printAnswer(&b, &lookup.Answer{Degraded: tc.degraded})
		if got := b.String(); !strings.Contains(got, tc.want) || strings.Contains(got, tc.not) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// Who looks for why nothing is found asks for it then.
func TestNotFoundIsExplained_2_5(t *testing.T) {
	var b bytes.Buffer
	printAnswer(&b, &lookup.Answer{Explain: &lookup.Explain{Query: "parcel"}})
	if got := b.String(); !strings.Contains(got, "explain:\n{") || !strings.Contains(got, `"query": "parcel"`) {
		t.Errorf("not explained:\n%s", got)
	}
}
