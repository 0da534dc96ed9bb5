package document

import (
	"strings"
	"testing"
)

// SPEC 1.3: a block one step off is body, and its author is told; what only looks alike is left alone.
func TestNearMiss_1_3(t *testing.T) {
	const block = "title: A\nkeywords: [a]\nsummary: s\n"
	for text, want := range map[string]struct {
		line int
		part string
	}{
		"\n---\n" + block + "---\n# A\n":                                {2, "very first line"},
		" \n\n---\n" + block + "---\n# A\n":                             {3, "very first line"},
		"----\n" + block + "----\n# A\n":                                {1, "exactly three dashes, this one has 4"},
		"-----\n" + block + "---\n# A\n":                                {1, "this one has 5"},
		"--\n" + block + "---\n# A\n":                                   {1, "this one has 2"},
		block + "---\n# A\n":                                            {1, "missing above"},
		"\n" + block + "---\n# A\n":                                     {2, "missing above"},
		"title: A\ntags:\n- x\n- y\n---\ntext\n":                        {1, "missing above"},
		"\n---\ntitle: A\n\nkeywords: [b]\n---\nx\n":                    {2, "very first line"},
		" ---\n" + block + "---\n# A\n":                                 {1, "nothing may stand before the three dashes: remove what does (U+0020)"},
		"  ---\n  title: A\n  ---\n":                                    {1, "U+0020"},
		"\u200b---\n" + block + "---\n# A\n":                            {1, "U+200B"},
		"\u3000---\n" + block + "---\n# A\n":                            {1, "U+3000"},
		"--- # note\n" + block + "---\n# A\n":                           {1, `remove "# note" behind them`},
		"---yaml\n" + block + "---\n# A\n":                              {1, `remove "yaml" behind them`},
		"--- YAML \n" + block + "---\n# A\n":                            {1, `remove "YAML" behind them`},
		"---json\n{\"title\":\"T\",\n\n\"keywords\":[\"k\"]}\n---\nx\n": {1, `remove "json" behind them`},
		"---toml\ntitle = 'T'\n[x]\ny = 1\n---\nx\n":                    {1, "(+++)"},
		"－－－\n" + block + "－－－\n# A\n":                                  {1, "this one has －－－"},
		"———\n" + block + "———\n# A\n":                                  {1, "this one has ———"},
		"——\n" + block + "——\n# A\n":                                    {1, "this one has ——"},
		"—\ntitle：A\nkeywords：[a]\n—\n# A\n":                            {1, "this one has —"},
		"───\n" + block + "---\n# A\n":                                  {1, "this one has ───"},
		"<!-- licence -->\n---\n" + block + "---\n# A\n":                {2, "very first line"},
		"<!--\nlicence\n-->\n\n<!-- x -->\n---\n" + block + "---\n":     {6, "very first line"},
		"<!-- licence -->\n" + block + "---\n# A\n":                     {2, "missing above"},
	} {
		d, err := Parse("a.md", []byte(text), Options{Fallback: true})
		if err != nil || d.HasFrontmatter || d.InL0 || d.Body != text {
			t.Errorf("%q: %+v, %v", text, d, err)
			continue
		}
		if len(d.Warnings) != 1 || d.Warnings[0].Line != want.line || !strings.Contains(d.Warnings[0].Message, want.part) {
			t.Errorf("%q: warnings %v", text, d.Warnings)
		}
	}
	for _, text := range []string{
		"", "\n", "\n\n", "---", "----", "----\n", "# A\n\ntext\n", "\n# A\n\n---\n\ntext\n", "----\n\nprose\n\n----\n",
		"Note: read this\n---\ntext\n", "Note: read this\n\ntitle: x\n\n---\ntext\n", "\n---\nNote: x\n---\n",
		"title: a sentence\nthat goes on\n---\n", "title: A\n\ntext\n", "- a\n- b\n---\n", "author: me\ndate: 2020\n---\ntext\n",
		"<!-- x -->\n---\n\nprose\n\n---\n", "<!-- title: x\n---\n", "<!-- x --> text\n---\n" + block + "---\n", " ---\nprose\n---\n",
		"    ---\n    title: A\n    ---\n", "\t---\n\ttitle: A\n\t---\n", "———\n\n一段话。\n\n———\n", "——\n注意: x\n——\n", "-\ntitle: A\n---\n",
		"--- # note\nNote: x\n---\n", "---js\n" + block + "---\n", "---json\n{\"a\": 1}\n---\n", "---toml\nx = 1\n---\n", "--- title: A ---\n",
		" ---\n" + block, "- - -\n" + block + "- - -\n", "——作者\n\ntitle: A\n---\n",
		"\n----\nFrom: a\nTo: b\n----\n", "title: A\n" + strings.Repeat("x: y\n", nearMissBytes),
	} {
		d, err := Parse("a.md", []byte(text), Options{Fallback: true})
		if err != nil || len(d.Warnings) != 0 {
			t.Errorf("%.80q: %v, %v", text, d.Warnings, err)
		}
	}
}
