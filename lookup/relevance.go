package lookup

import "unicode"

// Calibration says what scores mean. The evidence for a passage is CosineWeight × cosine + soft match + CoverWeight ×
// coverage; cosines belong to one embedding model, the other two to the built-in re-ranker and to full text. Thresholds
// are measured, not chosen: questions that a folder answers against questions asked of a foreign folder and everyday ones.
type Calibration struct {
	CosineWeight float64 // 0: nobody has measured this model's cosines, and they are not judged by
	CoverWeight  float64

	// By script, since the share of word pieces that match by chance differs: queries with Han characters, and others.
	Han, Other         Thresholds
	TextHan, TextOther Thresholds // without cosines

	// Full text can vouch for what a model does not know (identifiers, log lines): a passage that holds this share of the
	// query's terms, weighed by idf, is at least weak, or is strong.
	CoverWeak, CoverStrong float64
}

// Thresholds cut evidence in three.
type Thresholds struct {
	Strong float64 // from here on answers are good
	None   float64 // below, nothing found is about the question
}

// BuiltinCalibration belongs to zh-en-256 with its soft match. Measured on the judged set, unique matches apart (139
// answerable questions on their own folders; as foreign ones those of one folder asked of the other, and 44 everyday
// ones); AUC .96 with Han characters, .91 without:
//
//	             answerable: false / weak    foreign: false / weak
//	Han                  1 % / 10 %                 65 % / 25 %
//	others               1 % / 11 %                 39 % / 33 %
var BuiltinCalibration = Calibration{
	CosineWeight: 1, CoverWeight: 0.3,
	Han: Thresholds{Strong: 0.75, None: 0.60}, Other: Thresholds{Strong: 0.88, None: 0.70},
	TextHan: Thresholds{Strong: 0.48, None: 0.36}, TextOther: Thresholds{Strong: 0.60, None: 0.48},
	CoverWeak: 0.6, CoverStrong: 0.8,
}

// uncalibrated serves models whose cosines nobody has measured: the built-in soft match and full text judge.
func uncalibrated() Calibration {
	c := BuiltinCalibration
	c.CosineWeight = 0
	return c
}

// Evidence is what relevance is judged by.
type Evidence struct {
	Cosine    float64 `json:"cosine"`
	Soft      float64 `json:"soft"`
	Coverage  float64 `json:"coverage"`  // idf-weighted share of the query's terms in the best full-text hit
	Agreement bool    `json:"agreement"` // full text and meaning put the same document among their first three
	Meaning   bool    `json:"meaning"`   // the semantic index took part
	Relevance string  `json:"relevance"` // strong, weak, or empty: nothing relevant
}

// judge says strong, weak, or "" for nothing relevant. floor, if not nil, replaces the None threshold (setting min_score).
func (c Calibration) judge(e Evidence, han bool, floor *float64) string {
	score, t := e.Soft+c.CoverWeight*e.Coverage, c.TextOther
	switch cosines := e.Meaning && c.CosineWeight > 0; {
	case cosines && han:
		t = c.Han
	case cosines:
		t = c.Other
	case han:
		t = c.TextHan
	}
	if e.Meaning {
		score += c.CosineWeight * e.Cosine
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
