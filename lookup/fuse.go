package lookup

// Fusion methods.
const (
	FusionScore = "score"
	FusionRRF   = "rrf"
)

// Fusion are the settings of `lookup.fusion`.
type Fusion struct {
	Method string // score (default) | rrf
	RRF    RRF
	Score  ScoreWeights
}

// RRF is reciprocal rank fusion: a ranking gives weight/(K+rank).
type RRF struct {
	K        float64 // 0: 60
	Exact    float64 // weights; all zero: 1 each
	Fulltext float64
	Semantic float64
}

// ScoreWeights are the weights of the score fusion beside the cosine, which weighs 1.
type ScoreWeights struct {
	Fulltext float64 // of BM25 / Ideal; both zero: 1.5 and 0.5
	Soft     float64 // of the soft token match
}

// Evidence is what relevance is judged by.
type Evidence struct {
	Cosine    float64 `json:"cosine"`
	Soft      float64 `json:"soft"`
	Coverage  float64 `json:"coverage"`
	Agreement bool    `json:"agreement"`
}

// Calibration belongs to an embedding model.
type Calibration struct{ StrongHan, StrongOther float64 }

func (c Config) withDefaults() Config { return c }
