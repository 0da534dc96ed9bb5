package document

import (
	"strings"
)

// hostile texts, by what is repeated: each has cost some Markdown parser quadratic time or memory.
var hostile = map[string]func(n int) string{
	"links":            repeat("[]("),
	"brackets":         repeat("["),
	"emphasis":         repeat("*a "),
	"underscores":      repeat("_a__b"),
	"quotes":           repeat(">"),
	"quotes spaced":    repeat("> "),
	"lists":            repeat("- "),
	"stars":            repeat("* "),
	"numbers":          repeat("1. "),
	"backticks":        backticks,
	"comments":         repeat("<!-- "),
	"tags":             repeat("<a "),
	"tag lines":        repeat("<a\n"),
	"data":             repeat("data:a/b,"),
	"data quoted":      repeat("'data:a/b,\""),
	"wikilinks":        repeat("[[a|"),
	"blank lines":      repeat("\n"),
	"headings":         repeat("# a\n"),
	"empty headings":   repeat("#\n"),
	"setext":           repeat("a\n=\n"),
	"nested list":      nested("- a\n"),
	"nested list gaps": func(n int) string { return nested("- a\n")(n/2) + strings.Repeat("\n", n/2) },
	"nested quote":     func(n int) string { return strings.Repeat(">", 1000) + "a\n" + strings.Repeat("b\n", n/2) },
	"wide table":       table,
	"paragraphs":       repeat("a\n\n"),
	"long paragraph":   repeat("a b\n"),
	"heading of links": func(n int) string { return "# " + strings.Repeat("[](", n/3) },
	"heading markers":  repeat("# *a _b ~~c `d [e](\n"),
	"fences":           repeat("```\n"),
	"formulas":         repeat("$$\n"),
	"formulas open":    repeat("$$a\n"),
	"formulas other":   repeat("\\[\n"),
	"backslashes":      repeat("\\"),
	"escaped ticks":    repeat("\\`"),
}

func repeat(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)) }
}

// nested indents each line by two more blanks.
func nested(line string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		for depth := 0; b.Len() < n; depth++ {
			b.WriteString(strings.Repeat("  ", depth) + line)
		}
		return b.String()
	}
}

// backticks has runs of all lengths, so that none has a partner.
func backticks(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("`", i) + " ")
	}
	return b.String()
}

// table has as many columns as lines: padded to its header it would be quadratic.
func table(n int) string {
	return strings.Repeat("|a", n/6) + "|\n" + strings.Repeat("|-", n/6) + "|\n" + strings.Repeat("|\n", n/6)
}
