package document

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// list reads a field that is a list of names, or one plain text with separators in it.
func (f *fields) list(name string) value {
	p, ok := f.find(name)
	if !ok {
		return value{}
	}
	v := value{state: empty, line: p.line}
	n := resolve(p.value)
	switch n.Kind {
	case yaml.ScalarNode:
		v.list = splitNames(scalar(n), name == "tags")
		comment := f.swallowed(n)
		if len(v.list) == 0 {
			v.lost = comment
		} else if tagLike(comment) {
			f.warn(n.Line, "%s ends before %q, as a # after a blank begins a comment: put the value in quotes", name, comment)
		}
	case yaml.SequenceNode:
		f.items(name, n, &v)
	default:
		if len(n.Content) > 0 {
			f.warn(p.line, "%s has to be a list, not %s", name, kindName(n))
			v.state = wrong
		}
	}
	v.list = f.bounded(name, p.line, unique(v.list))
	if len(v.list) > 0 {
		v.state = given
	}
	return v
}

// bounded keeps a list of names within reason.
func (f *fields) bounded(name string, line int, names []string) []string {
	if len(names) > maxNames {
		f.warn(line, "%s has more than %d entries: cut", name, maxNames)
		names = names[:maxNames]
	}
	anyLong := false
	for i := range names {
		short, long := cutRunes(names[i], maxName)
		names[i], anyLong = short, anyLong || long
	}
	if anyLong {
		f.warn(line, "an entry of %s is longer than %d characters: cut", name, maxName)
	}
	return names
}

// items reads the items of a list. Empty and nested ones are dropped; if nothing is left, the field counts as empty and
// is told of as missing instead.
func (f *fields) items(name string, list *yaml.Node, v *value) {
	var hollow, lost, nested []int // lines
	again := map[*yaml.Node]bool{}
	for _, item := range list.Content[:min(len(list.Content), maxItems)] {
		line := max(item.Line, v.line)
		n := resolve(item)
		if item != n {
			if again[n] {
				continue // aliases make a long text cheap to write many times
			}
			again[n] = true
		}
		if name == "tags" && n.Kind == yaml.MappingNode {
			n = docusaurusLabel(n)
		}
		if n.Kind != yaml.ScalarNode {
			nested = append(nested, line)
			continue
		}
		text, comment := oneLine(scalar(n)), f.swallowed(n)
		if list.Style&yaml.FlowStyle != 0 && (tagLike(n.HeadComment) || tagLike(n.LineComment) || tagLike(n.FootComment)) {
			lost = append(lost, line) // an item beside this one, in a list of several lines
		}
		if name == "tags" {
			text = strings.TrimPrefix(text, "#")
		}
		switch {
		case text != "":
			v.list = append(v.list, text)
			if tagLike(comment) {
				f.warn(line, "an item of %s ends before %q, as a # after a blank begins a comment: put it in quotes", name, comment)
			}
		case comment != "":
			lost = append(lost, line)
			v.lost = comment
		default:
			hollow = append(hollow, line)
		}
	}
	if len(list.Content) == 1 && len(v.list) == 1 && resolve(list.Content[0]).Style == 0 && strings.ContainsAny(v.list[0], "，、；") {
		v.list = splitNames(v.list[0], false) // [缓存，穿透]: the author's commas are full width
	}
	if len(nested) > 0 {
		f.warn(nested[0], "%s has to be a plain list: dropped what is a list or a mapping itself%s", name, alsoOn(nested))
		if len(v.list) == 0 {
			v.state = wrong
		}
	}
	if len(lost) > 0 && v.lost == "" {
		v.lost = "#"
	}
	if len(v.list) == 0 {
		return
	}
	if len(lost) > 0 {
		f.warn(lost[0], "an item of %s is empty, as # begins a comment: put it in quotes%s", name, alsoOn(lost))
	}
	if len(hollow) > 0 {
		f.warn(hollow[0], "an item of %s is empty: dropped%s", name, alsoOn(hollow))
	}
}

// alsoOn names further lines with the same slip.
func alsoOn(lines []int) string {
	lines = slices.Compact(lines)
	if len(lines) == 1 {
		return ""
	}
	const most = 5
	text := " (also"
	for i, l := range lines[1:] {
		if i == most {
			return fmt.Sprintf("%s and %d more)", text, len(lines)-1-most)
		}
		text += fmt.Sprintf(" line %d,", l)
	}
	return strings.TrimSuffix(text, ",") + ")"
}

// sections reads the names of `sections`: a mapping from name to heading, or a list of headings that are their own names.
func (f *fields) sections() []SectionName {
	p, ok := f.find("sections")
	if !ok {
		return nil
	}
	n := resolve(p.value)
	var names []SectionName
	var lost []int
	add := func(name, heading *yaml.Node) {
		name, heading = resolve(name), resolve(heading)
		label := scalar(name)
		if label == "" && name != heading {
			return
		}
		if heading.Kind != yaml.ScalarNode || scalar(heading) == "" {
			lost = append(lost, max(name.Line, p.line))
			return
		}
		level, text := splitHeading(scalar(heading))
		text = PlainHeading(text)
		if name == heading {
			label = text
		}
		if i := slices.IndexFunc(names, func(s SectionName) bool { return s.Name == label }); i >= 0 {
			names = slices.Delete(names, i, i+1) // of duplicate keys the last one counts
		}
		names = append(names, SectionName{Name: label, Heading: text, Level: level})
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content) && len(names) < maxNames; i += 2 {
			add(n.Content[i], n.Content[i+1])
		}
	case yaml.SequenceNode:
		for _, c := range n.Content[:min(len(n.Content), maxNames)] {
			if c = resolve(c); c.Kind == yaml.MappingNode {
				for i := 0; i+1 < len(c.Content) && len(names) < maxNames; i += 2 {
					add(c.Content[i], c.Content[i+1])
				}
			} else {
				add(c, c)
			}
		}
	default:
		if scalar(n) != "" {
			f.warn(p.line, "sections has to be lines of the form `name: \"## heading\"`")
		}
	}
	if len(lost) > 0 {
		f.warn(lost[0], "an entry of sections has no heading; one that begins with # needs quotes: \"## …\"%s", alsoOn(lost))
	}
	return names
}

// docusaurusLabel is the label of a tag written as {label: …, permalink: …}; any other mapping is returned as it is.
func docusaurusLabel(n *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "label" {
			return resolve(n.Content[i+1])
		}
	}
	return n
}

// splitNames reads a plain text as a list. Tags that hold none of the separators are parted at blanks, as in Jekyll and
// Obsidian, where a tag cannot hold one; keywords can.
func splitNames(text string, tags bool) []string {
	separator := func(r rune) bool { return strings.ContainsRune(",，、;；\n", r) }
	parts := strings.FieldsFunc(text, separator)
	if tags && len(parts) == 1 {
		parts = strings.Fields(text)
	}
	names := parts[:0]
	for _, p := range parts {
		if tags {
			p = strings.TrimPrefix(trimInvisible(p), "#")
		}
		if p = trimInvisible(p); p != "" {
			names = append(names, p)
		}
	}
	return names
}

func unique(names []string) []string {
	seen := make(map[string]bool, len(names))
	return slices.DeleteFunc(names, func(n string) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

func kindName(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a mapping"
}
