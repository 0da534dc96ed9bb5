package lookup

import (
	"math"
	"unicode"
)

// Calibration says what scores mean. The evidence that something found is about the question is
//
//	CosineWeight × cosine + SoftWeight × soft match + KnownWeight × known + NamedWeight × named
//
// Cosines belong to one embedding model; the others to the built-in re-ranker and to full text, whatever the model. Weights
// and thresholds are measured, not chosen (docs/ranking.md says how, eval/ holds the questions).
type Calibration struct {
	CosineWeight float64 // 0: nobody has measured this model's cosines, and they are not judged by
	SoftWeight   float64
	KnownWeight  float64
	NamedWeight  float64

	// By script, since the share of word pieces that match by chance differs: queries with Han characters, and others.
	Han, Other         Thresholds
	TextHan, TextOther Thresholds // without cosines

	// Full text can vouch for what a model does not know (identifiers, log lines): a passage that holds this share of the
	// query's terms, weighed by idf, is at least weak, or is strong if meaning does not contradict.
	CoverWeak, CoverStrong float64

	// Mean and SD are those of the model's cosines between unrelated chunks of the folder; zero where CosineWeight is for
	// the model's cosines as they are.
	Mean, SD float64
}

// Thresholds cut evidence in three.
type Thresholds struct {
	Strong float64 // from here on answers are good
	None   float64 // below, nothing found is about the question
}

// BuiltinCalibration belongs to zh-en-256 with its soft match.
var BuiltinCalibration = Calibration{
	CosineWeight: 1, SoftWeight: 0.7, KnownWeight: 0.35, NamedWeight: 0.3,
	Han: Thresholds{Strong: 0.86, None: 0.66}, Other: Thresholds{Strong: 0.97, None: 0.67},
	TextHan: Thresholds{Strong: 0.72, None: 0.58}, TextOther: Thresholds{Strong: 0.84, None: 0.72},
	CoverWeak: 0.8, CoverStrong: 0.8,
}

// The built-in model's cosines between unrelated chunks, to which another model's are mapped.
const (
	builtinMean = 0.17
	builtinSD   = 0.16
)

// uncalibrated serves models whose cosines nobody has measured: the built-in soft match and full text judge.
func uncalibrated() Calibration {
	c := BuiltinCalibration
	c.CosineWeight = 0
	return c
}

// CalibrationFrom fits the built-in thresholds to another model by its cosines between unrelated chunks of the user's own
// folder (pairs from different documents; some hundred do): models differ in where "nothing in common" lies and in how far
// they spread, and once both are taken out a good passage stands out alike. With fewer than 30 cosines it knows nothing.
func CalibrationFrom(unrelated []float64) Calibration {
	n := float64(len(unrelated))
	var sum, square float64
	for _, c := range unrelated {
		sum += c
		square += c * c
	}
	c := BuiltinCalibration
	c.Mean = sum / n
	c.SD = math.Sqrt(max(0, square/n-c.Mean*c.Mean))
	if n < 30 || c.SD < 1e-3 {
		return uncalibrated()
	}
	return c
}

// cosine is a cosine on the built-in model's scale.
func (c Calibration) cosine(x float64) float64 {
	if c.SD == 0 {
		return x
	}
	return builtinMean + (x-c.Mean)/c.SD*builtinSD
}

// Evidence is what relevance is judged by.
type Evidence struct {
	Cosine    float64 `json:"cosine"`
	Soft      float64 `json:"soft"`
	Coverage  float64 `json:"coverage"`  // idf-weighted share of the query's terms in the best full-text hit
	Known     float64 `json:"known"`     // the same share of its words of content that any document holds
	Named     float64 `json:"named"`     // of the Latin words among Chinese ones: names, mostly; else as Known, or 1
	Agreement bool    `json:"agreement"` // full text and meaning put the same document among their first three
	Meaning   bool    `json:"meaning"`   // the semantic index took part
	Score     float64 `json:"score"`     // the weighted sum
	Relevance string  `json:"relevance"` // strong, weak, or empty: nothing relevant
}

// score is the weighted sum of the evidence.
func (c Calibration) score(e Evidence) float64 {
	sum := c.SoftWeight*e.Soft + c.KnownWeight*e.Known + c.NamedWeight*e.Named
	if e.Meaning && c.CosineWeight > 0 {
		sum += c.CosineWeight * c.cosine(e.Cosine)
	}
	return sum
}

// judge says strong, weak, or "" for nothing relevant. floor, if not nil, replaces the None threshold (setting min_score).
func (c Calibration) judge(e Evidence, han bool, floor *float64) string {
	score, t := c.score(e), c.TextOther
	switch cosines := e.Meaning && c.CosineWeight > 0; {
	case cosines && han:
		t = c.Han
	case cosines:
		t = c.Other
	case han:
		t = c.TextHan
	}
	if floor != nil {
		t.None = *floor
	}
	// Without a cosine that counts and without a re-ranker, what was found by meaning can be near or far.
	blind := e.Meaning && c.CosineWeight == 0 && e.Soft == 0 && floor == nil
	switch {
	case e.Coverage >= c.CoverStrong && (e.Agreement || !e.Meaning):
		return Strong
	case score >= t.Strong && score >= t.None:
		return Strong
	case score >= t.None, e.Coverage >= c.CoverWeak, blind:
		return Weak
	}
	return ""
}

// hasHan reports Chinese characters.
func hasHan(s string) bool {
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}
