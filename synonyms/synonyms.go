// Package synonyms reads .synonyms.yaml: which words of a folder mean the same. It is pure.
//
// The file is a list of groups, whose words stand for each other, and of words that others lead to but that do not lead to
// them:
//
//   - [k8s, kubernetes]
//   - 支付: [付款, 缴费]   # who asks for 付款 is asking for 支付 as well
//
// A mapping in place of the list holds the second kind alone.
package synonyms

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"knowledged/document"
)

// FileName is the file in the base folder.
const FileName = ".synonyms.yaml"

// Limits: beyond them is a mistake, or a thesaurus that would drown what was asked for.
const (
	MaxBytes   = 1 << 20
	maxEntries = 5000
	maxWords   = 32  // of an entry
	maxLength  = 100 // of a word, in characters
)

// Pair says that who asks for From is asking for To as well. Both are as written in the file.
type Pair struct{ From, To string }

// Problem is something in the file that does nothing, or not what it seems to.
type Problem struct {
	Line    int  // 1-based; 0 where unknown
	Lost    bool // the entry is left out; else it merely says less than it could
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Message) }

// yamlLine is how yaml.v3 words where it stopped.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// Parse reads the file. A broken entry costs that entry; whole is false if nothing could be read, and problems then says
// why. An empty file is a whole one.
func Parse(data []byte) (pairs []Pair, problems []Problem, whole bool) {
	if len(data) > MaxBytes {
		return nil, []Problem{{Lost: true, Message: fmt.Sprintf("%d bytes are more than the limit of %d", len(data), MaxBytes)}}, false
	}
	text, err := document.Decode(data)
	if err != nil {
		return nil, []Problem{{Line: 1, Lost: true, Message: err.Error()}}, false
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		m := yamlLine.FindStringSubmatch(err.Error())
		line := 1
		if m != nil && m[1] != "" {
			line, _ = strconv.Atoi(m[1])
		}
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		if m != nil {
			message = err.Error()[len(m[0]):]
		}
		return nil, []Problem{{Line: line, Lost: true, Message: message}}, false
	}
	if len(root.Content) == 0 { // nothing, or comments alone
		return nil, nil, true
	}
	r := &reader{pairs: map[Pair]int{}}
	switch top := root.Content[0]; {
	case top.Kind == yaml.SequenceNode:
		for i, n := range top.Content {
			if i == maxEntries {
				r.lost(n, "only the first %d entries are used", maxEntries)
				break
			}
			r.entry(n)
		}
	case top.Kind == yaml.MappingNode:
		r.mapping(top)
	case top.Kind == yaml.ScalarNode && top.Tag == "!!null":
	default:
		r.lost(top, "not a list of groups: write `- [k8s, kubernetes]`")
		return nil, r.problems, false
	}
	return r.list, r.problems, true
}

// reader gathers what the file says.
type reader struct {
	list     []Pair
	pairs    map[Pair]int // folded → line that says so first
	problems []Problem
}

func (r *reader) lost(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{n.Line, true, fmt.Sprintf(format, args...)})
}

func (r *reader) note(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{n.Line, false, fmt.Sprintf(format, args...)})
}

// word is a word of an entry as written and as compared.
type word struct {
	text, folded string
	node         *yaml.Node
}

func (r *reader) entry(n *yaml.Node) {
	switch n.Kind {
	case yaml.SequenceNode:
		words := r.words(n)
		if len(words) < 2 {
			if len(words) == len(n.Content) { // else that is said already
				r.note(n, "a group of one word stands for nothing else")
			}
			return
		}
		for _, from := range words {
			for _, to := range words {
				if from.folded != to.folded {
					r.add(from, to)
				}
			}
		}
	case yaml.MappingNode:
		r.mapping(n)
	default:
		r.lost(n, "not a group: write `- [k8s, kubernetes]`, or `- 支付: [付款, 缴费]` for words that lead to 支付 but not back")
	}
}

// mapping reads words that others lead to.
func (r *reader) mapping(n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		to, ok := r.word(key)
		if !ok {
			continue
		}
		if value.Kind == yaml.ScalarNode && value.Tag != "!!null" { // 支付: 付款
			value = &yaml.Node{Kind: yaml.SequenceNode, Line: value.Line, Content: []*yaml.Node{value}}
		}
		if value.Kind != yaml.SequenceNode {
			r.lost(value, "%q needs a list of words: write `%s: [付款, 缴费]`", to.text, to.text)
			continue
		}
		words := r.words(value)
		if len(value.Content) == 0 {
			r.note(value, "no word leads to %q", to.text)
		}
		for _, from := range words {
			if from.folded == to.folded {
				r.note(from.node, "%q and %q are the same to a lookup", from.text, to.text)
				continue
			}
			r.add(from, to)
		}
	}
}

// words reads a list of words; each is there once.
func (r *reader) words(n *yaml.Node) (words []word) {
	seen := map[string]string{}
	for i, item := range n.Content {
		if i == maxWords {
			r.lost(item, "only the first %d words of an entry are used", maxWords)
			break
		}
		w, ok := r.word(item)
		if !ok {
			continue
		}
		if same, twice := seen[w.folded]; twice {
			r.note(item, "%q and %q are the same to a lookup", same, w.text)
			continue
		}
		seen[w.folded] = w.text
		words = append(words, w)
	}
	return words
}

func (r *reader) word(n *yaml.Node) (word, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		r.lost(n, "a list where a word should be")
		return word{}, false
	}
	w := word{n.Value, document.Fold(n.Value), n}
	switch {
	case !strings.ContainsFunc(w.folded, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }):
		r.lost(n, "%q has no letter and no digit: no query can mean it", n.Value)
		return w, false
	case utf8.RuneCountInString(w.folded) > maxLength:
		r.lost(n, "a word of more than %d characters: nobody types it", maxLength)
		return w, false
	case utf8.RuneCountInString(w.folded) == 1:
		r.lost(n, "%q is one character: it stands in queries about anything", n.Value)
		return w, false
	}
	return w, true
}

func (r *reader) add(from, to word) {
	key := Pair{from.folded, to.folded}
	if line, twice := r.pairs[key]; twice {
		if line != from.node.Line {
			r.note(from.node, "that %q stands for %q is said in line %d already", from.text, to.text, line)
		}
		return
	}
	r.pairs[key] = from.node.Line
	r.list = append(r.list, Pair{from.text, to.text})
}
