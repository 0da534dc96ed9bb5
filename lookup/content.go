package lookup

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"knowledged/document"
)

// Limits of SPEC 2.6, in characters unless they count lines.
const (
	compactBody     = 800  // of a document up to longDocument
	compactBodyLong = 500  // of a longer one
	longDocument    = 2000 // length of the body from which a document is long
	compactWhole    = 1050 // "about 1,000": what the head takes beyond its share, the body gives
	compactLeast    = 200  // of the body, however long the head
	metadataWhole   = 210  // "about 200"
	sectionLines    = 12
	keywordItems    = 10
)

// labels are the words of an answer in the document's language.
type labels struct {
	document, summary, sections, keywords, source string
	colon, comma                                  string
	more                                          string // format: how many were left out
}

var (
	chineseLabels = labels{"文档", "摘要", "章节", "关键词", "来源", ": ", "、", "…… 另有 %d 项"}
	englishLabels = labels{"Document", "Summary", "Sections", "Keywords", "Source", ": ", ", ", "... %d more"}
)

func labelsFor(chinese bool) labels {
	if chinese {
		return chineseLabels
	}
	return englishLabels
}

// compactContent is a document in about 1,000 characters: what it is, what is in it, how it begins.
func compactContent(d *document.Document) string {
	l := labelsFor(d.Chinese)
	var b strings.Builder
	l.line(&b, l.document, clip(oneLine(d.Title), 100))
	l.line(&b, l.summary, clip(oneLine(d.Summary), 240))
	var titles []string
	for _, s := range d.Sections {
		if s.Level == 2 {
			titles = append(titles, s.Title)
		}
	}
	if len(titles) > 0 {
		b.WriteString(l.sections + strings.TrimRight(l.colon, " ") + "\n")
		for i, t := range titles {
			if i == sectionLines {
				fmt.Fprintf(&b, "  - "+l.more+"\n", len(titles)-i)
				break
			}
			b.WriteString("  - " + clip(oneLine(t), 40) + "\n")
		}
	}
	limit := compactBody
	if utf8.RuneCountInString(d.Body) > longDocument {
		limit = compactBodyLong
	}
	head := utf8.RuneCountInString(b.String())
	if body := clip(bodyText(d), min(limit, max(compactLeast, compactWhole-head))); body != "" {
		b.WriteString("---\n" + body)
	}
	return strings.TrimRight(b.String(), "\n")
}

// metadataContent is what is known of a document without reading its file, in about 200 characters.
func metadataContent(d *Doc) string {
	l := labelsFor(d.Chinese)
	var title, rest strings.Builder
	l.line(&title, l.document, clip(oneLine(d.shownTitle()), 60))
	l.line(&rest, l.keywords, l.keywordList(d.Keywords, 110))
	l.line(&rest, l.source, d.Path)
	room := metadataWhole - utf8.RuneCountInString(title.String()+l.summary+rest.String())
	l.line(&title, l.summary, clip(oneLine(d.Summary), max(40, room)))
	return strings.TrimRight(title.String()+rest.String(), "\n")
}

// fullContent is the whole text below the front matter.
func fullContent(d *document.Document) string { return strings.Trim(d.Body, "\n") }

// line writes "label: value", or nothing without a value.
func (l labels) line(b *strings.Builder, label, value string) {
	if value != "" {
		b.WriteString(label + l.colon + value + "\n")
	}
}

// keywordList joins keywords up to ten or room characters, and says how many are left out.
func (l labels) keywordList(keywords []string, room int) string {
	var b strings.Builder
	for i, k := range keywords {
		k = clip(oneLine(k), 40)
		if i > 0 {
			if i == keywordItems || utf8.RuneCountInString(b.String()+k) > room {
				fmt.Fprintf(&b, l.comma+l.more, len(keywords)-i)
				break
			}
			b.WriteString(l.comma)
		}
		b.WriteString(k)
	}
	return b.String()
}

// bodyText is the body without headings, blank lines, comments and embedded images: what is worth a reader's first glance.
func bodyText(d *document.Document) string {
	var b strings.Builder
	from := 0
	var text strings.Builder
	for _, s := range d.Sections {
		if s.Start < from || s.Text > len(d.Body) || s.Text < s.Start {
			continue // headings come in order; anything else is not a span of this body
		}
		text.WriteString(d.Body[from:s.Start])
		text.WriteByte('\n')
		from = s.Text
	}
	text.WriteString(d.Body[from:])
	fence, comment := "", false
	for line := range strings.Lines(text.String()) {
		line = strings.TrimRight(line, " \t\n")
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case fence != "":
			if closes(trimmed, fence) {
				fence = ""
			}
		case comment:
			comment = !strings.Contains(trimmed, "-->")
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		case strings.HasPrefix(trimmed, "<!--"):
			if end := strings.Index(trimmed, "-->"); end < 0 {
				comment = true
				continue
			} else if line = strings.TrimSpace(trimmed[end+len("-->"):]); line == "" {
				continue
			}
		}
		if trimmed == "" || fence == "" && len(line)-len(trimmed) < 4 && emptyHeading.MatchString(trimmed) {
			continue
		}
		if strings.Contains(line, ";base64,") {
			line = dataURI.ReplaceAllString(line, "data:...")
		}
		b.WriteString(line + "\n")
		if b.Len() > 4*2*compactBody {
			break // more than any limit needs, in bytes: the rest of a large file is not looked at
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// dataURI is an embedded image or font: thousands of characters that nobody reads.
var dataURI = regexp.MustCompile(`data:[\w.+/-]*(?:;[\w=-]+)*;base64,[A-Za-z0-9+/=]+`)

// emptyHeading is a heading without a title, which is no section.
var emptyHeading = regexp.MustCompile(`^#{1,6}([ \t]+#+)?$`)

// closes reports the closing line of a fence: the same character, at least as many, nothing behind.
func closes(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// clip cuts text to limit characters, the last three of them "..." where it was longer. It never cuts inside a character,
// nor between a letter and the accents or joiners that belong to it.
func clip(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	out, _ := cut(s, max(0, limit-len("...")))
	return strings.TrimRight(out, " \t\n") + "..."
}

// cut returns the first n characters and whether there are more.
func cut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	end := 0
	for i := range s {
		if n == 0 {
			end = i
			break
		}
		n--
		end = len(s)
	}
	if end == len(s) {
		return s, false
	}
	for end > 0 {
		r, _ := utf8.DecodeRuneInString(s[end:])
		before, size := utf8.DecodeLastRuneInString(s[:end])
		if !joins(r) && before != 0x200D {
			break
		}
		end -= size
	}
	return s[:end], true
}

// joins reports runes that continue the character before them: combining marks, variation selectors, joiners, skin tones.
func joins(r rune) bool {
	return r >= 0x0300 && r <= 0x036F || r >= 0xFE00 && r <= 0xFE0F || r == 0x200D || r >= 0x1F3FB && r <= 0x1F3FF ||
		r >= 0x20D0 && r <= 0x20FF || r >= 0x3099 && r <= 0x309A
}

// oneLine is text as a label's value: front matter may hold line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
