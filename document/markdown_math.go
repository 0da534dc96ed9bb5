package document

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A formula on lines of its own, between $$ or \[ \], is text to Markdown, which sees a heading in its = or - alone on a line
// and in its #. Where the closing mark is missing before the next blank line, there is no formula.

// formulaEnd is what closes the formula that a line opens, or "".
func formulaEnd(line string) string {
	line = strings.Trim(line, " \t\n\r>")
	switch {
	case line == `\[`:
		return `\]`
	case strings.HasPrefix(line, "$$") && !strings.Contains(line[2:], "$$"):
		return "$$"
	}
	return ""
}

func closesFormula(line, end string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " \t\n\r"), end)
}

// isFormula says whether the lines of rest, which are below one that opens a formula, close it. It reads no further than the
// next line that opens one, so that all looks together are one pass.
func isFormula(rest, end string) bool {
	for line := range strings.Lines(rest) {
		if closesFormula(line, end) {
			return true
		}
		if strings.Trim(line, " \t\n\r>") == "" || formulaEnd(line) != "" {
			return false
		}
	}
	return false
}

// formula is the node of one in goldmark's tree.
type formula struct {
	ast.BaseBlock
	end string
}

var formulaKind = ast.NewNodeKind("Formula")

func (*formula) Kind() ast.NodeKind          { return formulaKind }
func (f *formula) Dump(source []byte, n int) { ast.DumpHelper(f, source, n, nil, nil) }

// formulaParser finds formulas for goldmark.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	end := formulaEnd(string(line))
	if end == "" || !isFormula(util.BytesToReadOnlyString(reader.Source()[segment.Stop:]), end) {
		return nil, parser.NoChildren
	}
	f := &formula{end: end}
	f.Lines().Append(segment)
	reader.AdvanceToEOL()
	return f, parser.NoChildren
}

func (formulaParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	f := node.(*formula)
	line, segment := reader.PeekLine()
	f.Lines().Append(segment)
	reader.AdvanceToEOL()
	if closesFormula(string(line), f.end) {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

func (formulaParser) Close(ast.Node, text.Reader, parser.Context) {}
func (formulaParser) CanInterruptParagraph() bool                 { return true }
func (formulaParser) CanAcceptIndentedLine() bool                 { return false }
