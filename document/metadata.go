package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Bounds on what front matter may become as JSON: a few lines of nested aliases stand for gigabytes, and readers of JSON give
// up on deep nesting.
const (
	maxAliasBytes = 4 << 10 // text that all aliases of a document may add
	maxAliasKey   = 256     // bytes of a key that is an alias
	maxDepth      = 64
)

// textFields are read as text by us; their metadata says the same in every answer.
var textFields = map[string]bool{
	"title": true, "summary": true, "description": true, "keywords": true, "tags": true, "aliases": true, "category": true,
}

// metadata writes the fields as one JSON object, in the author's order. Warnings tell of aliases that were left as names.
func metadata(pairs []pair) (json.RawMessage, []Warning) {
	w := jsonWriter{budget: maxAliasBytes}
	w.b.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			w.b.WriteByte(',')
		}
		w.text(p.key)
		w.b.WriteByte(':')
		w.asText = textFields[p.key]
		w.value(p.value, 1)
	}
	w.b.WriteByte('}')
	if w.unexpanded == nil {
		return w.b.Bytes(), nil
	}
	return w.b.Bytes(), []Warning{{w.unexpanded.Line, fmt.Sprintf("aliases stand for more than %d KiB of text: *%s and later ones are kept as names", maxAliasBytes>>10, w.unexpanded.Value)}}
}

type jsonWriter struct {
	b          bytes.Buffer
	asText     bool       // scalars are the text the author typed
	budget     int        // bytes that aliases may still add
	unexpanded *yaml.Node // first alias that was too large
}

func (w *jsonWriter) value(n *yaml.Node, depth int) {
	if n.Kind == yaml.AliasNode {
		cost := 0
		if w.unexpanded == nil {
			cost = weight(n.Alias, w.budget)
		}
		if w.unexpanded != nil || cost > w.budget {
			if w.unexpanded == nil {
				w.unexpanded = n
			}
			w.text("*" + n.Value)
			return
		}
		w.budget -= cost
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode:
		w.scalar(n)
	case depth > maxDepth:
		w.text("…")
	case n.Kind == yaml.SequenceNode:
		w.b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.value(c, depth+1)
		}
		w.b.WriteByte(']')
	default:
		w.mapping(n, depth)
	}
}

func (w *jsonWriter) mapping(n *yaml.Node, depth int) {
	last := map[string]int{} // of duplicate keys the last one counts; JSON readers disagree, so it has each once
	keys := make([]string, len(n.Content)/2)
	for i := range keys {
		keys[i] = keyText(n.Content[2*i])
		last[keys[i]] = i
	}
	w.b.WriteByte('{')
	first := true
	for i, key := range keys {
		if last[key] != i {
			continue
		}
		if !first {
			w.b.WriteByte(',')
		}
		first = false
		w.text(key)
		w.b.WriteByte(':')
		w.value(n.Content[2*i+1], depth+1)
	}
	w.b.WriteByte('}')
}

// scalar writes JSON's own types where every reader gives the author's text back: 1.10, 007, 0x1F, dates and numbers beyond
// 2^53 stay text.
func (w *jsonWriter) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.b.WriteString("null")
		return
	case "!!bool":
		if !w.asText && (n.Value == "true" || n.Value == "false") {
			w.b.WriteString(n.Value)
			return
		}
	case "!!int", "!!float":
		if !w.asText && plainNumber(n.Value) {
			w.b.WriteString(n.Value)
			return
		}
	}
	w.text(n.Value)
}

func plainNumber(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && math.Abs(f) <= 1<<53 && strconv.FormatFloat(f, 'f', -1, 64) == s && json.Valid([]byte(s))
}

func (w *jsonWriter) text(s string) {
	enc := json.NewEncoder(&w.b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Buffer takes all
	w.b.Truncate(w.b.Len() - 1)
}

// weight is the size of the text that a node stands for, aliases expanded; it stops counting above limit, so that it ends on
// circular ones.
func weight(n *yaml.Node, limit int) int {
	n = resolve(n)
	total := 1 + len(n.Value)
	for _, c := range n.Content {
		if total > limit {
			break
		}
		total += weight(c, limit-total)
	}
	return total
}
