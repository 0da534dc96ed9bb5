package chunker

import (
	"strings"
	"unicode/utf8"

	"knowledged/document"
)

const separator = " > "

// maxTitle bounds, in characters, what the title takes of each breadcrumb. Headings are as short already.
const maxTitle = 200

// trail is the stack of headings that leads to where the splitter is.
type trail struct {
	title string
	root  int // index of the section that repeats the title, or -1
	steps []document.Section
}

func newTrail(d *document.Document) trail {
	t := trail{title: strings.TrimSpace(d.Title), root: -1}
	for _, section := range d.Sections {
		if section.Level == 1 {
			if t.title != "" && document.Fold(section.Title) == document.Fold(t.title) {
				t.root = section.Start
			}
			break // only the first counts: a later one is a section of its own
		}
	}
	if utf8.RuneCountInString(t.title) > maxTitle {
		t.title = t.title[:breakAt(t.title, maxTitle-1)] + "…"
	}
	return t
}

// enter goes to a section: to its parent, which is the nearest one before it of a higher level, and down.
func (t *trail) enter(s document.Section) {
	n := len(t.steps)
	for n > 0 && t.steps[n-1].Level >= s.Level {
		n--
	}
	t.steps = append(t.steps[:n], s)
}

func (t *trail) String() string {
	var names []string
	if t.title != "" {
		names = append(names, t.title)
	}
	for _, step := range t.steps {
		if step.Start != t.root {
			names = append(names, step.Title)
		}
	}
	return strings.Join(names, separator)
}
