package lookup

import (
	"slices"

	"knowledged/document"
)

// Values of Primary.MatchType and Supplement.MatchType.
const (
	MatchExact    = "exact_L0"
	MatchSemantic = "semantic_L1"
	MatchFulltext = "fulltext_L0"
)

// Confidence and relevance as answers word them.
const (
	High   = "high"
	Low    = "low"
	Strong = "strong"
	Weak   = "weak"
)

// Values of Decision.Reason.
const (
	ReasonUnique         = "unique_match"    // exactly one document matches
	ReasonUniqueIndexing = "indexing"        // one matches so far; the first scan still runs
	ReasonUniqueDoubtful = "unverified"      // one matches, but by little of the query, and meaning points elsewhere
	ReasonAlways         = "always_semantic" // one matches and the semantic index was asked for as well
	ReasonSeveral        = "several_matches" // two or more match
	ReasonNone           = "no_match"        // none matches: the best passage answers, if it is about the question
)

// Values of Decision.L1.
const (
	L1Skipped = "skipped" // not needed: a unique match
	L1Used    = "used"    // it answered
	L1Empty   = "empty"   // it answered with nothing relevant
	L1Timeout = "timeout" // it did not answer in time
	L1Failed  = "failed"
	L1Off     = "off"
)

// Values in Answer.Degraded.
const (
	DegradedL0       = "l0"
	DegradedL1       = "l1"
	DegradedIndexing = "indexing"
)

// Answer is what a lookup returns (SPEC 2.5). No list in it is ever null.
type Answer struct {
	RequestID  string      `json:"requestId"`
	Found      bool        `json:"found"`
	Primary    *Primary    `json:"primary"`
	Supplement *Supplement `json:"supplement"`
	Results    []Result    `json:"results"`
	Decision   Decision    `json:"decision"`
	Degraded   []string    `json:"degraded"`
	Corrected  *Corrected  `json:"corrected,omitempty"` // nothing matched as typed; this is an answer to another spelling
	Hint       string      `json:"hint,omitempty"`      // the primary's hint once more, or why a section was not looked for
	Timings    Timings     `json:"timings"`
	Explain    *Explain    `json:"explain,omitempty"`
}

// Primary is the document that matched by name.
type Primary struct {
	DocID             string   `json:"docId"`
	Title             string   `json:"title"`
	Content           string   `json:"content"`
	Source            string   `json:"source"`
	FilePath          string   `json:"filePath"`
	MatchType         string   `json:"matchType"`
	Confidence        string   `json:"confidence"`
	Section           *string  `json:"section"` // null unless a section was asked for and found
	AvailableSections []string `json:"availableSections"`
	Hint              string   `json:"hint,omitempty"` // nearest titles, where the section asked for does not exist
}

// Supplement is the passage that answers by meaning, or by full text where meaning is not to be had.
type Supplement struct {
	DocID      string  `json:"docId"`
	Title      string  `json:"title"`
	Content    string  `json:"content"`
	Source     string  `json:"source"`
	FilePath   string  `json:"filePath"`
	MatchType  string  `json:"matchType"`
	Breadcrumb string  `json:"breadcrumb"`
	Score      float64 `json:"score"` // cosine for semantic_L1, share of the ideal BM25 score (0..1) for fulltext_L0
	Relevance  string  `json:"relevance"`
	More       []Extra `json:"more"` // the next best semantic passages (lookup.l1_top_k counts all)
}

// Extra is a further semantic passage, by a few sentences.
type Extra struct {
	DocID      string  `json:"docId"`
	Title      string  `json:"title"`
	Source     string  `json:"source"`
	Breadcrumb string  `json:"breadcrumb"`
	Snippet    string  `json:"snippet"`
	Score      float64 `json:"score"` // cosine
}

// Result is one document of the fused list, by its best passage.
type Result struct {
	DocID      string  `json:"docId"`
	Title      string  `json:"title"`
	Source     string  `json:"source"`
	FilePath   string  `json:"filePath"`
	Breadcrumb string  `json:"breadcrumb"`
	Snippet    string  `json:"snippet"`
	Score      float64 `json:"score"`
	Ranks      Ranks   `json:"ranks"`
}

// Ranks are 1-based positions in the rankings that were fused; a ranking that does not know the document is left out.
type Ranks struct {
	Exact    int `json:"exact,omitempty"`
	Fulltext int `json:"fulltext,omitempty"`
	Semantic int `json:"semantic,omitempty"`
}

// Decision says how the answer came about.
type Decision struct {
	L0Matches int    `json:"l0Matches"` // all exact matches, whatever topK says
	Reason    string `json:"reason"`
	L1        string `json:"l1"`
}

// Timings are milliseconds. L0 covers exact match and full text, L1 the time until its answer came or was given up.
type Timings struct {
	L0Ms    float64 `json:"l0Ms"`
	L1Ms    float64 `json:"l1Ms"`
	TotalMs float64 `json:"totalMs"`
}

// Explain is the working behind an answer.
type Explain struct {
	Query     string         `json:"query"`  // as it was looked up
	Method    string         `json:"method"` // fusion method
	Matches   []ExplainMatch `json:"matches"`
	Results   []ExplainDoc   `json:"results"`
	Evidence  Evidence       `json:"evidence"`  // what `found` and `relevance` were judged by
	MatchesMs float64        `json:"matchesMs"` // stages, beside those of `timings`
	TextMs    float64        `json:"textMs"`
	FuseMs    float64        `json:"fuseMs"`
}

// ExplainMatch is an exact match and the names it came by.
type ExplainMatch struct {
	Source string                 `json:"source"`
	Names  []document.MatchedName `json:"names"`
	Cover  float64                `json:"cover"`    // share of the query that the names cover
	Worth  float64                `json:"strength"` // the same, less for names that several documents share
	Score  float64                `json:"score"`    // full-text score by which matches are ordered
}

// ExplainDoc is the score of one entry of `results`, part by part.
type ExplainDoc struct {
	Source        string                  `json:"source"`
	Ranks         Ranks                   `json:"ranks"`
	Score         float64                 `json:"score"`
	Exact         float64                 `json:"exact"`         // part of score that exact matches gave
	Fulltext      float64                 `json:"fulltext"`      // part that full text gave
	Semantic      float64                 `json:"semantic"`      // part that the cosine gave
	Soft          float64                 `json:"soft"`          // part that the soft token match gave
	Language      float64                 `json:"language"`      // what it has from a version in another language, for which it stands
	BM25          float64                 `json:"bm25"`          // raw full-text score of the best passage
	Cosine        float64                 `json:"cosine"`        // of the best passage
	Contributions []document.Contribution `json:"contributions"` // of its best full-text hit, term by term
}

// Others are the results that are neither primary nor supplement: where else to look.
func (a *Answer) Others() []Result {
	return slices.DeleteFunc(slices.Clone(a.Results), func(r Result) bool {
		return a.Primary != nil && r.DocID == a.Primary.DocID || a.Supplement != nil && r.DocID == a.Supplement.DocID
	})
}
