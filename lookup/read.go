package lookup

import (
	"fmt"
	"unicode/utf8"
)

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

// Read returns up to maxChars characters (0: DefaultReadChars) of a document's text, as its file is now, or of one of its
// sections. path is below the base folder. An error wraps what the file system said.
func (e *Engine) Read(path string, maxChars int, section string) (*Excerpt, error) {
	if maxChars < 0 {
		return nil, &InputError{"maxChars", fmt.Sprintf("is %d: use 1 or more, or leave it out for %d", maxChars, DefaultReadChars)}
	}
	if maxChars == 0 {
		maxChars = DefaultReadChars
	}
	d, err := e.deps.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	x := &Excerpt{AvailableSections: listed(d.SectionTitles())}
	text := d.Body
	if section != "" {
		if name, s, ok := d.FindSection(section); ok {
			x.Section = &name
			text = sectionText(d, s)
		} else {
			x.Hint = sectionHint(d, section)
		}
	}
	if x.Section == nil && e.deps.Text != nil {
		if text, err = e.deps.Text(path); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	x.Content = text
	if utf8.RuneCountInString(text) > maxChars {
		// The cut text keeps all maxChars characters: the dots come on top, as they say "there is more".
		x.Content, x.Truncated = cut(text, maxChars)
		x.Content += "..."
	}
	return x, nil
}
