package document

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Bounds on one document. Within them goldmark reads it; beyond them a line scanner does, which knows top-level
// structure only. The line bound is for memory: goldmark keeps a record per line and open container.
const (
	maxGoldmarkLines = 50_000
	maxSections      = 20_000 // later headings are text like any other
	maxTitle         = 200    // characters of a section's title
	maxTitleSource   = 2048   // bytes of a heading's source that are looked at for its title
)

// BlockKind says what a Block is.
type BlockKind uint8

// The kinds of blocks. A list item or a quote has no kind of its own: its paragraphs and fences are blocks, with markers.
const (
	BlockText    BlockKind = iota // paragraph, or a heading that owns no section: in a list or a quote, or nameless
	BlockHeading                  // heading at top level with a title
	BlockFence
	BlockCode // indented code
	BlockTable
	BlockHTML
	BlockRule
)

// Block is a leaf of a document's block structure: a span of whole lines. Offsets are bytes into the body.
type Block struct {
	Kind  BlockKind
	Level uint8 // of a heading, 1..6
	Start int   // first byte of its first line, list and quote markers included
	Open  int   // fence: its first backtick or tilde; else Start
	Text  int   // heading: after its line(s); fence: after its opening line; table: after the delimiter row; else Start
	End   int   // after its last line; blank lines below it belong to nothing
	title string
}

// maxGoldmarkBytes is a variable for the tests alone: they cross the bound with smaller texts.
var maxGoldmarkBytes = 1 << 20

// Blocks yields the leaf blocks of a Markdown text in order. Time and memory grow linearly with the text, whatever it is.
func Blocks(body string) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		if len(body) <= maxGoldmarkBytes && strings.Count(body, "\n") < maxGoldmarkLines {
			parsedBlocks(body, yield)
			return
		}
		scannedBlocks(body, yield)
	}
}

// Sections finds the headings of a Markdown text and the span that each owns. bodyLine is the 1-based line of the file
// on which body starts. Headings in code, HTML blocks, comments, lists and quotes are none, nor are those without a word.
func Sections(body string, bodyLine int) []Section {
	var sections []Section
	var open []int // indexes of the sections that have no end yet, levels rising
	line, counted := bodyLine, 0
	for b := range Blocks(body) {
		if b.Kind != BlockHeading {
			continue
		}
		if len(sections) == maxSections {
			break
		}
		line += strings.Count(body[counted:b.Start], "\n")
		counted = b.Start
		if n := len(sections); n > 0 {
			sections[n-1].Next = b.Start
		}
		for len(open) > 0 && sections[open[len(open)-1]].Level >= int(b.Level) {
			sections[open[len(open)-1]].End = b.Start
			open = open[:len(open)-1]
		}
		open = append(open, len(sections))
		sections = append(sections, Section{
			Title: b.title, Level: int(b.Level), Line: line,
			Start: b.Start, Text: b.Text, Next: len(body), End: len(body),
		})
	}
	return sections
}

// headingTitle is the title of a heading with this source: plain, and cut so that no breadcrumb outgrows its passage.
func headingTitle(source string) string {
	title := PlainHeading(source)
	if utf8.RuneCountInString(title) <= maxTitle {
		return title
	}
	n := 0
	for i := range title {
		if n == maxTitle-1 {
			return title[:i] + "…"
		}
		n++
	}
	return title
}

// cutBytes cuts s to at most n bytes, at a character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
