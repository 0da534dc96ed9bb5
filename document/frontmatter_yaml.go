package document

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// errSecondDocument is a line that begins with --- but goes on: YAML starts a new document there, and all below it would be lost.
var errSecondDocument = errors.New("a second YAML document begins here")

// exotic line ends count as such for YAML but not for editors, nor for us when we count lines
var exoticLineEnds = strings.NewReplacer("\u0085", " ", "\u2028", " ", "\u2029", " ")

// parseYAML reads a block that begins with its opening fence, so that the lines of nodes are lines of the file. Nodes keep
// scalars as typed and aliases as references: nothing is expanded. An empty block is an empty mapping.
func parseYAML(block string) (root *yaml.Node, err error) {
	defer func() { // the library has panicked on hostile input before; one file must not end the daemon
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("parse YAML: %v", r)
		}
	}()
	if strings.ContainsAny(block, "\u0085\u2028\u2029") {
		block = exoticLineEnds.Replace(block)
	}
	decoder := yaml.NewDecoder(strings.NewReader(emptied(block)))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &yaml.Node{Kind: yaml.MappingNode, Line: 1}, nil
	case err != nil:
		return nil, err
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, errSecondDocument
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	root = resolve(doc.Content[0])
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		root = &yaml.Node{Kind: yaml.MappingNode, Line: 1}
	}
	return root, nil
}

// emptied is a block whose lines of nothing that can be seen are empty: YAML trips over a tab in one, and takes other blanks
// for text.
func emptied(block string) string {
	var b strings.Builder
	done := 0
	for start := 0; start < len(block); {
		end := nextLine(block, start)
		if line := strings.TrimSuffix(block[start:end], "\n"); strings.Trim(line, " ") != "" && trimInvisible(line) == "" {
			b.WriteString(block[done:start])
			done = start + len(line)
		}
		start = end
	}
	return b.String() + block[done:]
}

// resolve follows an alias to the node it stands for. Anchored nodes are never aliases themselves.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// pair is a field of a mapping.
type pair struct {
	key   string
	line  int
	value *yaml.Node
}

// topPairs lists the fields of front matter in the author's order, each once: of duplicates the last one counts, as most YAML
// readers have it. Merge keys (<<) add the fields that are not there.
func topPairs(root *yaml.Node) (pairs []pair, twice []Warning) {
	at := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if k.Tag == "!!merge" {
			continue
		}
		p := pair{keyText(k), k.Line, v}
		if first, there := at[p.key]; there {
			twice = append(twice, Warning{p.line, fmt.Sprintf("%s is there twice: line %d counts, line %d doesn't", p.key, p.line, pairs[first].line)})
			pairs[first] = p
			continue
		}
		at[p.key] = len(pairs)
		pairs = append(pairs, p)
	}
	merged := map[*yaml.Node]bool{root: true} // each once: merges may be circular or fan out
	var merge func(n *yaml.Node)
	merge = func(n *yaml.Node) {
		if n = resolve(n); merged[n] {
			return
		}
		merged[n] = true
		if n.Kind == yaml.SequenceNode {
			for _, c := range n.Content {
				merge(c)
			}
			return
		}
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if key := keyText(k); k.Tag == "!!merge" {
				merge(v)
			} else if _, there := at[key]; !there {
				at[key] = len(pairs)
				pairs = append(pairs, pair{key, k.Line, v})
			}
		}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Tag == "!!merge" {
			merge(root.Content[i+1])
		}
	}
	return pairs, twice
}

// keyText is a key as typed. Of a list or a mapping as a key the plain parts are kept; more would grow with each nesting.
func keyText(k *yaml.Node) string {
	if k.Kind == yaml.AliasNode {
		if k.Alias.Kind != yaml.ScalarNode || len(k.Alias.Value) > maxAliasKey {
			return "*" + k.Value
		}
		k = k.Alias
	}
	if k.Kind == yaml.ScalarNode {
		return k.Value
	}
	parts := make([]string, len(k.Content))
	for i, c := range k.Content {
		parts[i] = "…"
		if c.Kind == yaml.ScalarNode {
			parts[i] = c.Value
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
