package web

import (
	"strings"

	"knowledged/document"
)

// What is rendered, at most. Documents are not trusted: a few KB of Markdown can become gigabytes of HTML.
const (
	// maxRendered is the longest text that is rendered, in bytes; a longer one is shown as it is.
	maxRendered = 1 << 20
	// maxDelimiters of links and emphasis in one block: goldmark's time grows with their square (1.3 s for 40,000).
	maxDelimiters = 4000
	// maxNesting is how many quotes and lists may begin on one line: no reader follows more, and the cost is squared as well.
	maxNesting = 32
	// maxOpen is how many lists and quotes may be open at all lines together, as goldmark asks each of them at each line: an
	// empty line below sixty lists costs sixty times what another does. The most takes about half a second.
	maxOpen = 400_000
	// maxCells is how many cells tables may have in all: each is some 350 bytes for a while.
	maxCells = 200_000
	// maxPadding is how many cells goldmark may add to rows that are shorter than their table's head.
	maxPadding = 20_000
	// maxAddresses is what all links may hold together, in bytes.
	maxAddresses = 2 * maxRendered
)

// renderable says whether a text can be rendered in a time worth waiting for.
func renderable(body string) bool {
	return len(body) <= maxRendered && shallow(body) && openLines(body) <= maxOpen && delimiters(body) <= maxDelimiters
}

// delimiters counts those of the block that has most.
func delimiters(body string) (most int) {
	for b := range document.Blocks(body) {
		if b.Kind != document.BlockText && b.Kind != document.BlockHeading && b.Kind != document.BlockTable {
			continue
		}
		n := 0
		for _, c := range []byte(body[b.Start:b.End]) {
			switch c {
			case '[', ']', '*', '_', '~', '<':
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// shallow looks at the lines before any parser does: at their nesting, and at tables, as wide as the widest line of theirs
// that could be a delimiter row, whatever they stand in.
func shallow(body string) bool {
	lines, pipes, width := 0, 0, 0 // of the run of lines that are not blank
	cells, padding := 0, 0         // of all tables
	end := func() {
		if width > 0 {
			cells += max(lines*width, pipes)
			padding += max(0, lines*width-pipes)
		}
		lines, pipes, width = 0, 0, 0
	}
	for line := range strings.Lines(body) {
		if nesting(line) > maxNesting {
			return false
		}
		line = strings.TrimSpace(line)
		if line == "" {
			end()
			continue
		}
		n := strings.Count(line, "|")
		lines, pipes = lines+1, pipes+n
		if n > 0 && strings.Contains(line, "-") && strings.Trim(line, "|:-> \t*+.)0123456789") == "" {
			width = max(width, n+1)
		}
	}
	end()
	return cells <= maxCells && padding <= maxPadding+strings.Count(body, "|")
}

// openLines adds up how many lists and quotes are open at each line, or a little more: an item ends at a line that is not
// indented as its text is and begins another one, or follows a blank one.
func openLines(body string) (sum int) {
	var items []int // the columns where the text of each open item begins
	blank := false
	for line := range strings.Lines(body) {
		rest, column, quotes := strings.TrimRight(line, " \t\r\n"), 0, 0
		for {
			rest, column = unindent(rest, column)
			if !strings.HasPrefix(rest, ">") {
				break
			}
			rest, column, quotes = rest[1:], column+1, quotes+1
		}
		sum += quotes
		if rest == "" {
			sum += len(items)
			blank = true
			continue
		}
		width := marker(rest)
		for (blank || width > 0) && len(items) > 0 && items[len(items)-1] > column {
			items = items[:len(items)-1]
		}
		blank = false
		for width > 0 {
			rest, column = unindent(rest[width:], column+width)
			items = append(items, column)
			width = marker(rest)
		}
		sum += len(items)
	}
	return sum
}

// unindent skips blanks and counts their columns.
func unindent(s string, column int) (string, int) {
	for i := range len(s) {
		switch s[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return s[i:], column
		}
	}
	return "", column
}

// marker is the length of the list marker that a line begins with, 0 if there is none.
func marker(s string) int {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case digits == len(s) || digits > 9,
		digits == 0 && strings.IndexByte("-+*", s[0]) < 0,
		digits > 0 && s[digits] != '.' && s[digits] != ')',
		len(s) > digits+1 && s[digits+1] != ' ' && s[digits+1] != '\t':
		return 0
	}
	return digits + 1
}

// nesting counts the quotes and lists that begin on a line. A line of hyphens or stars alone is a rule.
func nesting(line string) (depth int) {
	if rule := strings.Trim(line, " \t\r\n"); strings.Trim(rule, "- \t") == "" || strings.Trim(rule, "* \t") == "" {
		return 0
	}
	for {
		line = strings.TrimLeft(line, " \t")
		rest := strings.TrimLeft(line, "0123456789")
		switch {
		case strings.HasPrefix(line, ">"):
			line = line[1:]
		case len(rest) > 1 && (rest[1] == ' ' || rest[1] == '\t') && strings.IndexByte("-+*", rest[0]) >= 0 && len(rest) == len(line):
			line = line[2:]
		case len(rest) > 1 && (rest[1] == ' ' || rest[1] == '\t') && (rest[0] == '.' || rest[0] == ')') && len(rest) < len(line):
			line = rest[2:]
		default:
			return depth
		}
		depth++
	}
}
