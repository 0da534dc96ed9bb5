package lint

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"knowledged/document"
)

// link is a link whose target may be in the folder.
type link struct {
	target string // as written, without title and angle brackets
	at     Location
}

var scheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)

// checkable tells whether a target is a path relative to the document, or an anchor. Addresses, paths from a site's root
// and what a site generator fills in are not.
func checkable(target string) bool {
	switch {
	case target == "", target == "#", scheme.MatchString(target), strings.HasPrefix(target, "/"), strings.HasPrefix(target, "@"):
		return false
	}
	return !strings.ContainsAny(target, "{}<>$\n\\|")
}

// links compares the targets of all links with the folder.
func (c *check) links() {
	byPath := make(map[string]*Page, len(c.pages))
	byBase := map[string][]string{}
	for i := range c.pages {
		p := &c.pages[i]
		byPath[p.path] = p
		byBase[strings.ToLower(path.Base(p.path))] = append(byBase[strings.ToLower(path.Base(p.path))], p.path)
	}
	for i := range c.pages {
		for _, l := range c.pages[i].links {
			c.link(&c.pages[i], l, byPath, byBase)
		}
	}
}

func (c *check) link(from *Page, l link, byPath map[string]*Page, byBase map[string][]string) {
	file, anchor, _ := strings.Cut(l.target, "#")
	file, _, _ = strings.Cut(file, "?")
	to := from
	if file != "" {
		if plain, err := url.PathUnescape(file); err == nil {
			file = plain
		}
		target := path.Join(path.Dir(from.path), file)
		if target == ".." || strings.HasPrefix(target, "../") {
			return // outside of the folder: nothing is known of it
		}
		var there bool
		if to, there = c.resolve(target, byPath); !there {
			f := c.report(DeadLink, l.at, fmt.Sprintf("the link to %q leads nowhere: there is no %s", cut(l.target), cut(target)))
			if near := nearest(target, byBase); near != "" {
				f.Fix = fmt.Sprintf("Correct the path; %s has the same name.", relative(from.path, near))
			}
			return
		}
	}
	if plain, err := url.PathUnescape(anchor); err == nil {
		anchor = plain
	}
	if to == nil || anchor == "" || anchor == "top" || to.hasAnchor(anchor) {
		return
	}
	where := "this document"
	if to != from {
		where = to.path
	}
	c.report(DeadAnchor, l.at, fmt.Sprintf("the link to %q: %s has no heading #%s", cut(l.target), where, cut(anchor)))
}

// resolve finds what a path stands for; site generators let the extension, or the name index.md, be left out. page is nil
// where the target is no document.
func (c *check) resolve(target string, byPath map[string]*Page) (page *Page, there bool) {
	for _, p := range []string{target, target + ".md", path.Join(target, "index.md"), path.Join(target, "README.md"), target + ".markdown"} {
		if page := byPath[p]; page != nil {
			return page, true
		}
	}
	if c.folder.Exists == nil || target == "." {
		return nil, true
	}
	return nil, c.folder.Exists(target) || path.Ext(target) == "" && c.folder.Exists(target+".md")
}

// nearest is a document with the file name of target, "" if there is none, or more than one.
func nearest(target string, byBase map[string][]string) string {
	base := strings.ToLower(path.Base(target))
	for _, name := range []string{base, base + ".md"} {
		if same := byBase[name]; len(same) == 1 {
			return same[0]
		}
	}
	return ""
}

// relative is the link from one document to another.
func relative(from, to string) string {
	a, b := strings.Split(path.Dir(from), "/"), strings.Split(to, "/")
	if a[0] == "." {
		a = nil
	}
	for len(a) > 0 && len(b) > 1 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	return strings.Repeat("../", len(a)) + strings.Join(b, "/")
}

// explicitAnchor finds ids that a text gives itself: {#id} behind a heading, id and name attributes.
var explicitAnchor = regexp.MustCompile(`\{[^{}\n]*?#([^\s{}]+)[^{}\n]*\}|(?:id|name)=["']([^"'\n]+)["']`)

// anchorsOf lists what a # may lead to in a document, as anchorKey has it, sorted.
func anchorsOf(doc *document.Document) []string {
	var keys []string
	for _, s := range doc.Sections {
		keys = append(keys, anchorKey(s.Title))
	}
	for _, m := range explicitAnchor.FindAllStringSubmatch(doc.Body, -1) {
		keys = append(keys, anchorKey(m[1]+m[2]))
	}
	slices.Sort(keys)
	return slices.Clip(slices.Compact(keys))
}

// anchorKey is a heading or an anchor without all that generators of anchors disagree on: blanks, signs, case.
func anchorKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, document.Fold(s))
}

var repeated = regexp.MustCompile(`[-_]\d+$`)

// hasAnchor knows that of two headings with one text the second gets a number.
func (p *Page) hasAnchor(anchor string) bool {
	for _, a := range []string{anchor, repeated.ReplaceAllString(anchor, "")} {
		if _, there := slices.BinarySearch(p.anchors, anchorKey(a)); there {
			return true
		}
	}
	return false
}
