package document

import "strings"

// typedMark begins a text that stands for a bare value. Nobody types a NUL.
const typedMark = "\x00"

// typedTOML is a valid block with its numbers, dates and times as texts, typedMark first: the decoder keeps the values only,
// and scalars are the text the author typed (SPEC 1.3).
func typedTOML(block string) string {
	s := tomlScanner{text: block}
	for !s.done() {
		switch s.blank(); {
		case s.done():
		case s.text[s.at] == '[':
			s.skipTo("\n") // the name of a table
		default:
			s.field()
		}
	}
	s.out.WriteString(block[s.copied:])
	return s.out.String()
}

// tomlScanner goes over a valid block. On any other it ends, without sense.
type tomlScanner struct {
	text   string
	at     int
	out    strings.Builder
	copied int // of text
}

func (s *tomlScanner) done() bool { return s.at >= len(s.text) }

// blank skips blanks, line ends, commas and comments.
func (s *tomlScanner) blank() {
	for ; !s.done(); s.at++ {
		switch c := s.text[s.at]; {
		case c == '#':
			s.at += len(s.text[s.at:]) - len(strings.TrimLeftFunc(s.text[s.at:], func(r rune) bool { return r != '\n' }))
		case strings.IndexByte(" \t\r\n,", c) < 0:
			return
		}
	}
}

// skipTo goes to the first of stop outside quotes.
func (s *tomlScanner) skipTo(stop string) {
	for !s.done() && strings.IndexByte(stop, s.text[s.at]) < 0 {
		if c := s.text[s.at]; c == '"' || c == '\'' {
			s.quoted()
		} else {
			s.at++
		}
	}
}

// quoted skips a text in quotes of any kind.
func (s *tomlScanner) quoted() {
	quote := s.text[s.at : s.at+1]
	if three := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.at:], three) {
		quote = three
	}
	for s.at += len(quote); !s.done(); s.at++ {
		if quote[0] == '"' && s.text[s.at] == '\\' {
			s.at++
		} else if strings.HasPrefix(s.text[s.at:], quote) {
			s.at += len(quote)
			for range 2 { // a text in three quotes may end with some of its own
				if len(quote) == 3 && strings.HasPrefix(s.text[s.at:], quote[:1]) {
					s.at++
				}
			}
			return
		}
	}
}

func (s *tomlScanner) field() {
	s.skipTo("=")
	s.at++
	s.blank()
	s.value()
}

func (s *tomlScanner) value() {
	if s.done() {
		return
	}
	switch c := s.text[s.at]; c {
	case '"', '\'':
		s.quoted()
	case '[', '{':
		for s.at++; ; {
			if s.blank(); s.done() {
				return
			}
			switch {
			case s.text[s.at] == ']' || s.text[s.at] == '}':
				s.at++
				return
			case c == '{':
				s.field()
			default:
				s.value()
			}
		}
	default:
		start := s.at
		s.skipTo(",]}#\n")
		typed := strings.TrimRight(s.text[start:s.at], " \t\r")
		if typed == "true" || typed == "false" || typed == "" {
			return
		}
		s.out.WriteString(s.text[s.copied:start] + `"\u0000` + typed + `"`)
		s.copied = start + len(typed)
	}
}
