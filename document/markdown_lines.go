package document

import "strings"

// isATX reports whether a line, indented by three blanks at most, is a heading with leading #s.
func isATX(line string) bool { return atxLevel(line) > 0 }

// atxLevel is the level of a heading with leading #s, or 0.
func atxLevel(line string) int {
	s := strings.TrimLeft(strings.TrimPrefix(line, bom), " ")
	level := len(s) - len(strings.TrimLeft(s, "#"))
	if len(line)-len(s) > 3+len(bom) || level == 0 || level > 6 {
		return 0
	}
	if rest := s[level:]; rest == "" || strings.ContainsRune(" \t\n\r", rune(rest[0])) {
		return level
	}
	return 0
}

// isDirective reports whether a line is for a program, not for a reader, so that a line of dashes below it makes no heading
// of it: a template tag, an import of MDX, a link definition.
func isDirective(line string) bool {
	line = strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "{%"), strings.HasPrefix(line, "{{"):
		return PlainHeading(line) == ""
	case strings.HasPrefix(line, "import "), strings.HasPrefix(line, "export "):
		return strings.HasSuffix(strings.TrimRight(line, ";"), "'") || strings.HasSuffix(strings.TrimRight(line, ";"), "\"")
	case strings.HasPrefix(line, "["):
		label, dest, ok := strings.Cut(line, "]:")
		return ok && !strings.Contains(label[1:], "[") && strings.TrimSpace(dest) != "" &&
			!strings.Contains(strings.TrimSpace(dest), " ")
	}
	return false
}

// tableStart finds the header row of a table in a paragraph of n lines, or -1: the row above the first delimiter row with
// as many cells.
func tableStart(n int, line func(int) string) int {
	for i := 1; i < n; i++ {
		delimiter := line(i)
		if isDelimiterRow(delimiter) && tableCells(delimiter) == tableCells(line(i-1)) {
			return i - 1
		}
	}
	return -1
}

func isDelimiterRow(line string) bool {
	line = strings.TrimSpace(line)
	if !strings.ContainsAny(line, "|:") || strings.Trim(line, "|:- \t") != "" {
		return false
	}
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	for cell := range strings.SplitSeq(line, "|") {
		cell = strings.TrimSpace(cell)
		cell = strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if cell == "" || strings.Trim(cell, "-") != "" {
			return false
		}
	}
	return true
}

func tableCells(row string) int {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	cells, escaped := 1, false
	for i := range len(row) {
		switch {
		case escaped:
			escaped = false
		case row[i] == '\\':
			escaped = true
		case row[i] == '|' && i < len(row)-1:
			cells++
		}
	}
	return cells
}
