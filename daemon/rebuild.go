package daemon

import (
	"slices"
	"strings"

	"knowledged/document"
	"knowledged/registry"
)

// crumbSeparator is what joins the steps of a breadcrumb.
const crumbSeparator = " > "

// rebuilt is a document as it was indexed, from its record and stored chunks: the file is being written and has it no more.
// It is as good as an answer needs for half a second, not byte for byte: comments are gone, a fence or table that was cut
// begins anew with each passage, and levels of headings that were skipped are not.
func (d *Daemon) rebuilt(rec *registry.Record) (*document.Document, bool) {
	chunks, err := d.registry.Chunks(rec.Path)
	if err != nil || len(chunks) == 0 {
		return nil, false
	}
	doc := &document.Document{
		Path: rec.Path, Source: d.baseName + "/" + rec.Path, Title: rec.Title, Summary: rec.Summary, Category: rec.Category,
		Keywords: rec.Keywords, Aliases: rec.Aliases, SectionNames: rec.SectionNames, Metadata: rec.Metadata,
		HasFrontmatter: rec.HasFrontmatter, InL0: rec.InL0, Warnings: rec.Warnings, BodyLine: 1, Chinese: rec.Chinese,
	}
	b := newRebuilder(rec)
	if chunks[0].Head != nil {
		b.root, chunks = chunks[0].Breadcrumb, chunks[1:]
	}
	for _, c := range chunks {
		b.add(c)
	}
	b.skip(len(b.next), 2)
	doc.Body, doc.Sections = b.finish()
	return doc, true
}

// rebuilder writes the body of a document from its passages.
type rebuilder struct {
	root  string          // what each breadcrumb begins with
	below map[string]bool // folded titles below the first level
	next  []string        // titles below the first level that are still to come, in order
	split []string        // titles that hold a separator

	body     strings.Builder
	sections []document.Section
	trail    []string // where the last passage was
}

func newRebuilder(rec *registry.Record) *rebuilder {
	b := &rebuilder{below: make(map[string]bool, len(rec.Sections))}
	names := make(map[string]bool, len(rec.SectionNames)) // these come first, wherever their heading is
	for _, n := range rec.SectionNames {
		names[n.Name] = true
	}
	for _, title := range rec.Sections {
		b.below[document.Fold(title)] = true
		if !names[title] {
			b.next = append(b.next, title)
		}
		if strings.Contains(title, crumbSeparator) {
			b.split = append(b.split, title)
		}
	}
	return b
}

// add writes a passage, below the headings that lead to it.
func (b *rebuilder) add(c document.Chunk) {
	steps := b.steps(c.Breadcrumb)
	same := 0
	for same < min(len(steps), len(b.trail)) && steps[same] == b.trail[same] {
		same++
	}
	if same > 0 && same == len(steps) && same < len(b.trail) {
		same-- // a section's own text comes before its children: this is another one of that title
	}
	top := 2
	if len(steps) > 0 && !b.below[document.Fold(steps[0])] {
		top = 1
	}
	for i := same; i < len(steps); i++ {
		level := min(top+i, 6)
		b.skip(slices.Index(b.next, steps[i]), level)
		if len(b.next) > 0 && b.next[0] == steps[i] {
			b.next = b.next[1:]
		}
		b.heading(steps[i], level)
	}
	b.trail = steps
	b.body.WriteString(c.Text + "\n\n")
}

// skip writes the next n headings (none if n is negative): no passage is of them, so they have no text.
func (b *rebuilder) skip(n, level int) {
	for range n {
		b.heading(b.next[0], level)
		b.next = b.next[1:]
	}
}

// steps are the headings of a breadcrumb.
func (b *rebuilder) steps(crumb string) (steps []string) {
	rest := strings.TrimPrefix(strings.TrimPrefix(crumb, b.root), crumbSeparator)
	for rest != "" {
		step, _, _ := strings.Cut(rest, crumbSeparator)
		for _, title := range b.split {
			if len(title) > len(step) && strings.HasPrefix(rest+crumbSeparator, title+crumbSeparator) {
				step = title
			}
		}
		steps = append(steps, step)
		rest = strings.TrimPrefix(rest[len(step):], crumbSeparator)
	}
	return steps
}

func (b *rebuilder) heading(title string, level int) {
	s := document.Section{Title: title, Level: level, Start: b.body.Len()}
	b.body.WriteString(strings.Repeat("#", level) + " " + title + "\n")
	s.Text = b.body.Len()
	b.body.WriteString("\n")
	b.sections = append(b.sections, s)
}

// finish ends each section where the next one of its level begins.
func (b *rebuilder) finish() (string, []document.Section) {
	var open []int
	for i := range b.sections {
		s := &b.sections[i]
		s.Next, s.End = b.body.Len(), b.body.Len()
		if i > 0 {
			b.sections[i-1].Next = s.Start
		}
		for len(open) > 0 && b.sections[open[len(open)-1]].Level >= s.Level {
			b.sections[open[len(open)-1]].End = s.Start
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	return b.body.String(), b.sections
}
