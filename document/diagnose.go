package document

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// YAML parsers name the place where they gave up, often lines away from the slip and off by one. diagnose looks for the slip
// itself: it finds the first field that cannot be read by itself, then what in it an author is likely to have got wrong.

var (
	fieldLine     = regexp.MustCompile(`^["']?[\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,60}["']?\s*[:：]`)
	wideColonLine = regexp.MustCompile(`^\s*(?:- +)?["']?([\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,60}?)["']?\s*：`)
	keyLine       = regexp.MustCompile(`^(\s*(?:- +)*)([^\s"'\[\]{}#&*!|>%@,` + "`" + `-][^:#]*?|"[^"]*"|'[^']*')\s*:(?:\s+(.*))?$`)
	tightKeyLine  = regexp.MustCompile(`^\s*(?:- +)*([\p{L}_][\p{L}\p{N}_-]{0,60}):([^\s:/].*)$`)
	blockScalar   = regexp.MustCompile(`^[|>][-+0-9]{0,2}\s*(?:#.*)?$`)
)

// looksLikeField says whether a line begins as `name: value` does, full-width colon included.
func looksLikeField(line string) bool { return fieldLine.MatchString(line) }

// diagnose explains why the block of front matter, its opening fence included, cannot be read: the line of the file and the
// reason in the author's terms.
func diagnose(block string, err error) (line int, message string) {
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for i, l := range lines {
		if j := strings.IndexFunc(l, func(r rune) bool { return r != '\t' && unicode.IsControl(r) && r != 0x85 }); j >= 0 {
			return i + 1, fmt.Sprintf("an invisible control character (%U) stands in this line", []rune(l[j:])[0])
		}
		if i > 0 && strings.HasPrefix(l, "--- ") {
			return i + 1, "a line that begins with --- ends the front matter only if nothing follows"
		}
	}
	for start := 1; start < len(lines); {
		end := start + 1
		for end < len(lines) && continues(lines[end]) {
			end++
		}
		field := lines[start:end]
		if _, fieldErr := readField(field); fieldErr != nil {
			if at, message, ok := explain(field); ok {
				return start + at + 1, message
			}
			if errors.Is(fieldErr, errNoField) {
				return start + 1, errNoField.Error()
			}
			return start + 1, "not valid YAML: " + yamlReason(fieldErr)
		}
		start = end
	}
	if line, message, ok := misspelt(block); ok {
		return line, message
	}
	if name, ok := unknownAnchor(err); ok {
		for i, l := range lines {
			if strings.Contains(l, "*"+name) {
				return i + 1, fmt.Sprintf("a value that begins with * needs quotes: \"*%s\"", name)
			}
		}
	}
	return 1, "not valid YAML: " + yamlReason(err)
}

// continues says whether a line belongs to the field above it.
func continues(line string) bool {
	return line == "" || strings.ContainsRune(" \t#-]}", rune(line[0]))
}

var errNoField = errors.New("not of the form `name: value`")

// readField tries the lines of one field alone. References to anchors of other fields are no fault of its own.
func readField(lines []string) (*yaml.Node, error) {
	n, err := parseYAML("---\n" + strings.Join(lines, "\n") + "\n")
	if err == nil {
		if n.Kind != yaml.MappingNode {
			return nil, errNoField
		}
		return n, nil
	}
	if _, ok := unknownAnchor(err); ok {
		return nil, nil
	}
	return nil, err
}

func unknownAnchor(err error) (name string, ok bool) {
	_, rest, ok := strings.Cut(err.Error(), "unknown anchor '")
	name, _, _ = strings.Cut(rest, "'")
	return name, ok
}

var linePrefix = regexp.MustCompile(`^(yaml: )?(line \d+: )?`)

// yamlReason drops the parser's own line number, which counts within the part it was given.
func yamlReason(err error) string { return linePrefix.ReplaceAllString(err.Error(), "") }

// misspelt looks for lines that are valid YAML text but were meant as fields.
func misspelt(block string) (line int, message string, ok bool) {
	for i, l := range strings.Split(block, "\n") {
		if i == 0 || continues(l) {
			continue
		}
		if message, ok := misspeltKey(l); ok {
			return i + 1, message, true
		}
	}
	return 0, "", false
}

func misspeltKey(line string) (message string, ok bool) {
	if m := wideColonLine.FindStringSubmatch(line); m != nil {
		return fmt.Sprintf("full-width colon ： after %s: type a plain one and a blank (`%s: …`)", m[1], m[1]), true
	}
	if m := tightKeyLine.FindStringSubmatch(line); m != nil {
		r := []rune(m[2])[0]
		if unicode.IsSpace(r) || zeroWidth(r) {
			return fmt.Sprintf("the character after `%s:` is not a plain blank (%U)", m[1], r), true
		}
		return fmt.Sprintf("a blank is missing after the colon of %s (`%s: …`)", m[1], m[1]), true
	}
	return "", false
}

// maxExplained is the number of lines of one field among which a slip is looked for; each may have to be parsed.
const maxExplained = 2000

// explain finds the slip within the lines of one field that cannot be read; at is the index of its line.
func explain(lines []string) (at int, message string, ok bool) {
	lines = lines[:min(len(lines), maxExplained)]
	plainAbove := "" // key of the line above whose plain value a deeper line would continue
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		text := strings.TrimLeft(line, " ")
		if trimInvisible(text) == "" || text[0] == '#' {
			continue
		}
		if text[0] == '\t' {
			return i, "a tab is used to indent: use blanks", true
		}
		if r := []rune(text)[0]; unicode.IsSpace(r) || zeroWidth(r) {
			return i, fmt.Sprintf("the line begins with a character that looks like a blank but isn't (%U)", r), true
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			if message, ok := misspeltKey(line); ok {
				return i, message, true
			}
		}
		key, value := "the list item", strings.TrimSpace(strings.TrimPrefix(text, "- "))
		switch {
		case m != nil:
			key, value = strings.Trim(m[2], `"'`), strings.TrimSpace(m[3])
			if plainAbove != "" && m[1] != "" && !strings.Contains(m[1], "-") {
				return i, fmt.Sprintf("%s is indented deeper than %s above it", key, plainAbove), true
			}
		case strings.HasPrefix(text, "- "):
			if plainAbove != "" {
				return i, fmt.Sprintf("a list item below %s, which has a value already", plainAbove), true
			}
		case i == 0:
			return i, errNoField.Error(), true
		case plainAbove == "" && tightItem.MatchString(line):
			return i, fmt.Sprintf("a blank is missing after the dash: `- %s`", tightItem.FindStringSubmatch(line)[1]), true
		default:
			continue // text that goes on
		}
		if blockScalar.MatchString(value) {
			n, message, ok := skipBlockScalar(lines[i+1:], indentOf(line))
			if ok {
				return i + n, message, true
			}
			i += n
			continue
		}
		const most = 200 // lines that one value may go over: bounds the work on hostile input
		used, message, bad := badValue(key, value, lines[i+1:min(len(lines), i+1+most)])
		if bad {
			return i, message, true
		}
		i += used
		plainAbove = ""
		if m != nil && value != "" && !strings.ContainsRune(`"'[{&*!#`, rune(value[0])) {
			plainAbove = key
		}
	}
	return 0, "", false
}

// skipBlockScalar counts the lines of a | or > text below a key that is indented by indent. Text that steps back to the left
// of its first line ends it too early: then n is the number of the line that does.
func skipBlockScalar(lines []string, indent int) (n int, message string, bad bool) {
	first := -1
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		at := indentOf(l)
		if at <= indent {
			return i, "", false
		}
		if first < 0 {
			first = at
		}
		if at < first {
			return i + 1, "indented less than the first line of the text it belongs to", true
		}
	}
	return len(lines), "", false
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
