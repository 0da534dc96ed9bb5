// Package document holds the words all other packages share: a parsed Markdown file, its sections, its chunks, and a hit
// on one of them. It parses front matter and headings; it knows nothing of files, indexes or networks.
package document

import "encoding/json"

// Document is one Markdown file as parsed: everything the indexes and the answers need.
type Document struct {
	Path   string // slash path below the base folder, spelled as on disk: "api/payment-errors.md"
	Source string // the base folder's name + "/" + Path: what answers call the document

	Title    string
	Summary  string
	Category string // front matter's category, else the first folder below the base, else ""
	Keywords []string
	Aliases  []string // more names; they match as keywords do

	SectionNames []SectionName   // front matter's `sections`, in the author's order
	Metadata     json.RawMessage // the whole front matter as a JSON object, or nil

	HasFrontmatter bool
	InL0           bool      // belongs in the keyword index (SPEC 1.3)
	Warnings       []Warning // in line order; what the author should mend

	Body     string // the text below the front matter: UTF-8, LF line ends, no BOM
	BodyLine int    // 1-based line of the file on which Body starts
	Sections []Section
	Chinese  bool // labels in answers are Chinese (the document is mostly Chinese)
}

// SectionName is an entry of front matter's `sections`: a name to ask for and the heading it stands for.
type SectionName struct {
	Name    string `json:"name"`
	Heading string `json:"heading"` // heading text without leading #s
	Level   int    `json:"level"`   // number of leading #s the author wrote, 0 if none
}

// Section is a heading and the span of text it owns. Offsets are bytes into Document.Body.
type Section struct {
	Title string `json:"title"` // plain text of the heading: no markup, comments, trailing #s or {#id}
	Level int    `json:"level"` // 1..6
	Line  int    `json:"line"`  // 1-based line in the file
	Start int    `json:"start"` // first byte of the heading line
	Text  int    `json:"text"`  // first byte after the heading line(s): the section's own text starts here
	Next  int    `json:"next"`  // start of the next heading of any level (or len(Body))
	End   int    `json:"end"`   // start of the next heading of the same or a higher level (or len(Body))
}

// Warning is something the author should mend, in the author's terms.
type Warning struct {
	Line    int    `json:"line"` // 1-based line in the file; 0 if it concerns the whole file
	Message string `json:"message"`
}

// Chunk is a passage of one document: the unit that full text and vectors index. A chunk's ID is a function of all that
// the indexes store of it (source path, kind, breadcrumb, text, occurrence), so equal IDs mean that nothing need be written.
type Chunk struct {
	ID         string // 32 lower-case hex digits
	Head       *Head  // set on the one chunk a document that holds title, keywords and summary; nil on passages
	Breadcrumb string // headings joined by " > ", rooted at the document's title
	Text       string
	Index      int // position in the document, 0-based; the head chunk is 0 where there is one
	Total      int
}

// Head is what a head chunk holds, field by field, since full text weighs the fields apart.
type Head struct {
	Title    string   `json:"title"`
	Keywords []string `json:"keywords,omitempty"`
	Aliases  []string `json:"aliases,omitempty"`
	Summary  string   `json:"summary,omitempty"`
	Headings []string `json:"headings,omitempty"` // all section titles of the document
}

// Hit is a chunk found by one ranking.
type Hit struct {
	ChunkID string
	Score   float64
	Why     []Contribution // only where an explanation was asked for
}

// Contribution is a part of a score, for `explain`.
type Contribution struct {
	Term  string  `json:"term"`
	Field string  `json:"field"`
	Score float64 `json:"score"`
}

// Match is an exact (L0) match: the document and the names that matched.
type Match struct {
	Path  string
	Names []MatchedName
}

// MatchedName says which name of a document matched and how.
type MatchedName struct {
	Name string `json:"name"`
	Kind string `json:"kind"`         // "keyword", "alias" or "title"
	How  string `json:"how"`          // "query_contains_name", "name_contains_query" or "synonym"
	As   string `json:"as,omitempty"` // with "synonym": what the query has in its place, as compared
}

// Decode is the text of a file as Parse reads it: UTF-8, LF line ends, no BOM. The error wraps ErrNotText.
func Decode(data []byte) (string, error) { return decode(data) }
