package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// beginsJSON keeps apart JSON front matter and the braces of templates ({{< toc >}}, {% raw %}).
func beginsJSON(text string) bool {
	rest, ok := strings.CutPrefix(text, "{")
	if !ok {
		return false
	}
	first := strings.TrimLeft(rest, " \t\n")
	return strings.HasPrefix(first, `"`) || strings.HasPrefix(first, "}")
}

// readJSON reads an object at the top of text. What stands behind it in its last line must be blank, else it is prose.
func readJSON(text string) frontMatter {
	decoder := json.NewDecoder(strings.NewReader(text[:min(len(text), maxFrontMatter)]))
	decoder.UseNumber() // numbers as typed
	r := jsonReader{decoder: decoder, text: text}
	doc, err := r.value(0)
	at := int(decoder.InputOffset())
	if err != nil {
		switch {
		case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\n,:")) // from what was read to what wasn't
			return malformed("", lineAt(text, at), "not valid JSON: "+strings.TrimPrefix(err.Error(), "json: "))
		case len(text) > maxFrontMatter:
			return malformed("", 1, tooLarge)
		}
		return malformed("", 1, "not closed: the } of the first { is missing")
	}
	end := nextLine(text, at)
	if strings.TrimSpace(text[at:end]) != "" {
		return frontMatter{}
	}
	return frontMatter{head: text[:end], fields: doc}
}

// jsonReader builds the same tree as YAML has, with the author's order and lines.
type jsonReader struct {
	decoder *json.Decoder
	text    string
	line    int // of offset seen; lines are counted forward once
	seen    int
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	return r.node(token, depth)
}

func (r *jsonReader) node(token json.Token, depth int) (*yaml.Node, error) {
	at := int(r.decoder.InputOffset())
	r.line += strings.Count(r.text[r.seen:at], "\n")
	r.seen = at
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line + 1}
	switch t := token.(type) {
	case nil:
		n.Tag = "!!null"
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(t)
	case json.Number:
		n.Tag, n.Value = "!!float", t.String()
	case string:
		n.Tag, n.Value, n.Style = "!!str", t, yaml.DoubleQuotedStyle
	case json.Delim:
		if depth > maxDepth {
			return nil, errors.New("nested too deep")
		}
		n.Kind = yaml.SequenceNode
		if t == '{' {
			n.Kind = yaml.MappingNode
		}
		for r.decoder.More() {
			child, err := r.value(depth + 1) // keys and values alternate
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		if _, err := r.decoder.Token(); err != nil { // the closing bracket
			return nil, err
		}
	}
	return n, nil
}
