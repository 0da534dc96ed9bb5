package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"knowledged/document"
)

func rendered(body, at string) string {
	doc, err := document.Parse("api/a.md", []byte(body), document.Options{BaseName: "kb", Fallback: true})
	if err != nil {
		return ""
	}
	return laidOut(doc.Body, rendering{path: doc.Path, sections: doc.Sections, ids: idsOf(doc.Sections), match: sectionAt(doc, at)})
}

func laidOut(body string, r rendering) string {
	out, _ := render(body, r)
	return string(out)
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ what, in, at, want string }{
		{"a link to a document", "[x](b.md)", "", `<a href="/docs/api/b.md" rel="noreferrer">x</a>`},
		{"and to one of its sections", "[x](../domain/b.md#The-Heading)", "", `href="/docs/domain/b.md#h-the-heading"`},
		{"with an odd name", "[x](<a b#1.md>)", "", "<p>x</p>"},
		{"within the document", "[x](#two)", "", `href="/docs/api/a.md#h-two"`},
		{"out", "[x](https://example.com/a?b=1)", "", `<a href="https://example.com/a?b=1" rel="noreferrer">x</a>`},
		{"out of the folder", "[x](../../etc/b.md)", "", "<p>x</p>"},
		{"to what is not served", "[x](data.csv) [y](/abs.md) [z](//host/b.md)", "", "<p>x y z</p>"},
		{"a picture of the folder", "![alt](a.png)", "", "<p>alt</p>"},
		{"a picture of others", "![alt](https://example.com/a.png)", "", `<a href="https://example.com/a.png" rel="noreferrer">alt</a>`},
		{"a task", "- [x] done", "", `<span class="task">☑</span> done`},
		{"headings alike", "## A\n\n## A", "", `<h2 id="h-a-1">A</h2>`},
		{"the section that matched", "## A\n\na\n\n### B\n\nb\n\n## C\n", "A", "<section class=\"match\" id=\"match\">\n<h2 id=\"h-a\">A</h2>\n<p>a</p>\n<h3 id=\"h-b\">B</h3>\n<p>b</p>\n</section>\n<h2 id=\"h-c\">C</h2>"},
		{"by its breadcrumb", "# T\n\n## A\n\n### X\n\n1\n\n## B\n\n### X\n\n2\n", "T > B > X", "<section class=\"match\" id=\"match\">\n<h3 id=\"h-x-1\">X</h3>\n<p>2</p>\n</section>"},
		{"HTML that authors write", "<kbd>Ctrl</kbd> <details><summary>s</summary>d</details>", "", "<kbd>Ctrl</kbd> <details><summary>s</summary>d</details>"},
	} {
		if got := rendered(c.in, c.at); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}

func TestMarksStayOutOfMarkup(t *testing.T) {
	if got := string(markHTML(`<p class="match">a &lt;match&gt; <code>match</code></p>`, "match")); got != `<p class="match">a &lt;<mark>match</mark>&gt; <code><mark>match</mark></code></p>` {
		t.Errorf("%s", got)
	}
}

// A few KB must not become megabytes, nor take seconds: whoever may save a document, or have one saved, could end the daemon.
func TestTextsThatGrowAreShownAsTheyAre(t *testing.T) {
	wide := strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("a\n", 5000)
	for what, body := range map[string]string{
		"a wide head over short rows":      wide,
		"the same in a quote":              "> " + strings.ReplaceAll(strings.TrimSpace(wide), "\n", "\n> "),
		"the same in a list":               "1. " + strings.ReplaceAll(strings.TrimSpace(wide), "\n", "\n   "),
		"cells without end":                strings.Repeat("|", 999) + "\n" + strings.Repeat("|-", 999) + "|\n" + strings.Repeat(strings.Repeat("|", 999)+"\n", 900),
		"a long address that all links to": "[a]: https://x.example/" + strings.Repeat("u", 100_000) + "\n\n" + strings.Repeat(strings.Repeat("[a] ", 900)+"\n\n", 2),
		"lists in lists":                   strings.Repeat("- ", 5000) + "a",
		"numbers in numbers":               strings.Repeat("1. ", 5000) + "a",
		"quotes of lists":                  strings.Repeat("> - ", 5000) + "a",
		"quotes of quotes":                 strings.Repeat(">", 5000) + "a",
		"nothing below many lists":         below(60, "\n"),
		"blanks below many lists":          below(60, "\t \n\n"),
		"the same within a quote":          "> " + strings.ReplaceAll(strings.TrimSuffix(below(60, "\n"), "\n"), "\n", "\n> "),
		"many lists, again and again":      strings.Repeat(below(60, ""), 250),
		"quotes at each line":              strings.Repeat(strings.Repeat("> ", 30)+"a\n", 15_000),
	} {
		if got := laidOut(body, rendering{path: "x.md", match: -1}); !strings.HasPrefix(got, "<pre>") || len(got) > 5*len(body) { // an escaped > is four bytes
			t.Errorf("%s: %d bytes become %d", what, len(body), len(got))
		}
	}
	for what, body := range map[string]string{
		"a long table":           "| a | b | c |\n| - | - | - |\n" + strings.Repeat("| 1 | -2 | 3 |\n", 9000),
		"a table with few pipes": "a | b\n- | -\n" + strings.Repeat("1 | 2\n", 9000),
		"rules":                  strings.Repeat(strings.Repeat("- ", 40)+"\n\n"+strings.Repeat("*", 80)+"\n\n", 10),
		"lists in lists":         strings.Repeat(below(5, ""), 8000),
		"numbers in numbers":     strings.Repeat("1. one\n   1. two\n\n      text\n      1. three\n", 8000),
		"blanks below a list":    below(3, "\n"),
		"lists before prose":     strings.Repeat("- a\n  - b\n    - c\n\nA paragraph.\n\n", 20_000),
		"many links":             strings.Repeat("[a](https://example.com/some/where)\n\n", 9000),
	} {
		if got := laidOut(body, rendering{path: "x.md", match: -1}); strings.HasPrefix(got, "<pre>") {
			t.Errorf("%s is not rendered", what)
		}
	}
}

// below is a list in a list in a list, and many lines that belong to the innermost.
func below(depth int, line string) string {
	var b strings.Builder
	for d := range depth {
		b.WriteString(strings.Repeat("  ", d) + "- a\n")
	}
	return b.String() + strings.Repeat(line, 100_000/max(1, len(line)))
}

// A heading finds its section without looking at all of them: 180,000 headings took ten seconds.
func TestSectionOf(t *testing.T) {
	r := rendering{sections: []document.Section{{Start: 2, Text: 6}, {Start: 10, Text: 14}, {Start: 14, Text: 18}}}
	for at, want := range map[int]int{0: -1, 2: 0, 5: 0, 6: -1, 9: -1, 10: 1, 13: 1, 14: 2, 17: 2, 18: -1, 99: -1} {
		if got := r.sectionAt(at); got != want {
			t.Errorf("at %d: %d", at, got)
		}
	}
}

func TestExcerptEndsWithABlock(t *testing.T) {
	table := "| a | b |\n| - | - |\n" + strings.Repeat("| 一 | 二 |\n", 60)
	long := strings.Repeat("字", 700) + "\n\n" + table
	if got := excerpt(long); got != strings.Repeat("字", 700)+"\n" {
		t.Errorf("%q", got)
	}
	if got := excerpt("short"); got != "short" {
		t.Errorf("%q", got)
	}
	if got := excerpt(strings.Repeat("字", 9000)); utf8.RuneCountInString(got) != 4*excerptRunes+1 {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}

// Whatever a document holds, what comes out is of the elements and attributes that the sanitiser names, and only ids of ours.
func FuzzRender(f *testing.F) {
	f.Add("# A\n\n<script>alert(1)</script> [x](javascript:alert(1))")
	f.Add("<a href='java\nscript:x' onclick=x style=x id=main>x</a><svg><script>x</script></svg>")
	f.Add("[x](<javascript:alert(1)>) ![x](data:text/html,x) <javascript:x>")
	f.Add("```\"onload=x\nx\n```\n<math><mtext><table><mglyph><style><img src=x onerror=x>")
	f.Add("## <img src=x onerror=x>\n\n| <b onmouseover=x>a |\n| - |\n")
	f.Fuzz(func(t *testing.T, body string) {
		z := html.NewTokenizer(strings.NewReader(rendered(body, "A")))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
				continue
			}
			token := z.Token()
			switch token.Data {
			case "script", "style", "iframe", "object", "embed", "svg", "math", "img", "form", "input", "base", "meta", "link":
				t.Fatalf("%q gives %s", body, token)
			}
			for _, a := range token.Attr {
				switch a.Key {
				case "href":
					if low := strings.ToLower(strings.TrimSpace(a.Val)); strings.HasPrefix(low, "javascript:") || strings.HasPrefix(low, "data:") || strings.HasPrefix(low, "vbscript:") {
						t.Fatalf("%q gives %s", body, token)
					}
				case "id":
					if a.Val != "match" && !strings.HasPrefix(a.Val, idPrefix) {
						t.Fatalf("%q gives %s", body, token)
					}
				case "class", "rel", "align", "colspan", "rowspan", "start", "tabindex":
				default:
					t.Fatalf("%q gives %s", body, token)
				}
			}
		}
	})
}
