package document

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"gopkg.in/yaml.v3"
)

func readTOML(text string) frontMatter {
	head, closed := splitFenced(text, "+++")
	if !closed {
		return malformed("", 1, "not closed: a line +++ is missing below the last field")
	}
	if len(head) > maxFrontMatter {
		return malformed(head, 1, tooLarge)
	}
	block := inner(head)
	doc, err := parseTOML(block[nextLine(block, 0):])
	if err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), "toml: ")
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			line, message = syntax.Position.Line+1, syntax.Message
		}
		return malformed(head, line, "not valid TOML: "+message)
	}
	return frontMatter{head: head, fields: doc}
}

// parseTOML builds the same tree as YAML has. block is the text between the fences; lines are those of the file.
func parseTOML(block string) (root *yaml.Node, err error) {
	defer func() { // see parseYAML
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("parse TOML: %v", r)
		}
	}()
	var table map[string]any
	if _, err := toml.Decode(block, &table); err != nil { // first as it is: errors tell places in it
		return nil, err
	}
	table = nil
	meta, err := toml.Decode(typedTOML(block), &table)
	if err != nil {
		return nil, err
	}
	order := map[string]int{} // of dotted keys, as decoding forgets it
	for i, key := range meta.Keys() {
		if _, there := order[key.String()]; !there {
			order[key.String()] = i
		}
	}
	root = tomlNode(table, "", order)
	for i := 0; i < len(root.Content); i += 2 {
		key := root.Content[i]
		if key.Line = 1; textFields[key.Value] || key.Value == "sections" { // the ones that warnings are about
			key.Line = tomlLine(block, key.Value)
		}
		root.Content[i+1].Line = key.Line
	}
	return root, nil
}

// tomlNumber tells numbers from dates and times.
var tomlNumber = regexp.MustCompile(`^[-+]?[0-9._]+$`)

func tomlNode(value any, path string, order map[string]int) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle}
	switch v := value.(type) {
	case string:
		typed, bare := strings.CutPrefix(v, typedMark)
		if n.Value = typed; bare && tomlNumber.MatchString(typed) {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case []any:
		n.Kind = yaml.SequenceNode
		for _, c := range v {
			n.Content = append(n.Content, tomlNode(c, path, order))
		}
	case []map[string]any:
		n.Kind = yaml.SequenceNode
		for _, c := range v {
			n.Content = append(n.Content, tomlNode(c, path, order))
		}
	case map[string]any:
		n.Kind = yaml.MappingNode
		type field struct {
			key, path string
		}
		fields := make([]field, 0, len(v))
		for k := range v {
			full := toml.Key{k}.String()
			if path != "" {
				full = path + "." + full
			}
			fields = append(fields, field{k, full})
		}
		slices.SortFunc(fields, func(a, b field) int {
			if d := order[a.path] - order[b.path]; d != 0 {
				return d
			}
			return strings.Compare(a.key, b.key)
		})
		for _, f := range fields {
			key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: f.key}
			n.Content = append(n.Content, key, tomlNode(v[f.key], f.path, order))
		}
	}
	return n
}

// tomlLine finds the line of the file on which a top-level key or table stands; the decoder doesn't tell.
func tomlLine(block, key string) int {
	name := `["']?` + regexp.QuoteMeta(key) + `["']?`
	at := regexp.MustCompile(`(?m)^[ \t]*(?:` + name + `[ \t]*[=.]|\[+` + name + `[].])`).FindStringIndex(block)
	if at == nil {
		return 1
	}
	return lineAt(block, at[0]) + 1
}
