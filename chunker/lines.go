package chunker

import (
	"strings"
	"unicode/utf8"

	"knowledged/document"
)

// lineBlock is a block that is cut between lines, each part beginning and ending alike.
type lineBlock struct {
	first  string // what the first part begins with; "" or ends with a newline
	header string // what later parts begin with
	lines  string
	footer string // what each part ends with; "" or begins with a newline
	rows   bool   // lines are rows of a table: one that fits without the header only stays whole
}

// addFence adds a fenced code block: whole, or in parts that are fences themselves.
func (p *packer) addFence(body string, b document.Block) {
	content := document.Visible(b.Kind, body[b.Text:b.End])
	mark := fenceMark(body[b.Open:b.Text])
	line := strings.LastIndexByte(body[:b.Open], '\n') + 1
	prefix := strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' ' // a list's marker: what follows is indented as far
	}, body[line:b.Open])
	content = withoutClosingFence(content, mark)
	if strings.Trim(content, "> \t\n") == "" && !hasWords(body[b.Open:b.Text]) {
		return
	}
	p.addLines(b.Kind, lineBlock{
		first:  withNewline(body[b.Start:b.Text]),
		header: prefix + withNewline(body[b.Open:b.Text]),
		lines:  strings.TrimSuffix(content, "\n"),
		footer: "\n" + prefix + mark,
	})
}

func fenceMark(opening string) string {
	return opening[:len(opening)-len(strings.TrimLeft(opening, opening[:1]))]
}

func withoutClosingFence(content, mark string) string {
	content = strings.TrimRight(content, " \t\n")
	last := content[strings.LastIndexByte(content, '\n')+1:]
	bare := strings.TrimLeft(last, "> \t")
	if len(bare) < len(mark) || strings.Trim(bare, mark[:1]) != "" {
		return content
	}
	return content[:len(content)-len(last)]
}

func withNewline(line string) string {
	return strings.TrimSuffix(line, "\n") + "\n"
}

// addTable adds a table: whole, or in parts that have its header.
func (p *packer) addTable(body string, b document.Block) {
	header := visibleRows(body[b.Start:b.Text])
	rows := strings.TrimRight(visibleRows(body[b.Text:b.End]), "\n")
	if rows == "" {
		p.addText(document.BlockText, header)
		return
	}
	p.addLines(b.Kind, lineBlock{first: withNewline(header), header: withNewline(header), lines: rows, rows: true})
}

// visibleRows treats each row by itself, for a backtick left open in one cell opens no code in another row.
func visibleRows(source string) string {
	var b strings.Builder
	for row := range strings.Lines(source) {
		b.WriteString(document.Visible(document.BlockTable, row))
	}
	return b.String()
}

// addLines adds a block of lines, whole if it fits into a chunk, else in parts of about the target. A header that leaves
// little room is written once.
func (p *packer) addLines(kind document.BlockKind, b lineBlock) {
	whole := b.first + b.lines + b.footer
	if utf8.RuneCountInString(whole) <= p.opt.Max {
		p.push(kind, whole, "")
		return
	}
	overhead := max(utf8.RuneCountInString(b.first), utf8.RuneCountInString(b.header)) + utf8.RuneCountInString(b.footer)
	if overhead > p.opt.Max/2 {
		b, overhead = lineBlock{lines: whole}, 0
	}
	part := linePart{packer: p, kind: kind, block: b, overhead: overhead}
	for line := range strings.SplitSeq(b.lines, "\n") {
		part.add(line)
	}
	part.end()
}

// linePart is the part of a block of lines that is being filled.
type linePart struct {
	packer   *packer
	kind     document.BlockKind
	block    lineBlock
	overhead int // characters of header and footer
	lines    []string
	runes    int
	parts    int
}

func (l *linePart) add(line string) {
	opt := l.packer.opt
	runes := utf8.RuneCountInString(line)
	if len(l.lines) > 0 && l.overhead+l.runes+1+runes > opt.Target {
		l.end()
	}
	if l.overhead+runes <= opt.Max {
		l.lines = append(l.lines, line)
		l.runes += 1 + runes
		return
	}
	if l.block.rows {
		l.bare(line, runes)
		return
	}
	for room := opt.Max - l.overhead; line != ""; {
		cut := len(line)
		if runes > room {
			cut = breakAt(line, room)
		}
		l.lines = []string{line[:cut]}
		l.end()
		runes -= utf8.RuneCountInString(line[:cut])
		line = line[cut:]
	}
}

// bare adds a row that doesn't fit below its header: by itself, cut only if it's longer than a chunk. The header must be
// somewhere, and is of no use alone: half of the first row goes with it.
func (l *linePart) bare(row string, runes int) {
	if l.parts == 0 {
		cut := breakAt(row, min(l.packer.opt.Max-l.overhead, (runes+1)/2))
		l.lines = []string{row[:cut]}
		l.end()
		runes -= utf8.RuneCountInString(row[:cut])
		row = row[cut:]
	}
	if runes <= l.packer.opt.Max {
		l.packer.push(l.kind, row, "\n")
		return
	}
	l.packer.addProse(l.kind, row, runes)
}

// end closes the part and begins the next one.
func (l *linePart) end() {
	if len(l.lines) == 0 {
		return
	}
	header := l.block.header
	if l.parts == 0 {
		header = l.block.first
	}
	text := strings.TrimRight(header+strings.Join(l.lines, "\n"), "\n") + l.block.footer
	l.packer.push(l.kind, text, "\n")
	l.packer.pieces[len(l.packer.pieces)-1].alone = l.parts > 0
	l.lines, l.runes = nil, 0
	l.parts++
}
