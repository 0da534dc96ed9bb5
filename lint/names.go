package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"knowledged/document"
)

// titles compares the documents' titles.
func (c *check) titles() {
	byTitle := map[string][]int{}
	for i, p := range c.pages {
		title := document.Fold(p.title.text)
		switch {
		case title == "" && p.broken:
		case title == "":
			c.report(TitleUnfindable, Location{Path: p.path}, "no title: neither in the front matter nor as a first heading")
		case !hasWord(title):
			c.report(TitleUnfindable, p.title.at, fmt.Sprintf("the title %q has no letter and no digit: no query can mean it", p.title.text))
		default:
			byTitle[title] = append(byTitle[title], i)
		}
	}
	for _, same := range byTitle {
		if len(same) < 2 {
			continue
		}
		var related []Related
		paths := []string{c.pages[same[0]].path}
		for _, i := range same[1:] {
			related = append(related, Related{c.pages[i].title.at, "has the same title"})
			paths = append(paths, c.pages[i].path)
		}
		first := c.pages[same[0]]
		f := c.report(DuplicateTitle, first.title.at, fmt.Sprintf("%d documents have the title %q", len(same), cut(first.title.text)), related...)
		if oneText(paths) {
			f.Severity, f.Fix = Note, "They look like language versions of one text: nothing to do, or name the language in the titles."
		}
	}
}

// carrier is a document that has a name.
type carrier struct {
	page int
	name name
}

// index knows who carries which name.
type index struct {
	byName map[string][]carrier // folded name → its documents, one entry a document, in the order of pages
	spelt  []string             // one spelling of each name, in the order of first appearance
	keys   []string             // the same, folded
}

func (c *check) index() *index {
	x := &index{byName: map[string][]carrier{}}
	add := func(page int, n name) {
		key := document.FoldName(n.text)
		if !hasWord(key) {
			return
		}
		list := x.byName[key]
		if len(list) == 0 {
			x.spelt, x.keys = append(x.spelt, n.text), append(x.keys, key)
		}
		if len(list) == 0 || list[len(list)-1].page != page {
			x.byName[key] = append(list, carrier{page, n})
		}
	}
	for i, p := range c.pages {
		if len(p.names) == 0 {
			continue // not an exact match by any name (SPEC 1.3)
		}
		for _, n := range p.names {
			add(i, n)
		}
		add(i, p.title)
	}
	return x
}

// names looks for names that keep others from being a unique match.
func (c *check) names() {
	x := c.index()
	for _, key := range x.keys {
		c.shared(x.byName[key])
	}
	c.contained(x)
}

// shared reports a name that several documents carry. Titles alone are titles' business.
func (c *check) shared(carriers []carrier) {
	listed := slices.IndexFunc(carriers, func(k carrier) bool { return k.name.kind != "title" })
	if len(carriers) < 2 || listed < 0 {
		return
	}
	at := carriers[listed]
	var related []Related
	paths := make([]string, 0, len(carriers))
	for i, k := range carriers {
		paths = append(paths, c.pages[k.page].path)
		if i != listed {
			related = append(related, Related{k.name.at, fmt.Sprintf("carries it as its %s", k.name.kind)})
		}
	}
	f := c.report(SharedName, at.name.at, fmt.Sprintf("%s %q is carried by %d documents: a query for it is never a unique match", at.name.kind, cut(at.name.text), len(carriers)), related...)
	switch {
	case oneText(paths):
		f.Severity, f.Fix = Note, "They look like language versions of one text: a query for the name finds either, without high confidence."
	case len(carriers) >= 5 && len(carriers)*10 >= len(c.pages):
		f.Fix = "So many documents carry it that it names none of them: take it out of all but the one it means."
	}
}

// contained reports keywords and aliases that stand inside the names of other documents, and titles that match nothing. The
// matcher has a document for each name, not for each document: a keyword that all carry costs no more than another.
func (c *check) contained(x *index) {
	if c.folder.NewMatcher == nil || len(x.keys) == 0 {
		return
	}
	matcher := c.folder.NewMatcher(x.spelt)
	inside := make([][]int, len(x.keys)) // name → the longer names it is part of
	for i, spelt := range x.spelt {
		itself := false
		for _, m := range matcher.NamesIn(spelt) {
			n, err := strconv.Atoi(m.Path)
			switch {
			case err != nil:
			case n == i:
				itself = true
			default:
				inside[n] = append(inside[n], i)
			}
		}
		if !itself {
			for _, k := range x.byName[x.keys[i]] {
				if k.name.kind == "title" {
					c.report(TitleUnfindable, k.name.at, fmt.Sprintf("a lookup of the title %q does not match this document", cut(spelt)))
				}
			}
		}
	}
	for n, longer := range inside {
		c.containedIn(x, n, longer)
	}
}

// containedIn reports one name that is part of others. What several documents carry is reported by shared already.
func (c *check) containedIn(x *index, n int, longer []int) {
	carriers := x.byName[x.keys[n]]
	if len(carriers) != 1 || carriers[0].name.kind == "title" {
		return
	}
	own := carriers[0]
	var related []Related
	var examples []string
	seen := map[int]bool{own.page: true}
	for _, i := range longer {
		other := false
		for _, k := range x.byName[x.keys[i]] {
			if !seen[k.page] {
				seen[k.page], other = true, true
				related = append(related, Related{k.name.at, fmt.Sprintf("has the %s %q", k.name.kind, cut(k.name.text))})
			}
		}
		if other && len(examples) < 3 {
			examples = append(examples, x.spelt[i])
		}
	}
	if len(related) == 0 {
		return
	}
	paths := []string{c.pages[own.page].path}
	for _, r := range related {
		paths = append(paths, r.Path)
	}
	if oneText(paths) {
		return
	}
	what := "another document"
	if len(related) > 1 {
		what = fmt.Sprintf("%d other documents", len(related))
	}
	c.report(ContainedName, own.name.at, fmt.Sprintf("%s %q is part of names of %s (%s): queries for those match this one as well",
		own.name.kind, cut(own.name.text), what, quoted(examples)), related...)
}

// languages are path segments and file name suffixes that set language versions of one text apart.
var languages = map[string]bool{
	"zh": true, "zh-cn": true, "zh_cn": true, "zh-hans": true, "zh-tw": true, "zh_tw": true, "zh-hant": true, "cn": true,
	"en": true, "en-us": true, "en_us": true, "ja": true, "ko": true, "de": true, "fr": true, "es": true, "pt": true, "ru": true,
}

// oneText reports whether the paths differ in a language alone: docs/zh/a.md and docs/en/a.md, a.md and a.zh.md.
func oneText(paths []string) bool {
	first := withoutLanguage(paths[0])
	return !slices.ContainsFunc(paths[1:], func(p string) bool { return withoutLanguage(p) != first })
}

func withoutLanguage(path string) string {
	segments := strings.Split(strings.ToLower(path), "/")
	file := strings.Split(segments[len(segments)-1], ".")
	if n := len(file); n > 2 && languages[file[n-2]] {
		file = slices.Delete(file, n-2, n-1)
	}
	segments[len(segments)-1] = strings.Join(file, ".")
	return strings.Join(slices.DeleteFunc(segments, func(s string) bool { return languages[s] }), "/")
}
