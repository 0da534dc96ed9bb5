package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// setting is one leaf of Config.
type setting struct {
	path  string // "lookup.fusion.rrf.k"
	value reflect.Value
	enum  []string
	file  bool // a path of a file or folder
}

// settings lists the leaves of c in the order of its fields. They write into c.
func settings(c *Config) []*setting {
	return leaves("", reflect.ValueOf(c).Elem())
}

func leaves(prefix string, section reflect.Value) (all []*setting) {
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		path := prefix + field.Tag.Get("yaml")
		if _, leaf := value.Interface().(Score); value.Kind() == reflect.Struct && !leaf {
			all = append(all, leaves(path+".", value)...)
			continue
		}
		s := &setting{path: path, value: value, file: field.Tag.Get("path") != ""}
		if enum := field.Tag.Get("enum"); enum != "" {
			s.enum = strings.Split(enum, ",")
		}
		all = append(all, s)
	}
	return all
}

func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.path, ".", "_"))
}

// setText sets the value from a flag or a variable.
func (s *setting) setText(text string) error {
	switch p := s.value.Addr().Interface().(type) {
	case *string:
		return s.setString(p, text)
	case *bool:
		return assign(p, text, parseBool)
	case *int:
		return assign(p, text, parseInt)
	case *float64:
		return assign(p, text, parseFloat)
	case *Duration:
		return assign(p, text, parseDuration)
	case *Size:
		return assign(p, text, parseSize)
	case *Score:
		return assign(p, text, parseScore)
	case *map[string]any:
		return assign(p, text, parseMap)
	}
	panic("config: setting " + s.path + " has a type that can't be read")
}

func assign[T any](to *T, text string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err == nil {
		*to = v
	}
	return err
}

func (s *setting) setString(p *string, text string) error {
	// Some YAML writers turn off into false.
	if strings.EqualFold(text, "false") && (s.path == "ipc.http" || s.path == "l1.backend") {
		text = "off"
	}
	if s.enum == nil {
		*p = text
		return nil
	}
	lower := strings.ToLower(text)
	if !slices.Contains(s.enum, lower) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(s.enum, ", "))
	}
	*p = lower
	return nil
}

// parseMap reads a mapping in YAML's flow style, of which JSON is one.
func parseMap(text string) (map[string]any, error) {
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil || m == nil {
		return nil, fmt.Errorf("%q is not a mapping such as {key: value}", text)
	}
	return m, nil
}

// setNode sets the value from a node of the file, which must be of the right kind: text in quotes is no number.
func (s *setting) setNode(n *yaml.Node) error {
	if p, ok := s.value.Addr().Interface().(*map[string]any); ok {
		if n.Kind != yaml.MappingNode {
			return fmt.Errorf("a mapping is needed, not %s", kindName(n))
		}
		m := map[string]any{}
		if err := n.Decode(&m); err != nil {
			return err
		}
		*p = m
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("%s is needed, not %s", s.kind(), kindName(n))
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch s.value.Interface().(type) {
	case bool, int, float64:
		if quoted {
			return fmt.Errorf("%s is needed, not the text %q (leave the quotes out)", s.kind(), n.Value)
		}
	case string:
		if what := notText(n); what != "" && !quoted && s.enum == nil && !slices.Contains(formed, s.path) {
			return fmt.Errorf("%s is needed, not %s (if that is meant, put it in quotes: %q)", s.kind(), what, n.Value)
		}
	}
	return s.setText(n.Value)
}

// formed are the texts whose form validate knows: it says more of a number or a true there than that it is no text, and false is
// off for some.
var formed = []string{"ipc.http", "l1.milvus.address", "embedding.openai.base_url"}

// notText names what a bare scalar is if it is a number or a truth value, by YAML or by parseBool: somebody took the setting for
// a switch or a count. Any other scalar, such as a date, is the text that was typed.
func notText(n *yaml.Node) string {
	tag := n.ShortTag()
	if tag == "!!int" || tag == "!!float" {
		return "the number " + n.Value
	}
	if _, err := parseBool(n.Value); err == nil && n.Style&yaml.TaggedStyle == 0 {
		return n.Value
	}
	return ""
}

func (s *setting) kind() string {
	switch s.value.Interface().(type) {
	case bool:
		return "true or false"
	case int:
		return "a whole number"
	case float64:
		return "a number"
	case Duration:
		return "a duration such as 30ms"
	case Size:
		return "a size such as 8MiB"
	case Score:
		return "auto or a number"
	}
	return "a text"
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", n.Value)
}
