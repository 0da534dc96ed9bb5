package document

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// YAML takes some texts for marks of its own: & names a value, ! gives its type, and -a below a key is no list item. Their
// authors know of none of this. asTyped gives the values of the known fields the text back that was typed, in place, so that
// the metadata say the same, and warns of each.
func (f *fields) asTyped(root *yaml.Node) {
	used := map[*yaml.Node]bool{}
	aliased(root, used)
	for _, p := range f.pairs {
		name := p.key
		if len(name) < 64 {
			name = Fold(name)
		}
		if !textFields[name] && name != "sections" {
			continue
		}
		if name == "keywords" || name == "tags" || name == "aliases" {
			f.dashes(name, p)
		}
		f.marks(name, "an entry of "+name, p.value, used)
	}
}

// aliased gathers the nodes that aliases stand for.
func aliased(n *yaml.Node, used map[*yaml.Node]bool) {
	if n.Kind == yaml.AliasNode {
		used[n.Alias] = true
	}
	for _, c := range n.Content {
		aliased(c, used)
	}
}

// marks puts anchors that no alias uses, and types that are not YAML's own, back before a plain text. Before one in quotes
// or a block they may be meant: that stays as YAML has it.
func (f *fields) marks(name, entry string, n *yaml.Node, used map[*yaml.Node]bool) {
	for _, c := range n.Content {
		f.marks(entry, entry, c, used)
	}
	if n.Kind != yaml.ScalarNode {
		return
	}
	what, mark := "", ""
	if used[n] {
		return // what stands for it elsewhere would change along
	}
	if n.Style&yaml.TaggedStyle != 0 && strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		what, mark = "!, which gives a type", n.Tag
	}
	if n.Anchor != "" {
		what, mark = "&, which names a value", strings.TrimSpace("&"+n.Anchor+" "+mark)
	}
	if mark == "" {
		return
	}
	if n.Style&^yaml.TaggedStyle != 0 {
		f.warn(n.Line, "%s begins with %s in YAML: remove %s, or put all of it in quotes", name, what, mark)
		return
	}
	n.Value, n.Tag, n.Anchor, n.Style = strings.TrimSpace(mark+" "+n.Value), "!!str", "", 0
	f.warn(n.Line, "%s begins with %s in YAML: put it in quotes: %s", name, what, quoted(n.Value))
}

var tightItem = regexp.MustCompile(`^\s*-([^\s-].*)$`)

// dashes makes a list of lines that begin with a dash but no blank behind it, which YAML reads as one text.
func (f *fields) dashes(name string, p pair) {
	n := p.value
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Tag != "!!str" || n.Line <= p.line || n.Line > len(f.lines) {
		return
	}
	var items []*yaml.Node
	var text strings.Builder
	for at := n.Line; at <= len(f.lines) && text.Len() < len(n.Value); at++ {
		line := trimInvisible(f.lines[at-1])
		if line == "" {
			text.WriteByte('\n')
			continue
		}
		m := tightItem.FindStringSubmatch(line)
		if m == nil {
			return
		}
		if s := text.String(); s != "" && !strings.HasSuffix(s, "\n") {
			text.WriteByte(' ')
		}
		text.WriteString(line)
		items = append(items, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: m[1], Line: at})
	}
	if text.String() != n.Value {
		return // a comment or the like is in between
	}
	*n = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Content: items}
	f.warn(n.Line, "a blank is missing after the dash of an item of %s: `- %s`", name, items[0].Value)
}
