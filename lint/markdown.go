package lint

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"knowledged/document"
)

// Bounds on what one document can be asked to yield.
const (
	maxLinks  = 10_000
	maxTarget = 2048 // bytes
)

// linksOf finds the links and pictures of a document's text, not those in code.
func linksOf(doc *document.Document) []link {
	var links []link
	s := linkScan{path: doc.Path, body: doc.Body, line: doc.BodyLine}
	for b := range document.Blocks(doc.Body) {
		switch b.Kind {
		case document.BlockText, document.BlockHeading, document.BlockTable:
			links = s.block(b, links)
		}
		if len(links) >= maxLinks {
			return links[:maxLinks]
		}
	}
	return links
}

// linkScan knows the line of the place up to which the text was read.
type linkScan struct {
	path    string
	body    string
	line    int
	counted int // bytes of body whose lines are counted
}

// place is where the byte at offset stands.
func (s *linkScan) place(offset int) Location {
	s.line += strings.Count(s.body[s.counted:offset], "\n")
	s.counted = offset
	start := strings.LastIndexByte(s.body[:offset], '\n') + 1
	return Location{Path: s.path, Line: s.line, Column: 1 + utf8.RuneCountInString(s.body[start:offset])}
}

var definition = regexp.MustCompile(`(?m)^ {0,3}\[([^\]\n]+)\]:[ \t]*(\S+)`)

func (s *linkScan) block(b document.Block, links []link) []link {
	text := s.body[b.Start:b.End]
	if !strings.Contains(text, "](") && !strings.Contains(text, "]:") {
		return links
	}
	text = withoutCode(text)
	add := func(at int, target string) {
		if target = strings.Trim(target, "<>"); checkable(target) {
			links = append(links, link{strings.Clone(target), s.place(b.Start + at)})
		}
	}
	definitions := definition.FindAllStringSubmatchIndex(text, -1)
	for i := 0; i+1 < len(text) && len(links) < maxLinks; i++ {
		if len(definitions) > 0 && definitions[0][0] <= i {
			if m := definitions[0]; text[m[2]] != '^' { // a footnote has no target
				add(m[4], text[m[4]:m[5]])
			}
			definitions = definitions[1:]
		}
		if text[i] == ']' && text[i+1] == '(' {
			at, target := destination(text, i+2)
			add(at, target)
		}
	}
	return links
}

// destination reads a link's target behind its opening parenthesis: <up to a bracket>, or up to a blank or the parenthesis
// that closes it.
func destination(text string, from int) (at int, target string) {
	end := min(len(text), from+maxTarget)
	for from < end && (text[from] == ' ' || text[from] == '\t') {
		from++
	}
	if from < end && text[from] == '<' {
		if n := strings.IndexAny(text[from:end], ">\n"); n > 0 {
			return from, text[from : from+n]
		}
		return from, ""
	}
	depth := 0
	for i := from; i < end; i++ {
		switch text[i] {
		case ' ', '\t', '\n':
			return from, text[from:i]
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return from, text[from:i]
			}
		}
	}
	return from, "" // not closed: no link
}

// withoutCode is text with blanks for code spans and escaped brackets; all offsets stay what they were.
func withoutCode(text string) string {
	if !strings.ContainsAny(text, "`\\") {
		return text
	}
	out := []byte(text)
	unclosed := map[int]bool{} // runs of this length have no end further on
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			if i+1 < len(text) && text[i+1] == ']' {
				out[i+1] = ' '
			}
			i += 2
			continue
		case '`':
			n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			end := -1
			if !unclosed[n] {
				end = closing(text, i+n, n)
			}
			if end < 0 {
				unclosed[n] = true
				i += n
				continue
			}
			for j := i; j < end; j++ {
				if out[j] != '\n' {
					out[j] = ' '
				}
			}
			i = end
			continue
		}
		i++
	}
	return string(out)
}

// closing is the end of the run of exactly n backticks at or after from, or -1.
func closing(text string, from, n int) int {
	for i := from; i < len(text); {
		at := strings.IndexByte(text[i:], '`')
		if at < 0 {
			return -1
		}
		i += at
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == n {
			return i + run
		}
		i += run
	}
	return -1
}
