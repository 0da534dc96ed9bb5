package document

import (
	"slices"
	"strings"
)

// Visible is the Markdown source of a block, or of lines of it, without what a reader doesn't see: comments, the bytes of
// data URIs, targets of wikilinks that have an alias. What stands in code is kept, but for data URIs.
func Visible(kind BlockKind, source string) string {
	code := kind == BlockFence || kind == BlockCode
	if !code && (strings.Contains(source, "<!--") || strings.Contains(source, "[[")) {
		source = withoutMarkup(source, kind != BlockHTML)
	}
	return withoutDataURIs(source, code)
}

// withoutMarkup drops comments and, in Markdown, turns wikilinks into their words.
func withoutMarkup(s string, markdown bool) string {
	var spans [][2]int
	if markdown {
		spans = codeSpans(s)
	}
	var out strings.Builder
	kept, closed := 0, strings.LastIndex(s, "-->") // past closed, no comment ends
	commented := false
	for i := 0; i < len(s); {
		if len(spans) > 0 && i >= spans[0][0] {
			i = max(i, spans[0][1])
			spans = spans[1:]
			continue
		}
		switch {
		case markdown && s[i] == '\\':
			i += 2
			continue
		case strings.HasPrefix(s[i:], "<!--") && i+2 <= closed:
			out.WriteString(s[kept:i])
			i += 2 + strings.Index(s[i+2:], "-->") + len("-->") // "<!-->" is a comment, too
			kept, commented = i, true
			continue
		case markdown && s[i] == '[':
			if words, n := wikilink(s[i:]); n > 0 {
				out.WriteString(strings.TrimSuffix(s[kept:i], "!"))
				out.WriteString(words)
				i += n
				kept = i
				continue
			}
		}
		i++
	}
	out.WriteString(s[kept:])
	if commented {
		return withoutBlankLines(out.String())
	}
	return out.String()
}

// withoutBlankLines drops the lines that a comment has left empty.
func withoutBlankLines(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		text, newline := strings.CutSuffix(line, "\n")
		out.WriteString(strings.TrimRight(text, " \t"))
		if newline {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// maxWikilink bounds the bytes in which the end of a wikilink is looked for.
const maxWikilink = 300

// wikilink reads a wikilink at the start of s: the words it shows and its length, or 0. In tables the bar is escaped.
func wikilink(s string) (words string, n int) {
	if !strings.HasPrefix(s, "[[") {
		return "", 0
	}
	inner, rest, ok := strings.Cut(s[2:min(len(s), maxWikilink)], "]]")
	if !ok || inner == "" || inner[0] == ' ' || strings.ContainsAny(inner, "\n[]") {
		return "", 0
	}
	n = len(inner) + len("[[]]")
	if n < len(s) && (s[n] == '(' || s[n] == '[') || strings.HasPrefix(rest, "]") {
		return "", 0 // a Markdown link whose text is in brackets
	}
	target, alias, _ := strings.Cut(inner, "|")
	target, alias = strings.TrimSuffix(target, `\`), strings.TrimSpace(alias)
	if strings.Trim(alias, "0123456789x") == "" { // none, or the size of a picture
		return target, n
	}
	return alias, n
}

// codeSpans finds the code spans of inline text, backticks included.
func codeSpans(s string) [][2]int {
	type run struct{ start, n int }
	var runs []run
	bySize := map[int][]int{} // indexes into runs
	for i := strings.IndexByte(s, '`'); i >= 0 && i < len(s); {
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		bySize[n] = append(bySize[n], len(runs))
		runs = append(runs, run{i, n})
		next := strings.IndexByte(s[i+n:], '`')
		if next < 0 {
			break
		}
		i += n + next
	}
	var spans [][2]int
	for i := 0; i < len(runs); i++ {
		start, n := runs[i].start, runs[i].n
		if escaped(s, start) {
			start, n = start+1, n-1
		}
		same := bySize[n]
		at, found := slices.BinarySearch(same, i)
		if found {
			at++
		}
		if n == 0 || at == len(same) {
			continue
		}
		end := same[at]
		spans = append(spans, [2]int{start, runs[end].start + n})
		i = end
	}
	return spans
}

// escaped reports whether an odd number of backslashes stands before s[i].
func escaped(s string, i int) bool {
	before := s[:i]
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}
