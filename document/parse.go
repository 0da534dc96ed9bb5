package document

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxWarnings bounds what one file can complain of.
const maxWarnings = 20

// Options are what Parse has to know beyond the file itself.
type Options struct {
	BaseName string // the base folder's name, for Source
	Fallback bool   // description, tags and the first H1 stand in for missing fields; TOML and JSON front matter are read
}

// Parse reads a file's bytes. path is the slash path below the base folder. The only error is one that wraps ErrNotText;
// whatever else is wrong becomes a warning, and the text stays findable.
func Parse(path string, data []byte, opt Options) (*Document, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	d := &Document{Path: path, Source: path, Category: firstFolder(path), Body: text, BodyLine: 1}
	if opt.BaseName != "" {
		d.Source = opt.BaseName + "/" + path
	}
	fm := readFrontMatter(text, opt.Fallback)
	d.Warnings = fm.problems
	if fm.fields != nil {
		d.HasFrontmatter = true
		d.Body = text[len(fm.head):]
		d.BodyLine = 1 + strings.Count(fm.head, "\n")
		d.Sections = Sections(d.Body, d.BodyLine)
		d.readFields(fm, opt.Fallback)
	} else {
		// The whole text is body, so that nothing is lost; but the lines of a block that was meant as front matter are no headings.
		d.Sections = Sections(blanked(text, fm.noise, len(fm.head)), 1)
	}
	if d.Title == "" {
		d.Title = d.firstH1()
	}
	d.Chinese = d.mostlyChinese()
	return d, nil
}

// readFields fills the document from its front matter and decides whether it belongs in L0 (SPEC 1.3).
func (d *Document) readFields(fm frontMatter, fallback bool) {
	pairs, twice := topPairs(fm.fields)
	f := &fields{pairs: pairs, lines: strings.Split(fm.head, "\n")}
	for _, w := range twice {
		f.warn(w.Line, "%s", w.Message)
	}
	f.asTyped(fm.fields)
	title, keywords, summary := f.text("title"), f.list("keywords"), f.text("summary")
	if fallback {
		if title.state != given {
			if h1 := d.firstH1(); h1 != "" {
				title = f.standIn("title", title, value{state: given, text: h1})
			}
		}
		if keywords.state != given {
			keywords = f.standIn("keywords", keywords, f.list("tags"))
		}
		if summary.state != given {
			summary = f.standIn("summary", summary, f.text("description"))
		}
	}
	d.Title = oneLine(title.text)
	d.Summary = summary.text
	d.Keywords = keywords.list
	d.Aliases = f.list("aliases").list
	if fallback {
		d.Aliases = slices.DeleteFunc(d.Aliases, isRedirect)
	}
	if category := f.text("category"); category.state == given {
		d.Category = oneLine(category.text)
	}
	d.SectionNames = f.sections()
	f.missing([]string{"title", "keywords", "summary"}, []value{title, keywords, summary})

	d.InL0 = title.state == given && (fallback || keywords.state == given && summary.state == given)

	var large []Warning
	d.Metadata, large = metadata(pairs)
	for _, w := range large {
		f.warn(w.Line, "%s", w.Message)
	}
	d.Warnings = append(d.Warnings, f.warnings...)
	slices.SortStableFunc(d.Warnings, func(a, b Warning) int { return a.Line - b.Line })
	if n := len(d.Warnings) - maxWarnings; n > 0 {
		d.Warnings = append(d.Warnings[:maxWarnings], Warning{Message: fmt.Sprintf("front matter: %d more problems", n)})
	}
}

// isRedirect tells Hugo's aliases, which are old addresses of a page, from names.
func isRedirect(alias string) bool {
	return strings.HasPrefix(alias, "/") && (strings.HasSuffix(alias, "/") || strings.HasSuffix(alias, ".html"))
}

// oneLine joins the lines of a text that was a folded or literal block.
func oneLine(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

func firstFolder(path string) string {
	folder, _, ok := strings.Cut(path, "/")
	if !ok {
		return ""
	}
	return folder
}

// firstH1 is a copy: the title outlives the text in memory.
func (d *Document) firstH1() string {
	for _, s := range d.Sections {
		if s.Level == 1 && s.Title != "" {
			return strings.Clone(s.Title)
		}
	}
	return ""
}

// blanked is text with blanks for the bytes from..to, line ends kept: offsets and lines stay what they were.
func blanked(text string, from, to int) string {
	if from == to {
		return text
	}
	b := []byte(text)
	for i := from; i < to; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

// mostlyChinese weighs Han characters against words of other scripts in title, summary and the start of the body: Chinese
// texts are full of Latin names and code, and a word says more than a character. Kana make it Japanese.
func (d *Document) mostlyChinese() bool {
	han, kana, words := 0, 0, 0
	count := func(s string, most int) {
		inWord := false
		for _, r := range s {
			if most--; most < 0 {
				return
			}
			switch {
			case unicode.Is(unicode.Han, r):
				han++
				inWord = false
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
				inWord = false
			case unicode.IsLetter(r):
				if !inWord {
					words++
				}
				inWord = true
			default:
				inWord = false
			}
		}
	}
	const start = 2000 // characters
	count(d.Title, start)
	count(d.Summary, start)
	count(d.Body, start)
	return han > 0 && han >= words && kana*4 <= han
}
