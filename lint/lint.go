// Package lint finds what keeps documents from being found: names that several share, front matter that cannot be read,
// sections that do not exist, dead links. It is pure: Inspect looks at one document, Check at all of them together; lint/folder
// reads them from disk.
package lint

import (
	"cmp"
	"slices"

	"knowledged/document"
)

// Severity says what a finding does to answers.
type Severity string

// Error: a document, or something its author wrote for lookups, is not there for them. Warning: answers are worse than
// they could be. Note: worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Location is a place in a document. Line and Column are 1-based, 0 where unknown; columns count characters.
type Location struct {
	Path   string `json:"path"` // slash path below the base folder
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Finding is one thing to mend.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Location
	Message string    `json:"message"`
	Fix     string    `json:"fix"`               // what to do
	Related []Related `json:"related,omitempty"` // the other documents that take part in it
}

// Related is another place that belongs to a finding.
type Related struct {
	Location
	Message string `json:"message"`
}

// Report is what Check returns: findings by path, line and rule.
type Report struct {
	Documents int       `json:"documents"` // looked at, those that cannot be read included
	Errors    int       `json:"errors"`
	Warnings  int       `json:"warnings"`
	Notes     int       `json:"notes"`
	Findings  []Finding `json:"findings"`
}

// Folder is all documents and what is around them.
type Folder struct {
	Pages    []Page     // what Inspect made of each document that could be read
	Rejected []Rejected // what could not be, or is no document though it looks like one
	Copies   []string   // paths of sync-conflict copies
	Synonyms []byte     // of .synonyms.yaml; nil: there is none

	// Exists reports whether there is a file or folder at a slash path below the base folder.
	Exists func(path string) bool
	// NewMatcher makes the exact match of lookups over documents that have one keyword each; the path of the nth is n in
	// decimal. Nil: names are not looked for in one another.
	NewMatcher func(keywords []string) Matcher
}

// Matcher is the half of the exact match in which a query contains names: the documents that have one of them.
type Matcher interface {
	NamesIn(query string) []document.Match
}

// Rejected is a document that is not indexed.
type Rejected struct {
	Path   string
	Rule   string // NotText, TooLarge or NotRead
	Reason string
}

// Check finds everything that is wrong with a folder.
func Check(f Folder) Report {
	c := &check{folder: f, pages: slices.Clone(f.Pages)}
	slices.SortFunc(c.pages, func(a, b Page) int { return cmp.Compare(a.path, b.path) })
	for _, p := range c.pages {
		c.findings = append(c.findings, p.findings...)
	}
	c.rejected()
	c.titles()
	c.names()
	c.links()
	c.checkSynonyms()
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	r := Report{Documents: len(f.Pages) + len(f.Rejected), Findings: []Finding{}}
	for _, found := range c.findings {
		r.add(found)
	}
	return r
}

// Of is the report on one document.
func (r Report) Of(path string) Report {
	one := Report{Documents: 1, Findings: []Finding{}}
	for _, f := range r.Findings {
		if f.Path == path {
			one.add(f)
		}
	}
	return one
}

func (r *Report) add(f Finding) {
	r.Findings = append(r.Findings, f)
	switch f.Severity {
	case Error:
		r.Errors++
	case Warning:
		r.Warnings++
	default:
		r.Notes++
	}
}

// check gathers findings over all pages, which are sorted by path.
type check struct {
	folder   Folder
	pages    []Page
	findings []Finding
}

// report adds a finding with its rule's own severity and advice.
func (c *check) report(rule string, at Location, message string, related ...Related) *Finding {
	c.findings = append(c.findings, found(rule, at, message, related...))
	return &c.findings[len(c.findings)-1]
}

func found(rule string, at Location, message string, related ...Related) Finding {
	r := ruleOf(rule)
	return Finding{Rule: rule, Severity: r.Severity, Location: at, Message: message, Fix: r.Fix, Related: related}
}

func (c *check) rejected() {
	for _, r := range c.folder.Rejected {
		c.report(r.Rule, Location{Path: r.Path}, r.Reason)
	}
	for _, path := range c.folder.Copies {
		c.report(ConflictCopy, Location{Path: path}, "a copy that a sync client left after a conflict; it is not indexed")
	}
}
