package lookup

import (
	"testing"

	"knowledged/document"
)

// unique_match: verify — a match that covers little of the query is `low` where meaning points elsewhere.
func TestVerifyUniqueMatch(t *testing.T) {
	long := "why does the payment query of the nightly batch fail after an upgrade"
	for _, tt := range []struct {
		name, query, mode, reason, confidence string
		asked                                 int32
		cosine                                float64 // of the match
	}{
		{"trusted", long, UniqueTrust, ReasonUnique, High, 0, 0},
		{"disagrees", long, UniqueVerify, ReasonUniqueDoubtful, Low, 1, 0},
		{"second by what it says", long, UniqueVerify, ReasonUniqueDoubtful, Low, 1, 0.6},
		{"agrees", long, UniqueVerify, ReasonUnique, High, 1, 2},
		{"covers the query", "query", UniqueVerify, ReasonUnique, High, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := threeDocs(t)
			w.add("d.md", "D", "", "delta")
			w.cfg.UniqueMatch = tt.mode
			w.match("ops/c.md")
			good(w)
			w.meaning = append(w.meaning[:2:2], hit("d.md#1", 0.45))
			if tt.cosine > 0 {
				w.meaning = append([]document.Hit{hit("ops/c.md#1", tt.cosine)}, w.meaning...)
			}
			a := w.lookup(Request{Query: tt.query})
			if a.Decision.Reason != tt.reason || a.Primary.Confidence != tt.confidence || w.meaningAsk.Load() != tt.asked {
				t.Errorf("%+v, %s, L1 asked %d times", a.Decision, a.Primary.Confidence, w.meaningAsk.Load())
			}
		})
	}
}

// SPEC 2.4: l1_top_k semantic passages are reported: the supplement and the next best.
func TestSemanticPassagesReported_2_4(t *testing.T) {
	w := threeDocs(t)
	good(w)
	a := w.lookup(Request{})
	if len(a.Supplement.More) != 2 || a.Supplement.More[0].Source != "kb/api/a.md" || a.Supplement.More[0].Snippet == "" {
		t.Errorf("more: %+v", a.Supplement.More)
	}
	w.cfg.L1TopK = 1
	if a = w.lookup(Request{}); len(a.Supplement.More) != 0 {
		t.Errorf("more: %+v", a.Supplement.More)
	}
}

// A passage that full text puts on top and the semantic index doesn't know answers as what it is.
func TestFullTextAnswersWhatTheModelCannotRead(t *testing.T) {
	w := threeDocs(t)
	w.meaning = []document.Hit{hit("api/a.md#1", 0.1)}
	w.text = []document.Hit{hit("ops/c.md#1", 9)}
	a := w.lookup(Request{Query: "0x80070057"})
	if a.Supplement == nil || a.Supplement.Source != "kb/ops/c.md" || a.Supplement.MatchType != MatchFulltext {
		t.Errorf("supplement %+v", a.Supplement)
	}
}
