package web

import (
	"bytes"
	"html/template"
	"regexp"
	"sort"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	xhtml "golang.org/x/net/html"

	"knowledged/document"
	"knowledged/lookup"
)

// markdown lets raw HTML through: authors write <details> and <kbd>. What may stay is the sanitiser's to say.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(ownNodes{}, 100))),
)

// sanitiser keeps text and structure. It drops styles, scripts, forms, frames, media, every address but http, https, mailto
// and relative ones, and all attributes it does not name: hx-… and on… among them. Ids are our own, so that no document
// can pass for a part of the page.
var sanitiser = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(
		"p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "b", "i", "u", "s", "del", "ins", "mark", "small",
		"sub", "sup", "kbd", "samp", "var", "q", "cite", "abbr", "blockquote", "pre", "code", "ul", "ol", "li", "dl", "dt", "dd",
		"details", "summary", "table", "thead", "tbody", "tr", "th", "td", "section", "span",
	)
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("colspan", "rowspan").Matching(bluemonday.Integer).OnElements("th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^h-\S+$`)).OnElements("h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^match$`)).OnElements("section")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(match|task|image|language-[\w+#.-]+)$`)).OnElements("section", "span", "code")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}()

// rendering says how a text is to be shown.
type rendering struct {
	path     string             // of the document, for its relative links
	sections []document.Section // in the order of the text
	ids      []string           // of sections
	match    int                // the section to point out; -1: none
}

// render makes safe HTML of a Markdown text, or shows it as it is where that would take too long; laidOut says which.
func render(body string, r rendering) (out template.HTML, laidOut bool) {
	if !renderable(body) {
		return plain(body), false
	}
	source := []byte(body)
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	if !r.adapt(tree) {
		return plain(body), false
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, tree); err != nil { // a bytes.Buffer takes everything
		return plain(body), false
	}
	return template.HTML(sanitiser.SanitizeBytes(b.Bytes())), true //nolint:gosec // sanitised
}

// plain is a text as it is.
func plain(body string) template.HTML {
	return template.HTML("<pre>" + template.HTMLEscapeString(body) + "</pre>") //nolint:gosec // escaped
}

// adapt gives headings their ids, points links at our pages, makes words of pictures and wraps the section that matched. It
// reports false where the links together would be too long: a definition is one line, its uses have two letters each.
func (r *rendering) adapt(tree ast.Node) bool {
	var links []ast.Node
	addresses := 0
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Link:
				links, addresses = append(links, n), addresses+len(n.Destination)
			case *ast.Image:
				links, addresses = append(links, n), addresses+len(n.Destination)
			case *ast.Heading:
				if i := r.sectionOf(n); i >= 0 {
					n.SetAttributeString("id", []byte(r.ids[i]))
				}
			}
		}
		return ast.WalkContinue, nil
	})
	if addresses > maxAddresses {
		return false
	}
	for _, n := range links {
		switch n := n.(type) {
		case *ast.Link:
			if to, ok := r.target(string(n.Destination)); ok {
				n.Destination, n.Title = []byte(to), nil
			} else {
				unwrap(n)
			}
		case *ast.Image:
			r.picture(n)
		}
	}
	r.wrapMatch(tree)
	return true
}

// picture puts a link in a picture's place: pictures of others would tell them who reads, and those of the folder are not
// served.
func (r *rendering) picture(n *ast.Image) {
	parent := n.Parent()
	if to, ok := r.target(string(n.Destination)); ok {
		link := ast.NewLink()
		link.Destination = []byte(to)
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			link.AppendChild(link, c)
		}
		if link.FirstChild() == nil {
			link.AppendChild(link, ast.NewString([]byte(to)))
		}
		parent.ReplaceChild(parent, n, link)
		return
	}
	unwrap(n)
}

// unwrap leaves a node's text in its place.
func unwrap(n ast.Node) {
	parent := n.Parent()
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		parent.InsertBefore(parent, n, c)
	}
	parent.RemoveChild(parent, n)
}

// sectionOf finds the section that a heading begins, by its place in the text.
func (r *rendering) sectionOf(h *ast.Heading) int {
	if h.Lines().Len() == 0 {
		return -1
	}
	return r.sectionAt(h.Lines().At(0).Start)
}

// sectionAt is the section whose heading holds an offset, -1 if none does.
func (r *rendering) sectionAt(at int) int {
	i := sort.Search(len(r.sections), func(i int) bool { return r.sections[i].Start > at }) - 1 // the last that begins before
	if i < 0 || at >= r.sections[i].Text {
		return -1
	}
	return i
}

// wrapMatch puts the section that matched, heading and all, into one element.
func (r *rendering) wrapMatch(tree ast.Node) {
	if r.match < 0 {
		return
	}
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || r.sectionOf(h) != r.match {
			continue
		}
		box := &matchNode{}
		tree.InsertBefore(tree, n, box)
		for c := ast.Node(h); c != nil; {
			next := c.NextSibling()
			if other, ok := c.(*ast.Heading); ok && c != n && other.Level <= h.Level {
				break
			}
			box.AppendChild(box, c)
			c = next
		}
		return
	}
}

// matchNode is the section that matched.
type matchNode struct{ ast.BaseBlock }

var kindMatch = ast.NewNodeKind("Match")

func (*matchNode) Kind() ast.NodeKind            { return kindMatch }
func (n *matchNode) Dump(source []byte, lvl int) { ast.DumpHelper(n, source, lvl, nil, nil) }

// markHTML marks the query's words in the text of safe HTML.
func markHTML(in template.HTML, query string) template.HTML {
	if query == "" {
		return in
	}
	var b strings.Builder
	z := xhtml.NewTokenizer(strings.NewReader(string(in)))
	for {
		kind := z.Next()
		if kind == xhtml.ErrorToken { // the end
			return template.HTML(b.String()) //nolint:gosec // what came in, and escaped text
		}
		if kind != xhtml.TextToken {
			b.Write(z.Raw())
			continue
		}
		for _, p := range lookup.Marks(z.Token().Data, query) {
			if p.Marked {
				b.WriteString("<mark>" + template.HTMLEscapeString(p.Text) + "</mark>")
			} else {
				b.WriteString(template.HTMLEscapeString(p.Text))
			}
		}
	}
}
