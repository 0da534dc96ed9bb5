package chunker

import (
	"strings"
	"unicode/utf8"

	"knowledged/document"
)

// The limits where Options has none, and the smallest that Max can be: below it, a fence has no room for its content.
const (
	defaultTarget = 800
	defaultMax    = 1600
	smallestMax   = 40
)

// Options are limits on a chunk's text in characters. Zero fields mean 800 and 1600.
type Options struct {
	Target int // packing stops here; a quarter more is allowed where it saves a short last chunk
	Max    int // no chunk's text is longer; fences and tables stay whole up to it
}

func (o Options) withDefaults() Options {
	if o.Target <= 0 {
		o.Target = defaultTarget
	}
	if o.Max <= 0 {
		o.Max = max(defaultMax, o.Target)
	}
	o.Max = max(o.Max, smallestMax)
	o.Target = min(max(o.Target, smallestMax/2), o.Max)
	return o
}

// soft is how long a passage may get where that avoids cutting a short rest off.
func (o Options) soft() int { return min(o.Target+o.Target/4, o.Max) }

// Split cuts a document into its head chunk, if it has a title, a summary or names, and its passages in order. A heading is
// in the breadcrumb of its passages; one with no text and no children is found by the head chunk, which has all headings.
func Split(d *document.Document, opt Options) []document.Chunk {
	s := splitter{doc: d, opt: opt.withDefaults(), trail: newTrail(d)}
	s.head()
	s.packer.opt = s.opt
	at := -1 // index of the section we are in
	for b := range document.Blocks(d.Body) {
		for at+1 < len(d.Sections) && d.Sections[at+1].Start <= b.Start {
			s.passages(at)
			at++
			s.enter(at)
		}
		if at < 0 || d.Sections[at].Start != b.Start {
			s.packer.add(d.Body, b)
		}
	}
	s.passages(at)
	identify(d.Source, d.Category, s.chunks)
	return s.chunks
}

// splitter is a document half cut.
type splitter struct {
	doc     *document.Document
	opt     Options
	trail   trail
	packer  packer
	hasHead bool
	chunks  []document.Chunk
}

// enter begins a section, whose heading is in the breadcrumb, or in the text if it's too long for that.
func (s *splitter) enter(at int) {
	section := s.doc.Sections[at]
	s.trail.enter(section)
	heading := s.doc.Body[section.Start:section.Text]
	if strings.HasSuffix(section.Title, "…") && !strings.Contains(heading, section.Title) {
		s.packer.addText(document.BlockText, strings.TrimSpace(heading))
	}
}

// passages turns what was packed of a section into chunks.
func (s *splitter) passages(at int) {
	texts := s.packer.take()
	if len(texts) == 0 && at >= 0 && !s.hasHead && hasWords(s.doc.Sections[at].Title) {
		if next := at + 1; next == len(s.doc.Sections) || s.doc.Sections[next].Level <= s.doc.Sections[at].Level {
			s.packer.addText(document.BlockHeading, s.doc.Sections[at].Title) // nothing else would hold its words
			texts = s.packer.take()
		}
	}
	for _, text := range texts {
		s.chunks = append(s.chunks, document.Chunk{Breadcrumb: s.trail.String(), Text: text})
	}
}

// head adds the head chunk. Its text is cut at the limit; its fields are whole.
func (s *splitter) head() {
	d := s.doc
	var lines []string
	for _, line := range []string{d.Title, d.Summary, strings.Join(d.Keywords, ", ")} {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	s.hasHead = true
	text := strings.Join(lines, "\n")
	if utf8.RuneCountInString(text) > s.opt.Max {
		text = text[:breakAt(text, s.opt.Max)]
	}
	s.chunks = append(s.chunks, document.Chunk{
		Head: &document.Head{
			Title: d.Title, Keywords: d.Keywords, Aliases: d.Aliases, Summary: d.Summary, Headings: headings(d),
		},
		Breadcrumb: s.trail.String(),
		Text:       text,
	})
}

// headings are the names and headings by which a document's sections can be asked for, each once.
func headings(d *document.Document) []string {
	var titles []string
	seen := map[string]bool{d.Title: true}
	add := func(title string) {
		if !seen[title] {
			seen[title] = true
			titles = append(titles, title)
		}
	}
	for _, name := range d.SectionNames {
		add(name.Name)
	}
	for _, section := range d.Sections {
		add(section.Title)
	}
	return titles
}
