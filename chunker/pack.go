package chunker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"knowledged/document"
)

// piece is text that is not cut any further.
type piece struct {
	text  string
	runes int
	gap   string // what stands between it and the piece before
	kind  document.BlockKind
	alone bool // begins with a repeated fence or header: not to be packed behind its first half
}

// packer gathers the pieces of a section and packs them into passages.
type packer struct {
	opt    Options
	pieces []piece
	end    int // where the last block added ends in the body
}

// add adds a block of the body, cut where it's too long.
func (p *packer) add(body string, b document.Block) {
	before := len(p.pieces)
	switch b.Kind {
	case document.BlockFence:
		p.addFence(body, b)
	case document.BlockTable:
		p.addTable(body, b)
	default:
		p.addText(b.Kind, strings.TrimPrefix(body[b.Start:b.End], "\ufeff"))
	}
	if before < len(p.pieces) && before > 0 {
		p.pieces[before].gap = gapBetween(body, p.end, b.Start)
	}
	p.end = b.End
}

// addText adds text as the reader sees it.
func (p *packer) addText(kind document.BlockKind, source string) {
	text := strings.TrimRight(document.Visible(kind, source), " \t\n\r")
	if strings.Trim(text, "# \t\n") == "" {
		return // a comment only, or a heading without a word
	}
	runes := utf8.RuneCountInString(text)
	switch {
	case runes <= p.opt.soft():
		p.push(kind, text, "")
	case kind == document.BlockCode || kind == document.BlockHTML:
		p.addLines(kind, lineBlock{lines: text})
	default:
		p.addProse(kind, text, runes)
	}
}

func (p *packer) push(kind document.BlockKind, text, gap string) {
	p.pieces = append(p.pieces, piece{text: text, runes: utf8.RuneCountInString(text), gap: gap, kind: kind})
}

// gapBetween is what stands between two blocks of the body: an empty line, or that of a quote, if they have one.
func gapBetween(body string, end, start int) string {
	if end >= start {
		return "\n"
	}
	line, _, _ := strings.Cut(body[end:start], "\n")
	if line = strings.TrimSpace(line); len(line) > maxPrefix {
		line = ""
	}
	return "\n" + line + "\n"
}

// take packs the pieces into passages and forgets them.
func (p *packer) take() []string {
	var passages []string
	var runs [][]piece
	size, lastSize := 0, 0
	for i, next := range p.pieces {
		gap := utf8.RuneCountInString(next.gap)
		if i == 0 || next.alone || size+gap+next.runes > p.opt.Target {
			runs = append(runs, p.pieces[i:i+1:i+1])
			lastSize, size = size, next.runes
			continue
		}
		last := len(runs) - 1
		runs[last] = append(runs[last], next)
		size += gap + next.runes
	}
	if n := len(runs); n > 1 && size < p.opt.Target/4 && !runs[n-1][0].alone {
		if lastSize+size+utf8.RuneCountInString(runs[n-1][0].gap) <= p.opt.soft() {
			runs[n-2] = append(runs[n-2], runs[n-1]...)
			runs = runs[:n-1]
		}
	}
	for _, run := range runs {
		if text := join(run); hasWords(text) {
			passages = append(passages, text)
		}
	}
	p.pieces, p.end = nil, 0
	return passages
}

// join writes pieces as one text. A passage that begins within a list isn't indented as its items are, which would make it
// code.
func join(pieces []piece) string {
	var b strings.Builder
	code := false
	for i, piece := range pieces {
		if i > 0 {
			b.WriteString(piece.gap)
		}
		b.WriteString(piece.text)
		code = code || piece.kind == document.BlockCode
	}
	if code {
		return b.String()
	}
	return dedent(b.String())
}

// dedent removes the blanks that all lines begin with.
func dedent(text string) string {
	indent := len(text)
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " "); strings.TrimSpace(rest) != "" {
			indent = min(indent, len(line)-len(rest))
		}
	}
	if indent == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):])
	}
	return b.String()
}

// hasWords reports whether there is something to find: rules, brackets and marks alone are not.
func hasWords(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || r >= utf8.RuneSelf && unicode.IsSymbol(r)
	}) >= 0
}
