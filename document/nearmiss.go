package document

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// nearMissBytes bounds where the block of a near miss is looked for; most documents without front matter are prose.
const nearMissBytes = 8 << 10

// nearMiss finds a block at the top that is front matter but for one step: blank lines above it, too many dashes, no
// opening line. It is body all the same (SPEC 1.3), but hardly what its author meant. Rules, headings and notes at the top
// of prose are none: the block must be a mapping that holds a field of ours.
func nearMiss(text string) (line int, message string, ok bool) {
	top := text[:min(len(text), nearMissBytes)]
	line = 1
	for trimInvisible(top[:max(0, strings.IndexByte(top, '\n'))]) == "" && strings.Contains(top, "\n") {
		top = top[nextLine(top, 0):]
		line++
	}
	first, rest, _ := strings.Cut(top, "\n")
	dashes := len(first) - len(strings.TrimLeft(first, "-"))
	opened := dashes >= 2 && trimInvisible(first[dashes:]) == ""
	switch {
	case opened && holdsOurField(rest, true):
		if dashes == 3 {
			return line, "it must begin in the very first line: remove what is above this ---", true
		}
		return line, fmt.Sprintf("it begins with a line of exactly three dashes, this one has %d", dashes), true
	case !opened && looksLikeField(first) && holdsOurField(top, false):
		return line, "a line --- is missing above this first field", true
	}
	return 0, "", false
}

// holdsOurField says whether the lines up to one of dashes are a mapping with a field that we know. With blank, lines may
// be empty.
func holdsOurField(text string, blank bool) bool {
	for start := 0; start < len(text); {
		end := nextLine(text, start)
		line := trimInvisible(strings.TrimSuffix(text[start:end], "\n"))
		if len(line) >= 3 && strings.Trim(line, "-") == "" {
			doc, err := parseYAML("---\n" + text[:start])
			return err == nil && doc.Kind == yaml.MappingNode && ourField(doc)
		}
		if !looksLikeField(line) && (line == "" && !blank || line != "" && !continues(text[start:end])) {
			return false // prose
		}
		start = end
	}
	return false
}

func ourField(mapping *yaml.Node) bool {
	for i := 0; i < len(mapping.Content); i += 2 {
		switch mapping.Content[i].Value {
		case "title", "keywords", "tags", "summary", "aliases":
			return true
		}
	}
	return false
}
