package document

import (
	"fmt"
	"strings"
)

// badValue says why a value cannot be read; below are the lines that may belong to it. Where nothing is wrong, used says how
// many of them do.
func badValue(key, value string, below []string) (used int, message string, bad bool) {
	if value == "" {
		return 0, "", false
	}
	switch c := value[0]; c {
	case '"', '\'':
		return badQuoted(key, value, below)
	case '[', '{':
		return badFlow(key, value, below)
	case '*', '&', '!':
		if readable(value) {
			return 0, "", false
		}
		fallthrough
	case '@', '`', '%', '|', '>', ']', '}', ',', '?':
		return 0, fmt.Sprintf("the value of %s begins with %c and needs quotes: %s", key, c, quoted(value)), true
	case '-':
		if strings.HasPrefix(value, "- ") {
			return 0, fmt.Sprintf("the list of %s has to begin on a line of its own", key), true
		}
	}
	plain, _, _ := strings.Cut(value, " #")
	if strings.Contains(plain, ": ") || strings.HasSuffix(plain, ":") || strings.Contains(plain, ":\t") {
		return 0, fmt.Sprintf("the value of %s holds a colon and needs quotes: %s", key, quoted(value)), true
	}
	return 0, "", false
}

// readable says whether a value is fine by itself; anchors may stand elsewhere.
func readable(value string) bool {
	_, err := readField([]string{"x: " + value})
	return err == nil
}

func joined(value string, below []string) string {
	if len(below) == 0 {
		return value
	}
	return value + "\n" + strings.Join(below, "\n")
}

// restOfLine is what follows the end of a value on its line, comment aside.
func restOfLine(s string) string {
	rest, _, _ := strings.Cut(s, "\n")
	if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "#") {
		return ""
	}
	return rest
}

func badQuoted(key, value string, below []string) (used int, message string, bad bool) {
	quote := value[0]
	whole := joined(value, below)
	end := closingQuote(whole)
	if end < 0 {
		return 0, fmt.Sprintf("the quote %c that opens the value of %s is never closed", quote, key), true
	}
	if restOfLine(whole[end+1:]) != "" {
		other := "single quotes"
		if quote == '\'' {
			other = "double quotes (or double it: '')"
		}
		return 0, fmt.Sprintf("the value of %s goes on after its closing quote: put all of it in %s", key, other), true
	}
	if quote == '"' && strings.Contains(whole[:end], `\`) && !readable(whole[:end+1]) {
		return 0, fmt.Sprintf(`a backslash in double quotes begins an escape such as \n: put the value of %s in single quotes`, key), true
	}
	return strings.Count(whole[:end], "\n"), "", false
}

// closingQuote is the offset of the quote that closes the one s begins with, or -1.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[0] == '"' && s[i] == '\\':
			i++
		case s[i] == s[0] && s[0] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return -1
}

// badFlow explains a list in brackets or a mapping in braces.
func badFlow(key, value string, below []string) (used int, message string, bad bool) {
	whole := joined(value, below)
	scan := scanFlow(whole)
	kind := flowName(value)
	if scan.end >= 0 && restOfLine(whole[scan.end:]) == "" && readable(whole[:scan.end]) {
		return strings.Count(whole[:scan.end], "\n"), "", false
	}
	switch {
	case scan.comment && scan.end < 0:
		message = fmt.Sprintf("# begins a comment within the %s of %s, so that it is never closed: quote the item (\"#…\")", kind, key)
	case scan.wide != 0:
		message = fmt.Sprintf("full-width %c within the %s of %s: type a plain one", scan.wide, kind, key)
	case scan.openQuote:
		message = fmt.Sprintf("a quote within the %s of %s is never closed", kind, key)
	case scan.end < 0:
		message = fmt.Sprintf("%c opens the %s of %s but is never closed; a text that begins with %c needs quotes", value[0], kind, key, value[0])
	case restOfLine(whole[scan.end:]) != "":
		message = fmt.Sprintf("the value of %s begins with %c and goes on after its end; a text needs quotes: %s", key, value[0], quoted(value))
	case strings.Contains(strings.ReplaceAll(whole[:scan.end], " ", ""), ",,"):
		message = fmt.Sprintf("two commas follow each other in the %s of %s", kind, key)
	default:
		message = fmt.Sprintf("an item in the %s of %s needs quotes", kind, key)
	}
	return 0, message, true
}

func flowName(value string) string {
	if value[0] == '{' {
		return "mapping in braces"
	}
	return "list"
}

type flowScan struct {
	end       int  // offset after the bracket that closes the first one; -1 if none does
	comment   bool // a # that begins a comment was met
	openQuote bool
	wide      rune // full-width comma or bracket beside a quoted item or in place of the closing one
}

func scanFlow(s string) flowScan {
	depth, afterQuote := 0, false
	r := flowScan{end: -1}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				r.end = i + 1
				return r
			}
		case (c == '"' || c == '\'') && strings.ContainsRune("[{,: \t\n", rune(s[i-1])):
			end := closingQuote(s[i:])
			if end < 0 {
				r.openQuote = true
				return r
			}
			i += end
			afterQuote = true
			continue
		case c == '#' && strings.ContainsRune(" \t\n,[", rune(s[i-1])):
			r.comment = true
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return r
			}
			i += n
		case c >= 0x80:
			for _, wide := range "，】］、；" {
				if strings.HasPrefix(s[i:], string(wide)) && (afterQuote || wide == '】' || wide == '］') && r.wide == 0 {
					r.wide = wide
				}
			}
		}
		if s[i] != ' ' {
			afterQuote = false
		}
	}
	return r
}

// quoted shows how a value would look in quotes.
func quoted(value string) string {
	const most = 60 // characters; the author knows the rest
	if r := []rune(value); len(r) > most {
		value = string(r[:most]) + "…"
	}
	if strings.ContainsAny(value, `"\`) {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return `"` + value + `"`
}
