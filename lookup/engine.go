package lookup

import (
	"context"
	"log/slog"
	"path"
	"strings"
	"time"

	"knowledged/document"
)

// Doc is what an answer needs of an indexed document without reading its file.
type Doc struct {
	DocID    string
	Path     string // slash path below the base folder
	Source   string // base folder's name + "/" + Path
	FilePath string // absolute
	Title    string
	Summary  string
	Category string
	Keywords []string
	Aliases  []string
	Sections []string // what can be asked for: those names that have a heading, then `##` and deeper titles, in order
	Chinese  bool
	InL0     bool
}

// shownTitle stands for a document to a person: one without a title goes by its file's name.
func (d *Doc) shownTitle() string {
	if d.Title != "" {
		return d.Title
	}
	return strings.TrimSuffix(path.Base(d.Path), path.Ext(d.Path))
}

// SearchOptions bound a full-text search.
type SearchOptions struct {
	K       int                       // how many chunks at most
	Keep    func(chunkID string) bool // nil: all; not called by several goroutines at once
	Explain bool
}

// FullText is what full text found.
type FullText struct {
	Hits     []document.Hit // best first, ties by id
	Ideal    float64        // the score of a perfect hit: I(q) of the model's card
	Coverage float64        // idf-weighted share of the query's terms that the best hit holds, 0..1
}

// Passage is a chunk's text as the re-ranker takes it.
type Passage struct{ Breadcrumb, Text string }

// Keyword is the L0 index: exact names and full text.
type Keyword interface {
	Match(query string) []document.Match // sorted by path
	Search(ctx context.Context, query string, opt SearchOptions) (FullText, error)
}

// Semantic is the L1 index: chunks by meaning, cosine as score, best first.
type Semantic interface {
	Search(ctx context.Context, query string, k int, category string) ([]document.Hit, error)
}

// Reranker compares a query with passages piece by piece; 0..1 for each passage, in their order.
type Reranker interface {
	Soft(query string, passages []Passage) []float64
}

// Documents is what is indexed. All calls are answered from memory save Chunk, which may read the disk. A chunk or path
// it does not know is not indexed any more, whatever an index still says.
type Documents interface {
	Len() int // how many documents there are
	Owner(chunkID string) (path string, index int, ok bool)
	Doc(path string) (*Doc, bool) // shared and read-only
	ChunkIDs(path string) []string
	Chunk(chunkID string) (document.Chunk, bool)
}

// Deps are the engine's neighbours. Semantic, Reranker, Corrector and Metrics may be nil (off).
type Deps struct {
	Keyword   Keyword
	Semantic  Semantic
	Documents Documents
	Reranker  Reranker
	Corrector Corrector
	Metrics   *Metrics

	// Paths are slash paths below the base folder.
	Indexing func() bool                                   // the first scan still runs
	Read     func(path string) (*document.Document, error) // parses the file as it is now, or as it was while it looks half-written
	Exists   func(path string) bool                        // the file is there now (lstat)
}

// Values of Config.UniqueMatch.
const (
	UniqueTrust  = "trust"  // a unique match is high, as SPEC 2.4 says
	UniqueVerify = "verify" // one that covers little of the query is checked against the semantic index
)

// Config are the settings of `lookup` in API.md. A zero value of a field means its default.
type Config struct {
	AlwaysSemantic bool
	UniqueMatch    string        // trust (default) | verify
	TopK           int           // default 5
	L1TopK         int           // semantic passages reported, default 3
	Candidates     int           // chunks that are re-ranked, default 90
	L1Timeout      time.Duration // default 400 ms
	MinScore       *float64      // nil: auto, by Calibration; else the least evidence that is an answer
	Fusion         Fusion
	Calibration    Calibration // belongs to the embedding model; zero: one that knows nothing of it

	// FillUnique fills `results` of a unique match from full text as well if its names cover less than half of the query:
	// a keyword that happens to be in a long question. Names that are the question never need full text. (nDCG on the
	// judged set: .736 on, .697 off.)
	FillUnique bool
}

func (c Config) withDefaults() Config {
	if c.UniqueMatch == "" {
		c.UniqueMatch = UniqueTrust
	}
	if c.TopK == 0 {
		c.TopK = 5
	}
	if c.L1TopK == 0 {
		c.L1TopK = 3
	}
	if c.Candidates == 0 {
		c.Candidates = 90
	}
	if c.L1Timeout == 0 {
		c.L1Timeout = 400 * time.Millisecond
	}
	if c.Calibration == (Calibration{}) {
		c.Calibration = uncalibrated()
	}
	c.Fusion = c.Fusion.withDefaults()
	return c
}

// Engine answers lookups. It holds no state of its own and is safe for concurrent use.
type Engine struct {
	cfg  Config
	deps Deps
	log  *slog.Logger
	vain vain
}

// New returns an engine. It starts nothing.
func New(cfg Config, deps Deps, log *slog.Logger) *Engine {
	return &Engine{cfg: cfg.withDefaults(), deps: deps, log: log}
}
