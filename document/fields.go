package document

import (
	"fmt"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Characters. Names this long are slips, such as a text pasted into the wrong field.
const (
	maxName    = 1000
	maxSummary = 8000
	maxNames   = 1000 // entries of a list
	maxItems   = 2000 // of a list that are looked at: aliases make long ones cheap to write
)

// fields reads the known fields of front matter and gathers what the author should mend, one warning a problem.
type fields struct {
	pairs    []pair
	lines    []string // of the block, its opening fence first: YAML forgets what a comment swallowed
	warnings []Warning
}

// state says what became of a required field.
type state int

const (
	absent state = iota
	empty        // there, but without a value
	wrong        // there, with a value that cannot be used: a warning of its own has said so
	given
)

// value is a field as found: its text or texts, and where.
type value struct {
	state state
	line  int
	lost  string // the comment that swallowed it
	text  string
	list  []string
}

// find looks a field up: as spelled, else blind to case (Hugo is) and to invisible characters around it.
func (f *fields) find(name string) (pair, bool) {
	for _, p := range f.pairs {
		if p.key == name {
			return p, true
		}
	}
	for _, p := range f.pairs {
		if len(p.key) < 4*len(name)+16 && Fold(p.key) == name {
			return p, true
		}
	}
	return pair{}, false
}

func (f *fields) warn(line int, format string, args ...any) {
	f.warnings = append(f.warnings, Warning{Line: line, Message: "front matter: " + fmt.Sprintf(format, args...)})
}

// text reads a field that is one text. Scalars of any YAML type are the text the author typed.
func (f *fields) text(name string) value {
	p, ok := f.find(name)
	if !ok {
		return value{}
	}
	n := resolve(p.value)
	if n.Kind == yaml.SequenceNode && len(n.Content) == 1 && resolve(n.Content[0]).Kind == yaml.ScalarNode {
		n = resolve(n.Content[0]) // a list of one is as clear as a text
	}
	if n.Kind != yaml.ScalarNode {
		if len(n.Content) == 0 {
			return value{state: empty, line: p.line}
		}
		hint := ""
		if n.Style&yaml.FlowStyle != 0 {
			hint = "; a text that begins with { or [ needs quotes"
		}
		f.warn(p.line, "%s has to be one text, not %s%s", name, kindName(n), hint)
		return value{state: wrong, line: p.line}
	}
	comment := f.swallowed(n)
	text := scalar(n)
	if text == "" {
		return value{state: empty, line: p.line, lost: comment}
	}
	if comment != "" && tagLike(comment) {
		f.warn(n.Line, "%s ends before %q, as a # after a blank begins a comment: put the value in quotes", name, comment)
	}
	most := maxName
	if name == "summary" || name == "description" {
		most = maxSummary
	}
	text, long := cutRunes(text, most)
	if long {
		f.warn(p.line, "%s is longer than %d characters: cut", name, most)
	}
	return value{state: given, line: p.line, text: text}
}

// cutRunes cuts a text to at most so many characters: names go into every breadcrumb, and all of it into memory.
func cutRunes(s string, most int) (text string, cut bool) {
	n := 0
	for i := range s {
		if n == most {
			return strings.Clone(s[:i]), true
		}
		n++
	}
	return s, false
}

// swallowed is the comment that stands in place of a plain scalar or behind it on its line, or "".
func (f *fields) swallowed(n *yaml.Node) string {
	if n.Style != 0 || n.Line < 1 || n.Line > len(f.lines) || strings.Contains(n.Value, "\n") {
		return ""
	}
	line := f.lines[n.Line-1]
	from := 0
	if n.Value != "" {
		at := strings.LastIndex(line, n.Value)
		if at < 0 {
			return ""
		}
		from = at + len(n.Value)
	}
	at := strings.Index(line[from:], " #")
	if at < 0 || n.Value != "" && strings.TrimSpace(line[from:from+at]) != "" {
		return ""
	}
	return strings.TrimSpace(line[from+at:])
}

// tagLike tells "#42" and "#tag", which an author may have meant as text, from "# a comment".
func tagLike(comment string) bool {
	return len(comment) > 1 && comment[1] != ' ' && comment[1] != '\t' && comment[1] != '#'
}

// scalar is the text of a scalar: as typed, without blanks and zero-width characters around it. Null is no text.
func scalar(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	if strings.ContainsFunc(n.Value, hiddenControl) { // "\0" and the like in double quotes: stores refuse some of them
		return trimInvisible(strings.Map(func(r rune) rune {
			if hiddenControl(r) {
				return -1
			}
			return r
		}, n.Value))
	}
	return trimInvisible(n.Value)
}

func hiddenControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// standIn takes the fallback field where it has a value. Where neither has, the field that is there is the one to mend. A
// text that a comment swallowed would go unnoticed below its substitute.
func (f *fields) standIn(name string, own, other value) value {
	if own.state == empty && other.state == given && tagLike(own.lost) {
		f.warn(own.line, "%s is empty, as # begins a comment: put it in quotes: %s", name, quoted(own.lost))
	}
	if other.state > own.state {
		return other
	}
	return own
}

// missing tells of all required fields without a value at once, at the line of the first that is there.
func (f *fields) missing(names []string, values []value) {
	var without []string
	line, lost := 0, ""
	for i, v := range values {
		if v.state != absent && v.state != empty {
			continue
		}
		without = append(without, names[i])
		if v.line > 0 && (line == 0 || v.line < line) {
			line = v.line
		}
		if v.lost != "" {
			lost = " (# begins a comment: what begins with it needs quotes)"
		}
	}
	switch len(without) {
	case 0:
	case 1:
		f.warn(max(line, 1), "%s is missing or empty%s", without[0], lost)
	default:
		f.warn(max(line, 1), "%s are missing or empty%s", strings.Join(without, ", "), lost)
	}
}
