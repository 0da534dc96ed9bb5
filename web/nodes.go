package web

import (
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"knowledged/document"
)

// ownNodes renders what goldmark would render otherwise than the pages want.
type ownNodes struct{}

// RegisterFuncs is goldmark's.
func (ownNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindMatch, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("<section class=\"match\" id=\"match\">\n")
		} else {
			_, _ = w.WriteString("</section>\n")
		}
		return ast.WalkContinue, nil
	})
	// A box that can't be ticked is a sign, not a form.
	reg.Register(east.KindTaskCheckBox, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			box := "☐"
			if n.(*east.TaskCheckBox).IsChecked {
				box = "☑"
			}
			_, _ = w.WriteString(`<span class="task">` + box + "</span> ")
		}
		return ast.WalkContinue, nil
	})
}

// target is where a link leads: to our page of a document below the base, or out. False: nowhere that is served.
func (r *rendering) target(to string) (string, bool) {
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return "", false
	case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto":
		return to, true
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return "", false
	}
	anchor := ""
	if u.Fragment != "" {
		anchor = "#" + url.PathEscape(idPrefix+strings.ToLower(u.Fragment))
	}
	if u.Path == "" {
		if r.path != "" && anchor != "" {
			return address("/docs/", r.path) + anchor, true
		}
		return "", false
	}
	p := path.Join(path.Dir(r.path), u.Path)
	ext := strings.ToLower(path.Ext(p))
	if p == ".." || strings.HasPrefix(p, "../") || ext != ".md" && ext != ".markdown" {
		return "", false
	}
	return address("/docs/", p) + anchor, true
}

// idPrefix keeps the ids of headings apart from those of the page.
const idPrefix = "h-"

// idsOf makes the ids of sections as GitHub does, so that anchors written for it work: lower case, no punctuation, hyphens
// for blanks, a number behind a second one.
func idsOf(sections []document.Section) []string {
	ids, seen := make([]string, len(sections)), map[string]int{}
	for i, s := range sections {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, s.Title)
		ids[i] = idPrefix + slug
		if n := seen[slug]; n > 0 {
			ids[i] += "-" + strconv.Itoa(n)
		}
		seen[slug]++
	}
	return ids
}

// sectionAt finds the section that a breadcrumb, a title or a name of front matter's `sections` stands for; -1 if none.
func sectionAt(d *document.Document, at string) int {
	if at == "" {
		return -1
	}
	var open []document.Section
	for i, s := range d.Sections {
		for len(open) > 0 && open[len(open)-1].Level >= s.Level {
			open = open[:len(open)-1]
		}
		open = append(open, s)
		crumb := make([]string, len(open))
		for j := range open {
			crumb[j] = open[j].Title
		}
		if chain := strings.Join(crumb, crumbSep); chain == at || d.Title+crumbSep+chain == at {
			return i
		}
	}
	if _, found, ok := d.FindSection(at); ok {
		for i, s := range d.Sections {
			if s.Start == found.Start {
				return i
			}
		}
	}
	return -1
}

// crumbSep joins the headings of a breadcrumb (SPEC 3.2).
const crumbSep = " > "
