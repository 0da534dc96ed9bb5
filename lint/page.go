package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"knowledged/document"
)

// Page is what Check needs of a document: its names, headings and links, not its text.
type Page struct {
	path     string
	title    name
	names    []name // keywords and aliases
	anchors  []string
	links    []link
	broken   bool      // front matter cannot be read: what else is missing follows from that
	findings []Finding // of the document by itself
}

// name is a title, keyword or alias and where it stands.
type name struct {
	text, kind string
	at         Location
}

// Inspect looks at one document by itself. text is the whole file, as document.Decode gives it.
func Inspect(doc *document.Document, text string) Page {
	p := Page{path: strings.Clone(doc.Path), broken: !doc.HasFrontmatter && len(doc.Warnings) > 0}
	head := fields{path: p.path}
	if doc.HasFrontmatter {
		head.lines = strings.Split(strings.TrimSuffix(text, doc.Body), "\n")
	}
	p.title = name{text: doc.Title, kind: "title", at: head.find(doc.Title, "title")}
	if doc.InL0 {
		for _, k := range doc.Keywords {
			p.names = append(p.names, name{text: k, kind: "keyword", at: head.find(k, "keywords", "tags")})
		}
		for _, a := range doc.Aliases {
			p.names = append(p.names, name{text: a, kind: "alias", at: head.find(a, "aliases")})
		}
	}
	p.frontMatter(doc)
	p.weakNames()
	p.weakTexts(doc, &head)
	p.sections(doc, &head)
	p.anchors = anchorsOf(doc)
	p.links = linksOf(doc)
	return p
}

func (p *Page) report(rule string, at Location, message string) *Finding {
	p.findings = append(p.findings, found(rule, at, message))
	return &p.findings[len(p.findings)-1]
}

// frontMatter passes on what parsing has found. The one warning on missing fields has a rule of its own.
func (p *Page) frontMatter(doc *document.Document) {
	if !doc.HasFrontmatter && len(doc.Warnings) == 0 {
		p.report(NoFrontMatter, Location{Path: p.path, Line: 1}, "no front matter: found by its text alone")
		return
	}
	for _, w := range doc.Warnings {
		at := Location{Path: p.path, Line: w.Line}
		switch {
		case p.broken:
			p.report(FrontMatterBroken, at, w.Message)
		case strings.Contains(w.Message, " missing or empty"):
			f := p.report(MissingFields, at, w.Message)
			if !doc.InL0 {
				f.Severity = Error
			}
			if len(doc.Keywords)+len(doc.Aliases) == 0 {
				f.Fix = "Add the fields; without keywords or aliases no lookup matches this document by name, not even by its title."
			}
		default:
			p.report(FrontMatter, at, w.Message)
		}
	}
}

// generic are keywords that fit any document. They are compared folded.
var generic = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`
		api apis doc docs document documents documentation error errors faq guide guides help howto how-to info information
		introduction issue issues manual misc note notes other others overview page problem problems question questions readme
		reference test tests todo tutorial tutorials usage
		文档 说明 指南 手册 教程 问题 错误 报错 异常 介绍 概述 简介 其他 其它 使用 配置 常见问题 帮助 接口 系统 测试 资料 笔记 备注 总结`) {
		words[w] = true
	}
	return words
}()

// longKeyword is in characters. Nobody types that much as a keyword: it is a sentence, or a list in one string.
const longKeyword = 60

func (p *Page) weakNames() {
	for _, n := range p.names {
		folded := document.FoldName(n.text)
		switch {
		case !hasWord(folded):
			p.report(WeakKeyword, n.at, fmt.Sprintf("%s %q has no letter and no digit: no query can mean it", n.kind, n.text))
		case utf8.RuneCountInString(folded) == 1:
			p.report(WeakKeyword, n.at, fmt.Sprintf("%s %q is one character: it matches queries about anything", n.kind, n.text))
		case generic[folded]:
			p.report(WeakKeyword, n.at, fmt.Sprintf("%s %q fits nearly any document", n.kind, n.text))
		case utf8.RuneCountInString(folded) > longKeyword:
			p.report(WeakKeyword, n.at, fmt.Sprintf("%s %q is longer than %d characters: nobody types it", n.kind, cut(n.text), longKeyword))
		}
	}
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// weakTexts judges title, summary and body.
func (p *Page) weakTexts(doc *document.Document, head *fields) {
	title := document.Fold(doc.Title)
	stem := strings.TrimSuffix(path.Base(p.path), path.Ext(p.path))
	at := p.title.at
	if title != "" && title == document.Fold(stem) && slug(title) {
		p.report(WeakTitle, at, fmt.Sprintf("the title %q is only the file name", doc.Title))
	}
	if title != "" && document.Fold(doc.Summary) == title {
		p.report(WeakSummary, head.find(doc.Summary, "summary", "description"), "the summary repeats the title")
	}
	if strings.TrimSpace(doc.Body) == "" {
		message := "there is no text below the front matter"
		if !doc.HasFrontmatter && len(doc.Warnings) == 0 {
			message = "the file is empty: no lookup finds it"
		}
		p.report(EmptyDocument, Location{Path: p.path}, message)
	}
}

// slug tells a file's name from a title that was written for people: one word of Latin letters with no blank.
func slug(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxLatin1 || unicode.IsSpace(r) }) && strings.ContainsAny(s, "-_.")
}

// sections looks for the headings that front matter's `sections` names stand for.
func (p *Page) sections(doc *document.Document, head *fields) {
	for _, n := range doc.SectionNames {
		want := document.Fold(n.Heading)
		if slices.ContainsFunc(doc.Sections, func(s document.Section) bool { return document.Fold(s.Title) == want }) {
			continue
		}
		f := p.report(SectionMissing, head.find(n.Name, "sections"), fmt.Sprintf("section name %q stands for the heading %q, which does not exist", n.Name, n.Heading))
		headings := document.Document{Sections: doc.Sections}
		if near := headings.NearestTitles(n.Heading, 3); len(near) > 0 {
			f.Fix = "Write the heading as it stands in the text; the nearest are " + quoted(near) + "."
		}
	}
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", cut(s))
	}
	return strings.Join(out, ", ")
}

// cut bounds what a message quotes.
func cut(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
