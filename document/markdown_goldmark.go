package document

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const bom = "\ufeff"

// maxNesting bounds how deep lists and quotes nest: goldmark's work for a line grows with the containers open. A list
// counts twice, as list and as item. Deeper markers are text.
const maxNesting = 32

// blockParser reads block structure only. Inline parsers are left out because goldmark's are quadratic on hostile text
// and no heading needs them; tables are found by tableStart, since goldmark pads each row to the width of the header,
// which is quadratic too; link definitions stay in the text as the lines they are.
var blockParser = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewSetextHeadingParser(), 100),
	util.Prioritized(parser.NewThematicBreakParser(), 200),
	util.Prioritized(shallow{parser.NewListParser()}, 300),
	util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewCodeBlockParser(), 500),
	util.Prioritized(parser.NewATXHeadingParser(), 600),
	util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
	util.Prioritized(formulaParser{}, 750),
	util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
	util.Prioritized(parser.NewHTMLBlockParser(), 900),
	util.Prioritized(parser.NewParagraphParser(), 1000),
))

// shallow opens no container below maxNesting.
type shallow struct{ parser.BlockParser }

func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	// In a list the list parser must be asked: it opens nothing there, but clears a flag that the item has set.
	if _, inList := parent.(*ast.List); !inList {
		depth := 0
		for n := parent; n != nil; n = n.Parent() {
			depth++
		}
		if depth > maxNesting {
			return nil, parser.NoChildren
		}
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// parsedBlocks yields the blocks that goldmark finds.
func parsedBlocks(body string, yield func(Block) bool) {
	source := []byte(body)
	if strings.HasPrefix(body, bom) {
		copy(source, "   ") // as many bytes, and an indent that changes no structure; goldmark sees no heading behind a BOM
	}
	w := blockWalk{body: body, source: source, lines: lineStarts(body), emit: blockEmitter{body: body, yield: yield}}
	root := blockParser.Parse(text.NewReader(source))
	if w.walk(root, -1, true) {
		w.emit.flush(len(body))
	}
}

// blockWalk turns goldmark's tree into blocks. A block reaches to the line where the next one starts: goldmark doesn't
// keep where fences and breaks end.
type blockWalk struct {
	body   string
	source []byte
	lines  []int // offsets of line starts
	emit   blockEmitter
}

// walk visits the blocks below n. pending is the offset of the line on which containers were opened that have shown no
// leaf yet, or -1. It returns false when the reader of the blocks has had enough.
func (w *blockWalk) walk(n ast.Node, pending int, top bool) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c.(type) {
		case *ast.List, *ast.ListItem, *ast.Blockquote:
			start := pending
			if start < 0 {
				start = w.lineOf(c.Pos())
			}
			if c.HasChildren() {
				if !w.walk(c, start, false) {
					return false
				}
			} else if !w.emit.add(Block{Start: start, Open: start, Text: start}) {
				return false
			}
		default:
			if !w.leaf(c, pending, top) {
				return false
			}
		}
		pending = -1
	}
	return true
}

func (w *blockWalk) leaf(n ast.Node, pending int, top bool) bool {
	first := n.Pos()
	lines := n.Lines()
	if lines.Len() > 0 && n.Kind() != ast.KindFencedCodeBlock {
		first = lines.At(0).Start
	}
	line := w.lineOf(first)
	start := line
	if pending >= 0 {
		start = min(pending, line)
	}
	b := Block{Start: start, Open: start, Text: start}
	switch n := n.(type) {
	case *ast.Heading:
		return w.heading(n, b, line, top)
	case *ast.FencedCodeBlock:
		b.Kind = BlockFence
		b.Text = w.nextLine(line)
		b.Open = line + max(strings.IndexAny(w.body[line:b.Text], "`~"), 0)
	case *ast.CodeBlock:
		b.Kind = BlockCode
	case *ast.HTMLBlock:
		b.Kind = BlockHTML
	case *ast.ThematicBreak:
		b.Kind = BlockRule
	case *formula: // text, in which no table is looked for
	default:
		return w.paragraph(lines, b)
	}
	return w.emit.add(b)
}

// paragraph adds a paragraph and the table that may be in it.
func (w *blockWalk) paragraph(lines *text.Segments, b Block) bool {
	header := tableStart(lines.Len(), func(i int) string {
		s := lines.At(i)
		return w.body[s.Start:s.Stop]
	})
	if header < 0 {
		return w.emit.add(b)
	}
	table := w.lineOf(lines.At(header).Start)
	if header > 0 {
		if !w.emit.add(b) {
			return false
		}
		b.Start = table
	}
	b.Kind, b.Open, b.Text = BlockTable, table, w.nextLine(lines.At(header+1).Start)
	return w.emit.add(b)
}

// heading adds a heading, or what only looks like one as text.
func (w *blockWalk) heading(n *ast.Heading, b Block, line int, top bool) bool {
	if !top {
		return w.emit.add(b)
	}
	var source []string
	lines := n.Lines()
	for i := range lines.Len() {
		s := lines.At(i)
		source = append(source, w.body[s.Start:s.Stop])
	}
	last := line
	if !isATX(w.body[line:w.nextLine(line)]) {
		source = slices.DeleteFunc(source, isDirective)
		last = w.nextLine(lines.At(lines.Len() - 1).Start) // the line of = or -
	}
	b.title = headingTitle(strings.Join(source, " "))
	if b.title == "" {
		return w.emit.add(b)
	}
	b.Kind, b.Level, b.Text = BlockHeading, uint8(n.Level), w.nextLine(last)
	return w.emit.add(b)
}

// lineOf is the start of the line that holds offset.
func (w *blockWalk) lineOf(offset int) int {
	i, found := slices.BinarySearch(w.lines, offset)
	if !found {
		i--
	}
	return w.lines[max(i, 0)]
}

// nextLine is the start of the line after the one that holds offset.
func (w *blockWalk) nextLine(offset int) int {
	return nextLine(w.body, offset)
}

func nextLine(s string, offset int) int {
	if i := strings.IndexByte(s[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(s)
}

func lineStarts(s string) []int {
	starts := make([]int, 1, 1+strings.Count(s, "\n"))
	for i := nextLine(s, 0); i < len(s); i = nextLine(s, i) {
		starts = append(starts, i)
	}
	return starts
}

// blockEmitter holds a block back until the next one's start tells where it ends.
type blockEmitter struct {
	body  string
	yield func(Block) bool
	held  *Block
}

func (e *blockEmitter) add(b Block) bool {
	if e.held != nil && b.Start <= e.held.Start {
		return true // on a line that a block has already: its text is in that one
	}
	ok := e.flush(b.Start)
	e.held = &b
	return ok
}

// flush yields the block held back, which ends before offset.
func (e *blockEmitter) flush(offset int) bool {
	if e.held == nil {
		return true
	}
	b := *e.held
	e.held = nil
	b.End = max(trimBlankLines(e.body, b.Start, offset), b.Text)
	return b.End == b.Start || e.yield(b) // an empty quote has no line of its own
}

// trimBlankLines moves end back over lines, not before start, that hold nothing but blanks and quote marks.
func trimBlankLines(s string, start, end int) int {
	for end > start {
		line := strings.LastIndexByte(s[start:end-1], '\n') + 1 + start
		if strings.Trim(s[line:end], " \t>\n\r") != "" {
			break
		}
		end = line
	}
	return end
}
