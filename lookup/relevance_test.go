package lookup

import (
	"math"
	"testing"

	"knowledged/document"
)

// SPEC 2.5: doubtful answers are weak, good ones strong, and nothing relevant is nothing. Thresholds are the calibration's.
func TestJudge_2_5(t *testing.T) {
	c := BuiltinCalibration
	at := func(score float64) Evidence { return Evidence{Meaning: true, Cosine: score} }
	text := func(score float64) Evidence { return Evidence{Soft: score / c.SoftWeight} }
	zero, high := 0.0, 1.5
	for _, tt := range []struct {
		name  string
		c     Calibration
		ev    Evidence
		han   bool
		floor *float64
		want  string
	}{
		{"strong, Han", c, at(c.Han.Strong + 0.01), true, nil, Strong},
		{"weak without Han at the same score", c, at(c.Han.Strong + 0.01), false, nil, Weak},
		{"strong", c, at(c.Other.Strong + 0.01), false, nil, Strong},
		{"weak, Han", c, at(c.Han.None + 0.01), true, nil, Weak},
		{"nothing, Han", c, at(c.Han.None - 0.01), true, nil, ""},
		{"nothing", c, at(c.Other.None - 0.01), false, nil, ""},
		{"what the folder knows counts", c, Evidence{Meaning: true, Cosine: c.Han.None - 0.5, Known: 1, Named: 1}, true, nil, Weak},
		{"a name that it does not know", c, Evidence{Meaning: true, Cosine: c.Han.None - 0.5, Known: 1}, true, nil, ""},
		{"codes that are in no document", c, Evidence{Meaning: true, Cosine: 2, Coverage: 1, Agreement: true, Unheard: true}, false, nil, Weak},
		{"codes that nothing is near to", c, Evidence{Meaning: true, Cosine: c.Other.None - 0.01, Unheard: true}, false, nil, ""},
		{"full text vouches", c, Evidence{Meaning: true, Coverage: c.CoverWeak}, false, nil, Weak},
		{"full text and meaning agree", c, Evidence{Meaning: true, Coverage: c.CoverStrong, Agreement: true}, false, nil, Strong},
		{"full text alone, strong", c, Evidence{Coverage: c.CoverStrong}, false, nil, Strong},
		{"full text alone, nothing", c, Evidence{Coverage: c.CoverWeak - 0.01}, false, nil, ""},
		{"full text with soft match, strong", c, text(c.TextHan.Strong + 0.01), true, nil, Strong},
		{"full text with soft match, weak", c, text(c.TextOther.None + 0.01), false, nil, Weak},
		{"full text with soft match, nothing", c, text(c.TextHan.None - 0.01), true, nil, ""},
		{"min_score 0 lets all through", c, at(0.01), false, &zero, Weak},
		{"min_score above strong", c, at(1.2), false, &high, ""},
		{"unknown model: the soft match judges, not the cosine", uncalibrated(), Evidence{Meaning: true, Cosine: 0.9, Soft: 0.1}, false, nil, ""},
		{"unknown model: a good soft match", uncalibrated(), Evidence{Meaning: true, Cosine: 0.1, Soft: 0.7, Known: 0.9, Named: 0.9}, false, nil, Strong},
		{"unknown model without re-ranker: weak at most", uncalibrated(), Evidence{Meaning: true, Cosine: 0.9}, false, nil, Weak},
	} {
		if got := tt.c.judge(tt.ev, tt.han, tt.floor); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// SPEC 2.5: the same evidence is worth more in a small folder, where less looks alike by chance.
func TestJudgeBySizeOfFolder_2_5(t *testing.T) {
	c := BuiltinCalibration
	at := func(score float64, documents int) string {
		return c.judge(Evidence{Meaning: true, Cosine: score, Documents: documents}, false, nil)
	}
	for _, tt := range []struct {
		name      string
		score     float64
		documents int
		want      string
	}{
		{"as many as measured", c.Other.Strong + 0.01, int(c.SizeAt), Strong},
		{"a tenth of them, strong", c.Other.Strong - c.Rise.Strong + 0.01, int(c.SizeAt / 10), Strong},
		{"a tenth of them, not strong", c.Other.Strong - c.Rise.Strong - 0.01, int(c.SizeAt / 10), Weak},
		{"a tenth of them, weak", c.Other.None - c.Rise.None + 0.01, int(c.SizeAt / 10), Weak},
		{"a tenth of them, nothing", c.Other.None - c.Rise.None - 0.01, int(c.SizeAt / 10), ""},
		{"many", c.Other.Strong + 0.01, largestFolder, Weak},
		{"more than were ever measured are judged as the most that were", c.Other.Strong + 0.06, 100 * largestFolder, Strong},
		{"one document", c.Other.None - 2*c.Rise.None + 0.01, 1, Weak},
		{"but not everything passes there", c.Other.None - 2*c.Rise.None - 0.01, 1, ""},
	} {
		if got := at(tt.score, tt.documents); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}

	w := threeDocs(t)
	w.meaning = []document.Hit{hit("api/b.md#1", c.Other.Strong-0.02)}
	w.coverage, w.known = 0, 0
	for documents, want := range map[int]string{3: Strong, largestFolder: Weak} {
		w.folder = documents
		if a := w.lookup(Request{}); a.Supplement == nil || a.Supplement.Relevance != want {
			t.Errorf("%d documents: %+v, want %s", documents, a.Supplement, want)
		}
	}
}

// SPEC 2.5: an error code that no document has is not answered by the page of another one as if it were.
func TestUnheardCode_2_5(t *testing.T) {
	for _, tt := range []struct {
		query string
		known float64
		want  string
	}{{"ERR_FOO", 1, Strong}, {"ERR_FOO", 0.4, Weak}, {"what is ERR_FOO?", 0.4, Weak}, {"the", 1, Weak}, {"refunds of ERR_FOO", 0.4, Strong}} {
		w := threeDocs(t)
		good(w)
		w.coverage, w.known = 0, tt.known
		if a := w.lookup(Request{Query: tt.query}); a.Supplement == nil || a.Supplement.Relevance != tt.want {
			t.Errorf("%q, %.1f of it known: %+v, want %s", tt.query, tt.known, a.Supplement, tt.want)
		}
	}
}

// Another model's cosines are judged on the built-in model's scale, once its cosines between unrelated chunks are known.
func TestCalibrationFrom(t *testing.T) {
	var unrelated, builtin []float64
	for i := range 200 {
		unrelated = append(unrelated, 0.6+0.1*math.Sin(float64(i))) // e5 and the like: nothing in common is .6
		builtin = append(builtin, 0.17+0.22*math.Sin(float64(i)))
	}
	c := CalibrationFrom(unrelated, builtin)
	if math.Abs(c.scaled(0.6)-0.17) > 0.01 || math.Abs(c.scaled(0.7)-0.39) > 0.01 {
		t.Errorf("%.3f, %.3f", c.scaled(0.6), c.scaled(0.7))
	}
	if back := c.cosine(c.scaled(0.77)); math.Abs(back-0.77) > 1e-9 {
		t.Errorf("a cosine of .77 is shown as %.3f", back)
	}
	for name, ev := range map[string]Evidence{
		"":     {Meaning: true, Cosine: c.scaled(0.62), Soft: 0.2, Known: 0.3, Named: 0.3},
		Strong: {Meaning: true, Cosine: c.scaled(0.8), Soft: 0.6, Known: 0.9, Named: 0.9},
	} {
		if got := c.judge(ev, false, nil); got != name {
			t.Errorf("%+v: %q, want %q", ev, got, name)
		}
	}
	if BuiltinCalibration.scaled(0.4) != 0.4 {
		t.Error("the built-in model's cosines are taken as they are")
	}
	if CalibrationFrom(unrelated[:20], builtin) != uncalibrated() || CalibrationFrom(make([]float64, 50), builtin) != uncalibrated() {
		t.Error("too few cosines, or all the same, say nothing")
	}
}

// SPEC 2.5: where nothing was found there is nothing relevant, whatever the folder knows.
func TestNothingFoundIsNotRelevant_2_5(t *testing.T) {
	w := newWorld(t)
	w.known = 1
	if a := w.lookup(Request{}); a.Found {
		t.Errorf("%+v", a)
	}
}

func TestConfigDefaults(t *testing.T) {
	w := newWorld(t)
	w.cfg = Config{}
	if got := w.engine().cfg; got.Calibration != uncalibrated() || got.TopK != 5 || got.Candidates != 90 || got.L1TopK != 3 || got.Fusion.Method != FusionScore {
		t.Errorf("%+v", got)
	}
}

// Without a re-ranker (another model's vectors, no soft match) lookups still answer.
func TestWithoutReranker(t *testing.T) {
	w := threeDocs(t)
	w.cfg, w.noSoft = Config{}, true
	w.meaning = []document.Hit{hit("api/b.md#1", 0.8)}
	w.coverage, w.known = 0, 0.5
	if a := w.lookup(Request{}); a.Supplement == nil || a.Supplement.Relevance != Weak || a.Supplement.Score != 0.8 {
		t.Errorf("%+v", a.Supplement)
	}
}

// explain shows every rank and score of what is shown.
func TestExplain_2_3(t *testing.T) {
	w := threeDocs(t)
	good(w)
	w.match("api/a.md", "ops/c.md")
	w.text = []document.Hit{{ChunkID: "api/b.md#1", Score: 6, Why: []document.Contribution{{Term: "query", Field: "body", Score: 6}}}}
	if a := w.lookup(Request{}); a.Explain != nil {
		t.Error("explained unasked")
	}
	a := w.lookup(Request{Explain: true})
	x := a.Explain
	if len(x.Matches) != 2 || x.Matches[0].Names[0].Name != "query" || len(x.Results) != len(a.Results) || x.Method != FusionScore ||
		x.Evidence.Relevance != Strong || x.Evidence.Cosine != 0.8 {
		t.Fatalf("%+v", x)
	}
	for i, r := range x.Results {
		if r.Source != a.Results[i].Source || r.Score != a.Results[i].Score || r.Ranks != a.Results[i].Ranks ||
			math.Abs(r.Exact+r.Fulltext+r.Semantic+r.Soft+r.Language-r.Score) > 1e-9 {
			t.Errorf("%+v does not explain %+v", r, a.Results[i])
		}
		if r.Source == "kb/api/b.md" && (len(r.Contributions) != 1 || r.BM25 != 6 || r.Cosine != 0.8) {
			t.Errorf("%+v", r)
		}
	}
	noNullLists(t, a)
}

// SPEC 2.3: with a calibrated model, what no meaning was asked of has no cosine.
func TestExplainWithoutMeaning_2_3(t *testing.T) {
	w := threeDocs(t)
	w.cfg.Calibration.Unrelated, w.cfg.Calibration.Reference = Spread{0.75, 0.03}, Spread{0.1, 0.1}
	w.text = []document.Hit{hit("ops/c.md#1", 2)}
	a := w.lookup(Request{Explain: true})
	if len(a.Explain.Results) == 0 {
		t.Fatal("nothing is explained")
	}
	for _, r := range a.Explain.Results {
		if r.Cosine != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// Chunks that only full text found are taken for as near as the last semantic hit, not for orthogonal.
func TestCosineIsImputed(t *testing.T) {
	w := threeDocs(t)
	w.meaning = []document.Hit{hit("api/a.md#1", 0.8), hit("api/b.md#1", 0.3)}
	w.text = []document.Hit{hit("ops/c.md#1", 2)}
	a := w.lookup(Request{Explain: true})
	for _, r := range a.Explain.Results {
		if r.Source == "kb/ops/c.md" && (r.Cosine != 0.3 || r.Ranks.Semantic != 0) {
			t.Errorf("%+v", r)
		}
	}
}

// Only the best candidates are re-ranked: two thirds by the fused score, the others by cosine.
func TestCandidatesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.cfg.Candidates = 3
	for _, p := range []string{"a.md", "b.md", "c.md", "d.md"} {
		w.add(p, p, "", "text of "+p)
		w.soft["text of "+p] = 1
	}
	w.meaning = []document.Hit{hit("d.md#1", 0.5), hit("c.md#1", 0.4), hit("b.md#1", 0.3), hit("a.md#1", 0.2)}
	w.text = []document.Hit{hit("a.md#1", 10), hit("b.md#1", 8)}
	a := w.lookup(Request{Explain: true})
	for _, r := range a.Explain.Results {
		if (r.Soft > 0) != (r.Source != "kb/c.md") {
			t.Errorf("%s: soft %v", r.Source, r.Soft)
		}
	}
}

func BenchmarkLookupUnique(b *testing.B) {
	w := newWorld(b)
	d, doc := fixture(b, "payment-errors.md")
	w.add(doc.Path, doc.Title, "", "本文列出错误码。", "网关在 30 秒内没有得到银行的应答。", "上游没有应答。先查网络，再查银行公告。")
	w.docs[doc.Path], w.files[doc.Path] = doc, d
	w.matches = []document.Match{{Path: doc.Path, Names: []document.MatchedName{{Name: "ERR_TIMEOUT", Kind: "keyword", How: "query_contains_name"}}}}
	e := w.engine()
	b.ReportAllocs()
	for b.Loop() {
		if a, err := e.Lookup(b.Context(), Request{Query: "ERR_TIMEOUT"}); err != nil || !a.Found {
			b.Fatal(err)
		}
	}
}
