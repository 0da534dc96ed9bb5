package lookup

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxQuery is the longest query taken, in characters. A log excerpt fits; a pasted file does not.
const MaxQuery = 8000

// MaxTopK is the most entries `results` can be asked for.
const MaxTopK = 50

// Values of Request.Content.
const (
	ContentAuto     = "auto"     // as the decision table of SPEC 2.5 says
	ContentCompact  = "compact"  // title, summary, section list and the beginning of the body
	ContentMetadata = "metadata" // title, summary, keywords and source; the file is not read
	ContentFull     = "full"     // the whole body
)

// Request is one question, as POST /v1/lookup takes it.
type Request struct {
	Query          string `json:"query"`
	SectionTitle   string `json:"sectionTitle,omitempty"`
	Category       string `json:"category,omitempty"`
	TopK           int    `json:"topK,omitempty"` // 0: the configured default
	AlwaysSemantic bool   `json:"alwaysSemantic,omitempty"`
	Content        string `json:"content,omitempty"` // "": auto
	Explain        bool   `json:"explain,omitempty"`

	RequestID string `json:"-"` // "": one is made
	Caller    string `json:"-"` // the door it came through, for the log and the history
	Tool      string `json:"-"` // the client's own name, where it gave one
	Preview   bool   `json:"-"` // a query that is still being typed: no part of the history, logged at DEBUG
}

// InputError says which field of a request is wrong: the client's mistake, never the daemon's.
type InputError struct {
	Field   string
	Message string
}

func (e *InputError) Error() string { return e.Field + " " + e.Message }

// validate returns the request with blanks at the edges gone and defaults filled in, or an *InputError.
func (r Request) validate(topK int) (Request, error) {
	if !utf8.ValidString(r.Query) {
		return r, &InputError{"query", "is not valid UTF-8"}
	}
	// Length first: a megabyte of blanks must not be worth a scan by any of the later steps.
	if n := utf8.RuneCountInString(r.Query); n > MaxQuery {
		return r, &InputError{"query", fmt.Sprintf("is too long: %d characters, at most %d", n, MaxQuery)}
	}
	r.Query = strings.TrimFunc(strings.Map(dropNUL, r.Query), invisible)
	if r.Query == "" {
		return r, &InputError{"query", "is empty: ask for a keyword or a question"}
	}
	r.SectionTitle = strings.TrimFunc(strings.Map(dropNUL, r.SectionTitle), invisible)
	r.Category = strings.Trim(strings.TrimFunc(r.Category, invisible), "/")
	switch r.Content {
	case "":
		r.Content = ContentAuto
	case ContentAuto, ContentCompact, ContentMetadata, ContentFull:
	default:
		return r, &InputError{"content", fmt.Sprintf("is %q: use auto, compact, metadata or full", r.Content)}
	}
	if r.TopK == 0 {
		r.TopK = topK
	}
	if r.TopK < 1 || r.TopK > MaxTopK {
		return r, &InputError{"topK", fmt.Sprintf("is %d: use 1 to %d", r.TopK, MaxTopK)}
	}
	return r, nil
}

// dropNUL turns a NUL into a blank: terminals and C programs put them into text, nobody asks for one.
func dropNUL(r rune) rune {
	if r == 0 {
		return ' '
	}
	return r
}

// invisible reports white space of any script, control characters and zero-width characters: at the edges of a query they
// are not part of what was asked (SPEC 1.4).
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
