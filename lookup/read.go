package lookup

import "knowledged/document"

// DefaultReadChars is how much of a document is read where nothing is said (SPEC 2.9).
const DefaultReadChars = 2000

// Excerpt is a document's text, as GET /v1/documents/{docId}/content returns it.
type Excerpt struct {
	Content           string   `json:"content"` // ends in "..." when cut
	Truncated         bool     `json:"truncated"`
	Section           *string  `json:"section"` // null unless one was asked for and found
	AvailableSections []string `json:"availableSections"`
	Hint              string   `json:"hint,omitempty"` // nearest titles, where the section does not exist
}

// Read returns up to maxChars characters (below 1: DefaultReadChars) of a document's text, or of one of its sections. text
// is the whole file as decoded, front matter and all; d is the same file parsed. The dots of a cut text come on top of
// maxChars: they are not the document's.
func Read(d *document.Document, text string, maxChars int, section string) Excerpt {
	if maxChars < 1 {
		maxChars = DefaultReadChars
	}
	x := Excerpt{AvailableSections: listed(d.SectionTitles())}
	if section != "" {
		if name, s, ok := d.FindSection(section); ok {
			x.Section = &name
			text = sectionText(d, s)
		} else {
			x.Hint = sectionHint(d, section)
		}
	}
	if x.Content, x.Truncated = cut(text, maxChars); x.Truncated {
		x.Content += "..."
	}
	return x
}
