package document

import "strings"

// scannedBlocks yields the blocks of a text that is too large for goldmark, line by line. It knows headings, fences,
// indented code, tables, list items and comments, but no nesting: what is in a list or a quote is text with markers.
func scannedBlocks(body string, yield func(Block) bool) {
	s := lineScan{body: body, emit: blockEmitter{body: body, yield: yield}}
	for at := 0; at < len(body); {
		end := nextLine(body, at)
		if !s.line(at, end) {
			return
		}
		at = end
	}
	if s.endParagraph() {
		s.emit.flush(len(body))
	}
}

// lineScan is what the scanner remembers between lines.
type lineScan struct {
	body      string
	emit      blockEmitter
	fence     string // of the fence we are in
	formula   string // what closes the one we are in
	comment   bool
	code      bool  // in indented code
	list      bool  // in a list, where indented lines are no code
	paragraph []int // starts of the lines of the paragraph under way
}

func (s *lineScan) line(start, end int) bool {
	line := s.body[start:end]
	text := strings.TrimLeft(strings.TrimPrefix(line, bom), " \t")
	indent := len(line) - len(text)
	if strings.HasPrefix(line, bom) {
		indent -= len(bom)
	}
	text = strings.TrimRight(text, " \t\n\r")
	switch {
	case s.fence != "":
		if bare := strings.TrimLeft(text, "> "); isClosingFence(bare, s.fence) {
			s.fence = ""
		}
		return true
	case s.formula != "":
		if closesFormula(text, s.formula) {
			s.formula = ""
		}
		return true
	case s.comment:
		s.comment = !strings.Contains(text, "-->")
		return true
	case text == "":
		return s.endParagraph()
	}
	if indented := indent >= 4 || line[0] == '\t'; indented && len(s.paragraph) == 0 && !s.list {
		if s.code {
			return true
		}
		s.code = true
		return s.emit.add(Block{Kind: BlockCode, Start: start, Open: start, Text: start})
	}
	s.code = false
	if fence := openingFence(strings.TrimLeft(text, "> ")); fence != "" {
		s.fence = fence
		open := start + strings.Index(line, fence)
		return s.endParagraph() && s.emit.add(Block{Kind: BlockFence, Start: start, Open: open, Text: end})
	}
	if formula := formulaEnd(text); formula != "" && isFormula(s.body[end:], formula) {
		s.formula = formula
		return s.endParagraph() && s.emit.add(Block{Start: start, Open: start, Text: start})
	}
	if strings.HasPrefix(text, "<!--") && indent < 4 {
		s.comment = !strings.Contains(text[2:], "-->")
		return s.endParagraph() && s.emit.add(Block{Kind: BlockHTML, Start: start, Open: start, Text: start})
	}
	if level := atxLevel(line); level > 0 && (indent == 0 || !s.list) {
		if !s.endParagraph() {
			return false
		}
		s.list = false
		return s.heading(start, end, level, strings.TrimLeft(text, "#"))
	}
	if level := setextLevel(text); level > 0 && indent < 4 && len(s.paragraph) > 0 && !s.list {
		source := s.body[s.paragraph[0]:start]
		if strings.Count(source, "\n") == 1 && !isDirective(source) {
			first := s.paragraph[0]
			s.paragraph = s.paragraph[:0]
			return s.heading(first, end, level, source)
		}
	}
	return s.text(start, text, indent)
}

// text adds a line to the paragraph under way. A list's marker starts a new one.
func (s *lineScan) text(start int, text string, indent int) bool {
	marker := isListMarker(text)
	if marker && !s.endParagraph() {
		return false
	}
	if marker {
		s.list = true
	} else if indent == 0 && len(s.paragraph) == 0 {
		s.list = false
	}
	s.paragraph = append(s.paragraph, start)
	return true
}

// heading adds a heading, or text where it has no words.
func (s *lineScan) heading(start, end, level int, source string) bool {
	b := Block{Start: start, Open: start, Text: start, title: headingTitle(source)}
	if b.title != "" {
		b.Kind, b.Level, b.Text = BlockHeading, uint8(level), end
	}
	return s.emit.add(b)
}

func (s *lineScan) endParagraph() bool {
	lines := s.paragraph
	if len(lines) == 0 {
		return true
	}
	s.paragraph = s.paragraph[:0]
	header := tableStart(len(lines), func(i int) string {
		return strings.TrimLeft(s.body[lines[i]:nextLine(s.body, lines[i])], "> ")
	})
	if header != 0 && !s.emit.add(Block{Start: lines[0], Open: lines[0], Text: lines[0]}) {
		return false
	}
	if header < 0 {
		return true
	}
	start := lines[header]
	return s.emit.add(Block{Kind: BlockTable, Start: start, Open: start, Text: nextLine(s.body, lines[header+1])})
}

// openingFence is the run of backticks or tildes that opens a fence on this line, or "".
func openingFence(text string) string {
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	if fence == "" {
		fence = text[:len(text)-len(strings.TrimLeft(text, "~"))]
	}
	if len(fence) < 3 || fence[0] == '`' && strings.Contains(text[len(fence):], "`") {
		return ""
	}
	return fence
}

func isClosingFence(text, fence string) bool {
	return len(text) >= len(fence) && strings.Trim(text, fence[:1]) == ""
}

func setextLevel(text string) int {
	switch {
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	}
	return 0
}

func isListMarker(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	switch digits := len(text) - len(rest); {
	case rest == "" || digits > 9:
		return false
	case digits > 0:
		return rest[0] == '.' || rest[0] == ')'
	}
	return strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") || strings.HasPrefix(rest, "+ ")
}
