package lint

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// fields finds places in front matter. Parsing keeps no positions of values, so they are looked for in the text; where that
// fails, the line of the field is as near as one gets.
type fields struct {
	path  string
	lines []string // of the block, fences included; nil without one
}

var topKey = regexp.MustCompile(`^["']?([\p{L}\p{N}_][\p{L}\p{N}_ .-]*?)["']?\s*[:=]`)

// find is the place of a value in the first of these fields that has it, else of the first of the fields that is there.
func (f *fields) find(value string, names ...string) Location {
	at := Location{Path: f.path, Line: min(1, len(f.lines))}
	there := false
	for _, name := range names {
		field := ""
		for i, line := range f.lines {
			if m := topKey.FindStringSubmatch(line); m != nil {
				field = strings.ToLower(m[1])
				if field == name && !there {
					at.Line, there = i+1, true
				}
			}
			if field != name {
				continue
			}
			from := 0
			if m := topKey.FindString(line); m != "" {
				from = len(m)
			}
			if column := indexWord(line[from:], value); column >= 0 {
				return Location{Path: f.path, Line: i + 1, Column: 1 + utf8.RuneCountInString(line[:from+column])}
			}
		}
	}
	return at
}

// indexWord finds value in a line where no letter of a longer item touches it ("Go" is not in "Golang, Go" at 0). An item
// that is part of another has to be told apart by what ends it.
func indexWord(line, value string) int {
	if value == "" {
		return -1
	}
	for from := 0; ; {
		at := strings.Index(line[from:], value)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line[:at], " "))
		after, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[at+len(value):], " "))
		if ends(before) && ends(after) {
			return at
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		from = at + size
	}
}

// ends reports whether r may stand beside an item of a list, a value or a key.
func ends(r rune) bool {
	return r == utf8.RuneError || strings.ContainsRune(`,，、;；[]{}"':：-#=`, r)
}
