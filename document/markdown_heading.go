package document

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PlainHeading is the text of a heading as a reader sees it: its source (without leading #s) without markup, comments,
// template tags, closing #s or {#id}. It looks at the first 2 KiB only.
func PlainHeading(source string) string {
	s := strings.TrimSpace(Visible(BlockHeading, cutBytes(source, maxTitleSource)))
	for {
		cut := strings.TrimSpace(withoutAttributes(s))
		if hashes := strings.TrimRight(cut, "#"); hashes != cut && (hashes == "" || strings.HasSuffix(hashes, " ")) {
			cut = strings.TrimSpace(hashes)
		}
		if cut == s {
			break
		}
		s = cut
	}
	p := plainText{source: s}
	p.read()
	return strings.Join(strings.Fields(strings.Trim(string(p.out), "\u200b\u200c\u200d\ufeff")), " ")
}

// withoutAttributes drops a trailing {#id}, {.class}, {: …} or MDX's {/* … */}.
func withoutAttributes(s string) string {
	if !strings.HasSuffix(s, "}") {
		return s
	}
	open := strings.LastIndexByte(s, '{')
	if open < 0 || open > 0 && s[open-1] == '{' || open+1 >= len(s) || !strings.ContainsRune("#.:/", rune(s[open+1])) {
		return s
	}
	return s[:open]
}

// plainText strips inline markup. It reads the source once; markers are taken out of what is written when their other half
// turns up.
type plainText struct {
	source string
	out    []byte
	marks  []mark         // emphasis that may still be closed
	links  []int          // offsets in out of [ that may still begin a link
	spans  map[int][2]int // code spans by where they start
}

type mark struct {
	char byte
	at   int // offset in out
	n    int // how many of char are there
}

func (p *plainText) read() {
	s := p.source
	p.spans = map[int][2]int{}
	for _, span := range codeSpans(s) {
		p.spans[span[0]] = span
	}
	for i := 0; i < len(s); {
		i += p.next(i)
	}
}

// next writes what s[i:] begins with and returns how many bytes of it are done.
func (p *plainText) next(i int) int {
	s := p.source
	if span, ok := p.spans[i]; ok {
		inner := strings.Trim(s[i:span[1]], "`")
		p.out = append(p.out, inner...)
		return span[1] - i
	}
	switch c := s[i]; c {
	case '\\':
		if i+1 < len(s) && isPunctByte(s[i+1]) {
			p.out = append(p.out, s[i+1])
			return 2
		}
	case '&':
		if end := strings.IndexByte(s[i:min(len(s), i+32)], ';'); end > 0 {
			p.out = append(p.out, html.UnescapeString(s[i:i+end+1])...)
			return end + 1
		}
	case '{':
		if n := templateTag(s[i:]); n > 0 {
			return n
		}
	case '<':
		if inner, n := angle(s[i:]); n > 0 {
			p.out = append(p.out, inner...)
			return n
		}
	case '!':
		if strings.HasPrefix(s[i:], "![") {
			p.links = append(p.links, len(p.out))
			p.out = append(p.out, "!["...)
			return 2
		}
	case '[':
		if n := footnoteMark(s[i:]); n > 0 {
			return n
		}
		p.links = append(p.links, len(p.out))
	case ']':
		if n := p.link(i); n > 0 {
			return n
		}
	case '*', '_', '~':
		return p.emphasis(i)
	}
	p.out = append(p.out, s[i])
	return 1
}

// link ends a link at the ] of s[i:], whose text loses its brackets, and returns the length of "](…)", or 0.
func (p *plainText) link(i int) int {
	if len(p.links) == 0 {
		return 0
	}
	open := p.links[len(p.links)-1]
	p.links = p.links[:len(p.links)-1]
	n := linkTarget(p.source[i+1:])
	if n == 0 && (open == 0 || !isWordByte(p.out[open-1]) && p.out[open-1] != ']') { // arr[i][j] is none
		n = linkLabel(p.source[i+1:])
	}
	if n == 0 {
		return 0
	}
	bracket := 1
	if p.out[open] == '!' {
		bracket = 2
	}
	p.cut(open, bracket)
	return 1 + n
}

// linkTarget is the length of the "(target "title")" that s begins with, or 0.
func linkTarget(s string) int {
	const deepest = 32 // nested parentheses, as in CommonMark
	if !strings.HasPrefix(s, "(") {
		return 0
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			if depth++; depth > deepest {
				return 0
			}
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			end := strings.IndexByte(s[i+1:], '"')
			if end < 0 {
				return 0
			}
			i += 1 + end
		}
	}
	return 0
}

// linkLabel is the length of the "[label]" of a reference link that s begins with, or 0. Whether the document defines the
// label is not looked up: in a heading, a text in brackets with another behind it is hardly anything else.
func linkLabel(s string) int {
	if !strings.HasPrefix(s, "[") {
		return 0
	}
	end := strings.IndexAny(s[1:], "[]") + 1
	if end == 0 || s[end] == '[' || strings.HasPrefix(s[end+1:], "[") {
		return 0 // [a][b][c] is a row of indexes or tags
	}
	return end + 1
}

// footnoteMark is the length of the "[^1]" that s begins with, or 0.
func footnoteMark(s string) int {
	if !strings.HasPrefix(s, "[^") {
		return 0
	}
	end := strings.IndexAny(s[2:], "[] ") + 2
	if end < 3 || s[end] != ']' {
		return 0
	}
	return end + 1
}

// emphasis handles a run of * _ or ~ at s[i] and returns its length.
func (p *plainText) emphasis(i int) int {
	s := p.source
	c := s[i]
	n := len(s[i:]) - len(strings.TrimLeft(s[i:], string(c)))
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	opens := i+n < len(s) && !unicode.IsSpace(after)
	closes := i > 0 && !unicode.IsSpace(before)
	if c == '_' { // snake_case
		opens = opens && (i == 0 || !isWordRune(before))
		closes = closes && (i+n == len(s) || !isWordRune(after))
	}
	if c == '~' && n != 2 {
		opens, closes = false, false
	}
	left := n
	if closes {
		left = p.closeMarks(c, n)
	}
	if opens && left > 0 {
		p.marks = append(p.marks, mark{c, len(p.out), left})
	}
	for range left {
		p.out = append(p.out, c)
	}
	return n
}

// closeMarks takes out up to n opening marks of this kind and returns how many closing ones have found none.
func (p *plainText) closeMarks(char byte, n int) int {
	for n > 0 {
		at := len(p.marks) - 1
		for at >= 0 && p.marks[at].char != char {
			at--
		}
		if at < 0 {
			return n
		}
		m := &p.marks[at]
		k := min(m.n, n)
		p.cut(m.at+m.n-k, k)
		n -= k
		m.n -= k
		if m.n > 0 {
			at++
		}
		p.marks = p.marks[:at] // what was opened within can't be closed any more
	}
	return 0
}

// cut takes n bytes out of the text written so far and moves the markers after them.
func (p *plainText) cut(at, n int) {
	p.out = append(p.out[:at], p.out[at+n:]...)
	for i := len(p.marks) - 1; i >= 0 && p.marks[i].at > at; i-- {
		p.marks[i].at -= n
	}
	for i := len(p.links) - 1; i >= 0 && p.links[i] > at; i-- {
		p.links[i] -= n
	}
}

// templateTag is the length of the tag of a site generator that s begins with, or 0.
func templateTag(s string) int {
	for open, end := range map[string]string{"{%": "%}", "{{<": ">}}", "{{%": "%}}"} {
		if strings.HasPrefix(s, open) {
			if i := strings.Index(s, end); i > 0 {
				return i + len(end)
			}
		}
	}
	return 0
}

// htmlTags are the tags that headings hold as markup. Others, such as the <T> of a type's name, are words.
const htmlTags = " a abbr b big center code del div em font i img ins kbd mark p q s small span strike strong sub sup u var "

// angle reads an autolink or a tag at the start of s: its text, and its length or 0.
func angle(s string) (text string, n int) {
	inner, _, ok := strings.Cut(s[1:], ">")
	if !ok || inner == "" || strings.Contains(inner, "<") {
		return "", 0
	}
	n = len(inner) + 2
	if !strings.ContainsAny(inner, " \"") && (strings.Contains(inner, "://") || strings.Contains(inner, "@")) {
		return inner, n
	}
	name, _, _ := strings.Cut(strings.Trim(inner, "/"), " ")
	if strings.EqualFold(name, "br") {
		return " ", n
	}
	if strings.Contains(htmlTags, " "+strings.ToLower(name)+" ") || strings.HasSuffix(inner, "/") {
		return "", n
	}
	return "", 0
}

func isPunctByte(c byte) bool {
	return c > ' ' && c < 0x7f && (!isWordByte(c) || c == '_')
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
