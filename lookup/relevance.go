package lookup

import (
	"math"
	"unicode"
)

// Calibration says what scores of one embedding model mean: the evidence for a passage is
// CosineWeight × cosine + SoftWeight × soft match. Thresholds differ by script since the share of word pieces that
// chance alone matches does. They are measured (answerable questions against questions asked of a foreign folder), not
// chosen: see BuiltinCalibration.
type Calibration struct {
	CosineWeight float64
	SoftWeight   float64

	// From Strong on the answer is good: above it right answers are the rule. For queries with Han characters and others.
	StrongHan, StrongOther float64
	// Below None nothing found is about the question. Answerable questions hardly ever fall so low.
	NoneHan, NoneOther float64

	// Full text can vouch for what the model does not know (identifiers, log lines): a passage that holds this share of
	// the query's terms, weighed by idf, is at least weak, or is strong.
	CoverWeak, CoverStrong float64
}

// BuiltinCalibration belongs to zh-en-256. Strong is the model card's threshold: it flags 12 % (Han) and 10 % of the
// answerable questions, whose success@1 is .21 against .74 of the others.
var BuiltinCalibration = Calibration{
	CosineWeight: 1, SoftWeight: 1,
	StrongHan: 0.68, StrongOther: 0.80,
	NoneHan: 0.56, NoneOther: 0.66,
	CoverWeak: 0.5, CoverStrong: 0.8,
}

// UncalibratedModel serves models whose cosines nobody has measured: the soft match, which needs no vectors of theirs,
// and full text judge alone.
var UncalibratedModel = Calibration{
	CosineWeight: 0, SoftWeight: 1,
	StrongHan: 0.50, StrongOther: 0.55,
	NoneHan: 0.30, NoneOther: 0.35,
	CoverWeak: 0.4, CoverStrong: 0.8,
}

// UncalibratedAlone is for such models without a soft match beside them: nothing can tell a good neighbour from a far one,
// so everything found is weak unless full text vouches for it.
var UncalibratedAlone = Calibration{
	CosineWeight: 1,
	StrongHan:    math.Inf(1), StrongOther: math.Inf(1),
	CoverWeak: 0.4, CoverStrong: 0.8,
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
	strong, none := c.StrongOther, c.NoneOther
	if han {
		strong, none = c.StrongHan, c.NoneHan
	}
	if floor != nil {
		none = *floor
	}
	if !e.Meaning { // full text alone: the soft match of its passages counts for nothing without cosines beside it
		switch {
		case e.Coverage >= c.CoverStrong:
			return Strong
		case e.Coverage >= c.CoverWeak:
			return Weak
		}
		return ""
	}
	score := c.CosineWeight*e.Cosine + c.SoftWeight*e.Soft
	switch {
	case score >= strong && score >= none:
		return Strong
	case e.Agreement && e.Coverage >= c.CoverStrong:
		return Strong
	case score >= none, e.Coverage >= c.CoverWeak:
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
