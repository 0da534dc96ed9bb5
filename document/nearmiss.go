package document

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// nearMissBytes bounds where the block of a near miss is looked for; most documents without front matter are prose.
const nearMissBytes = 8 << 10

// nearMiss finds a block at the top that is front matter but for a step: something above it, no opening line, or one that
// isn't just three dashes. It is body all the same (SPEC 1.3), but hardly what its author meant. Rules, headings and notes at
// the top of prose are none: the block must be a mapping that holds a field of ours, and it must be closed.
func nearMiss(text string) (line int, message string, ok bool) {
	top := text[:min(len(text), nearMissBytes)]
	start := skipAbove(top)
	line = lineAt(top, start)
	first, rest, _ := strings.Cut(top[start:], "\n")
	open, isOpening := readOpening(first)
	switch {
	case isOpening && holdsOurField(rest, open):
		return line, open.fault(), true
	case !isOpening && looksLikeField(first) && holdsOurField(top[start:], opening{}):
		return line, "a line --- is missing above this first field", true
	}
	return 0, "", false
}

// skipAbove is where the first line begins that is neither empty nor an HTML comment, such as a licence.
func skipAbove(top string) int {
	at := 0
	for at < len(top) {
		end := nextLine(top, at)
		line := trimInvisible(top[at:end])
		if strings.HasPrefix(line, "<!--") {
			n := strings.Index(top[at:], "-->")
			if n < 0 {
				return at
			}
			end = nextLine(top, at+n)
			line = trimInvisible(top[at+n+len("-->") : end])
		}
		if line != "" || !strings.HasSuffix(top[:end], "\n") {
			return at
		}
		at = end
	}
	return at
}

// opening is a line that may have been meant to open front matter.
type opening struct {
	lead   string // what stands before the dashes
	dashes string // as typed
	behind string // the name of a notation or a comment
}

// readOpening reads a line of two dashes or more. Chinese input methods and word processors make longer ones of them, and
// fewer.
func readOpening(line string) (o opening, ok bool) {
	rest := strings.TrimLeftFunc(line, func(r rune) bool { return trimInvisible(string(r)) == "" })
	o.lead = line[:len(line)-len(rest)]
	o.behind = strings.TrimLeftFunc(rest, isDash)
	o.dashes = rest[:len(rest)-len(o.behind)]
	gap := o.behind
	o.behind = trimInvisible(o.behind)
	switch {
	case o.dashes == "" || o.dashes == "-", strings.ContainsRune(o.lead, '\t'), strings.Count(o.lead, " ") > 3: // code
		return o, false
	case o.behind == "", o.notation() != "":
		return o, true
	}
	return o, strings.HasPrefix(o.behind, "#") && o.behind != gap
}

func isDash(r rune) bool { return r == '-' || strings.ContainsRune("－—–―─━", r) }

func (o opening) notation() string {
	switch name := strings.ToLower(o.behind); name {
	case "yaml", "yml", "json", "toml":
		return name
	}
	return ""
}

// fault says what keeps the line, below which all is well, from opening front matter.
func (o opening) fault() string {
	n := utf8.RuneCountInString(o.dashes)
	switch {
	case strings.Trim(o.dashes, "-") != "":
		return fmt.Sprintf("it begins with a line of three plain dashes (---), this one has %s", o.dashes)
	case n != 3:
		return fmt.Sprintf("it begins with a line of exactly three dashes, this one has %d", n)
	case o.notation() == "toml":
		return "TOML stands between lines of three plus signs (+++)"
	case o.behind != "":
		return fmt.Sprintf("it begins with a line of three dashes only: remove %q behind them", o.behind)
	case o.lead != "":
		return fmt.Sprintf("nothing may stand before the three dashes: remove what does (%U)", []rune(o.lead)[0])
	}
	return "it must begin in the very first line: remove what is above this ---"
}

// holdsOurField says whether the lines up to one of dashes are a mapping with a field that we know. Below an opening, lines
// may be empty.
func holdsOurField(text string, open opening) bool {
	for start := 0; start < len(text); {
		end := nextLine(text, start)
		line := trimInvisible(text[start:end])
		if line != "" && strings.TrimLeftFunc(line, isDash) == "" && (utf8.RuneCountInString(line) >= 3 || line == open.dashes) {
			return ourBlock(text[:start], open.notation())
		}
		if name := open.notation(); name == "json" || name == "toml" {
			start = end
			continue // told by its parser
		}
		if !looksLikeField(line) && (line == "" && open.dashes == "" || line != "" && !continues(text[start:end])) {
			return false // prose
		}
		start = end
	}
	return false
}

func ourBlock(block, notation string) bool {
	var doc *yaml.Node
	var err error
	if notation == "toml" {
		doc, err = parseTOML(block)
	} else if doc, err = parseYAML("---\n" + block); err != nil || doc.Kind != yaml.MappingNode {
		doc, err = parseYAML("---\n" + strings.ReplaceAll(block, "：", ": ")) // of the same keyboard as －－－
	}
	return err == nil && doc.Kind == yaml.MappingNode && ourField(doc)
}

func ourField(mapping *yaml.Node) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		switch mapping.Content[i].Value {
		case "title", "keywords", "tags", "summary", "aliases":
			return true
		}
	}
	return false
}
