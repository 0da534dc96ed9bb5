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

	// The more documents there are, the better the best of them that has nothing to say looks, and the better the one that
	// answers. Thresholds are for a folder of SizeAt documents and rise by Rise with each tenfold number of them.
	SizeAt float64
	Rise   Thresholds

	// Full text can vouch for what a model does not know (identifiers, log lines): a passage that holds this share of the
	// query's terms, weighed by idf, is at least weak, or is strong if meaning does not contradict.
	CoverWeak, CoverStrong float64

	// The model's cosines where nothing is in common, and the built-in model's for the same texts. By them its cosines are
	// brought to the scale of the built-in model; with an SD of zero they are taken as they are.
	Unrelated, Reference Spread
}

// Spread is where cosines lie.
type Spread struct{ Mean, SD float64 }

func spreadOf(cosines []float64) Spread {
	n := float64(len(cosines))
	var sum, square float64
	for _, c := range cosines {
		sum += c
		square += c * c
	}
	mean := sum / n
	return Spread{Mean: mean, SD: math.Sqrt(max(0, square/n-mean*mean))}
}

// Thresholds cut evidence in three.
type Thresholds struct {
	Strong float64 // from here on answers are good
	None   float64 // below, nothing found is about the question
}

// Folders beyond these sizes are judged as if of them: nobody has measured how thresholds go on.
const smallestFolder, largestFolder = 3, 1000

// forFolder are the thresholds in a folder of so many documents; 0 is one of SizeAt.
func (c Calibration) forFolder(t Thresholds, documents int) Thresholds {
	if documents == 0 || c.SizeAt == 0 {
		return t
	}
	tenfolds := math.Log10(float64(min(max(documents, smallestFolder), largestFolder)) / c.SizeAt)
	return Thresholds{Strong: t.Strong + c.Rise.Strong*tenfolds, None: t.None + c.Rise.None*tenfolds}
}

// BuiltinCalibration belongs to zh-en-256-2 with its soft match.
var BuiltinCalibration = Calibration{
	CosineWeight: 1, SoftWeight: 0.7, KnownWeight: 0.35, NamedWeight: 0.3,
	Han: Thresholds{Strong: 0.84, None: 0.66}, Other: Thresholds{Strong: 0.99, None: 0.67},
	TextHan: Thresholds{Strong: 0.64, None: 0.46}, TextOther: Thresholds{Strong: 0.72, None: 0.50},
	SizeAt: 300, Rise: Thresholds{Strong: 0.1, None: 0.08},
	CoverWeak: 0.8, CoverStrong: 0.8,
}

// uncalibrated serves models whose cosines nobody has measured: the built-in soft match and full text judge.
func uncalibrated() Calibration {
	c := BuiltinCalibration
	c.CosineWeight = 0
	return c
}

// CalibrationFrom fits the built-in thresholds and weights to another model, by its cosines of texts of the user's own folder
// that are unrelated, and those of the built-in model of the same texts: models differ in where "nothing in common" lies and
// in how far they spread, and once both are taken out a good passage stands out alike. The folder itself moves both, the more
// its documents are of one kind, hence the same texts. With fewer than 30 cosines it knows nothing.
func CalibrationFrom(unrelated, builtin []float64) Calibration {
	if min(len(unrelated), len(builtin)) < 30 {
		return uncalibrated()
	}
	return CalibrationOf(spreadOf(unrelated), spreadOf(builtin))
}

// CalibrationOf is CalibrationFrom, of where those cosines lie.
func CalibrationOf(unrelated, builtin Spread) Calibration {
	if unrelated.SD < 1e-3 || builtin.SD < 1e-3 {
		return uncalibrated()
	}
	c := BuiltinCalibration
	c.Unrelated, c.Reference = unrelated, builtin
	return c
}

// scaled brings a cosine to the built-in model's scale, for which thresholds and fusion weights were measured.
func (c Calibration) scaled(cosine float64) float64 {
	if c.Unrelated.SD == 0 {
		return cosine
	}
	return c.Reference.Mean + (cosine-c.Unrelated.Mean)/c.Unrelated.SD*c.Reference.SD
}

// cosine is what was scaled, for who reads the answer.
func (c Calibration) cosine(scaled float64) float64 {
	if c.Unrelated.SD == 0 {
		return scaled
	}
	return c.Unrelated.Mean + (scaled-c.Reference.Mean)/c.Reference.SD*c.Unrelated.SD
}

// Evidence is what relevance is judged by.
type Evidence struct {
	Cosine    float64 `json:"cosine"` // on the built-in model's scale
	Soft      float64 `json:"soft"`
	Coverage  float64 `json:"coverage"`  // idf-weighted share of the query's terms in the best full-text hit
	Known     float64 `json:"known"`     // the same share of its words of content that any document holds
	Named     float64 `json:"named"`     // of the Latin words among Chinese ones: names, mostly; else as Known, or 1
	Unheard   bool    `json:"unheard"`   // it is all codes that are not in the folder, or all function words: weak at most
	Agreement bool    `json:"agreement"` // full text and meaning put the same document among their first three
	Meaning   bool    `json:"meaning"`   // the semantic index took part
	Documents int     `json:"documents"` // in the folder: thresholds rise with them
	Score     float64 `json:"score"`     // the weighted sum
	Relevance string  `json:"relevance"` // strong, weak, or empty: nothing relevant
}

// score is the weighted sum of the evidence.
func (c Calibration) score(e Evidence) float64 {
	sum := c.SoftWeight*e.Soft + c.KnownWeight*e.Known + c.NamedWeight*e.Named
	if e.Meaning && c.CosineWeight > 0 {
		sum += c.CosineWeight * e.Cosine
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
	t = c.forFolder(t, e.Documents)
	if floor != nil {
		t.None = *floor
	}
	// Without a cosine that counts and without a re-ranker, what was found by meaning can be near or far.
	blind := e.Meaning && c.CosineWeight == 0 && e.Soft == 0 && floor == nil
	switch {
	case e.Unheard && (score >= t.None || e.Coverage >= c.CoverWeak):
		return Weak
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
