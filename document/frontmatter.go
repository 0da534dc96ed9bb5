package document

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxFrontMatter is in bytes. Parsing has to stay short whatever a file begins with; real front matter has a few hundred.
const maxFrontMatter = 256 << 10

var tooLarge = fmt.Sprintf("larger than %d KiB", maxFrontMatter>>10)

// frontMatter is the outcome of looking at the top of a text. text = head + the rest, always.
type frontMatter struct {
	head     string     // the block with its fences; "" if the text has none
	noise    int        // where in a head that was not read the lines begin which are no Markdown
	fields   *yaml.Node // the mapping, whatever the notation; nil if there is none or it is malformed
	problems []Warning  // why the block cannot be read, or what got lost in it
}

// readFrontMatter splits the block off the top of text and reads it. A text that merely begins with a rule has none.
func readFrontMatter(text string, fallback bool) frontMatter {
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case isFence(first, "---"):
		return readYAML(text)
	case fallback && isFence(first, "+++"):
		return readTOML(text)
	case fallback && beginsJSON(text):
		return readJSON(text)
	}
	if line, message, ok := nearMiss(text); ok {
		return malformed("", line, message)
	}
	return frontMatter{}
}

func malformed(head string, line int, message string) frontMatter {
	return frontMatter{head: head, problems: []Warning{{Line: line, Message: "front matter: " + message}}}
}

// isFence allows what authors cannot see after the dashes. Nothing may stand before them: an indented --- belongs to a value.
func isFence(line, fence string) bool {
	rest, ok := strings.CutPrefix(line, fence)
	return ok && trimInvisible(rest) == ""
}

// splitFenced cuts text after the line that closes the block which begins on its first line. As in YAML itself, dashes at the
// start of a line always close: inside a block scalar or a folded quote they would be indented.
func splitFenced(text string, closing ...string) (head string, ok bool) {
	for start := nextLine(text, 0); start < len(text); {
		end := nextLine(text, start)
		for _, fence := range closing {
			if isFence(strings.TrimSuffix(text[start:end], "\n"), fence) {
				return text[:end], true
			}
		}
		start = end
	}
	return "", false
}

// inner is a fenced block without the line that closes it. The opening line stays, so that lines count as in the file.
func inner(head string) string {
	return head[:strings.LastIndexByte(strings.TrimSuffix(head, "\n"), '\n')+1]
}

func readYAML(text string) frontMatter {
	head, closed := splitFenced(text, "---", "...")
	if !closed {
		if !firstParagraphHasFields(text) {
			return frontMatter{} // a rule above prose
		}
		return malformed("", 1, "not closed: a line --- is missing below the last field")
	}
	if len(head) > maxFrontMatter {
		return malformed(head, 1, tooLarge)
	}
	block := inner(head)
	block = "---" + block[strings.IndexByte(block, '\n'):] // YAML would take what is invisible behind the dashes for text
	doc, err := parseYAML(block)
	if err == nil && doc.Kind == yaml.MappingNode {
		if line, message, ok := placeholder(doc); ok {
			return malformed(head, line, message)
		}
		return frontMatter{head: head, fields: doc}
	}
	if closedByRule(block) {
		return malformed("", 1, "not closed: a line --- is missing below the last field (the next one is a rule in the text)")
	}
	if err != nil {
		line, message := diagnose(block, err)
		return malformed(head, line, message)
	}
	if line, message, ok := misspelt(block); ok {
		return malformed(head, line, message)
	}
	what := "text"
	if doc.Kind == yaml.SequenceNode {
		what = "a list"
	}
	fm := malformed(head, 1, "lines of the form `name: value` are wanted between the two ---, this is "+what+"; read as part of the document")
	fm.noise = len(inner(head)) // a rule, prose and a rule: that one underlines no heading
	return fm
}

// placeholder finds a required field that still holds a template's {{…}}, which YAML happens to read as a mapping.
func placeholder(root *yaml.Node) (line int, message string, ok bool) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if v.Kind == yaml.MappingNode && len(v.Content) > 0 && v.Content[0].Kind == yaml.MappingNode &&
			(k.Value == "title" || k.Value == "keywords" || k.Value == "summary") {
			return k.Line, k.Value + " holds a template's {{…}} that was not filled in; a text that begins with { needs quotes", true
		}
	}
	return 0, "", false
}

// firstParagraphHasFields says whether the lines below an opening fence, up to the first blank line, hold one that looks like
// a field.
func firstParagraphHasFields(text string) bool {
	for start := nextLine(text, 0); start < len(text); {
		end := nextLine(text, start)
		line := strings.TrimSpace(text[start:end])
		if line == "" {
			return false
		}
		if looksLikeField(line) {
			return true
		}
		start = end
	}
	return false
}

// closedByRule says whether a block that cannot be read is really unclosed front matter, prose, and then a rule: above its
// first blank line it reads well, and what follows doesn't look like fields.
func closedByRule(block string) bool {
	at := strings.Index(block, "\n\n")
	if at < 0 {
		return false
	}
	doc, err := parseYAML(block[:at+1])
	if err != nil || doc.Kind != yaml.MappingNode || len(doc.Content) == 0 {
		return false
	}
	for line := range strings.Lines(block[at:]) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		return !looksLikeField(line) && line[0] != ' ' && line[0] != '\t' && line[0] != '-'
	}
	return false
}
