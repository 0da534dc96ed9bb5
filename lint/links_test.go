package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"knowledged/document"
)

func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string // line:column target
	}{
		"inline":             {"See [a](b.md) and [c]( d.md \"title\").", []string{"1:9 b.md", "1:24 d.md"}},
		"picture":            {"![alt](img/x.png)", []string{"1:8 img/x.png"}},
		"angle brackets":     {"[a](<b c.md>)", []string{"1:5 b c.md"}},
		"parentheses":        {"[a](b_(c).md)", []string{"1:5 b_(c).md"}},
		"anchor":             {"[a](#there) [b](x.md#here) [c](#)", []string{"1:5 #there", "1:17 x.md#here"}},
		"reference":          {"[a][1]\n\n[1]: b.md \"title\"\n", []string{"3:6 b.md"}},
		"footnote":           {"Text[^1]\n\n[^1]: see.md\n", nil},
		"addresses":          {"[a](https://x.example/y) [b](mailto:x@y) [c](//host/x) [d](/from/root) [e](tel:1)", nil},
		"what is filled in":  {"[a]({{< ref \"x\" >}}) [b](${url}) [c](@site/x.md)", nil},
		"code span":          {"`[a](b.md)` and ``x ` [c](d.md)`` [e](f.md)", []string{"1:39 f.md"}},
		"unclosed code span": {"` [a](b.md)", []string{"1:7 b.md"}},
		"code":               {"```\n[a](b.md)\n```\n\n    [c](d.md)\n", nil},
		"comment":            {"<!-- [a](b.md) -->\n", nil},
		"table and heading":  {"## See [a](b.md)\n\n| x |\n| - |\n| [c](d.md) |\n", []string{"1:12 b.md", "5:7 d.md"}},
		"list":               {"- one\n- [a](b.md)\n", []string{"2:7 b.md"}},
		"columns are chars":  {"见《[支付](pay.md)》", []string{"1:8 pay.md"}},
		"no link":            {"array[i](x y z", []string{"1:10 x"}},
		"not closed":         {"[a](b.md", nil},
		"escaped":            {`[a\](b.md)`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := document.Parse("a.md", []byte(c.body), document.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range linksOf(doc) {
				got = append(got, fmt.Sprintf("%d:%d %s", l.at.Line, l.at.Column, l.target))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeadLinks(t *testing.T) {
	f := read(t, map[string]string{
		"api/a.md": good("A thing", "aaa", strings.Join([]string{
			"[ok](b.md) [ok](./b.md#two-words) [ok](b) [ok](../domain/) [ok](../domain/c.markdown?x=1)",
			"[ok](../img/x.png) [ok](../../elsewhere.md) [ok](%62.md) [ok](b.md#自动-关单) [ok](b.md#again-1) [ok](b.md#given) [ok](b.md#html)",
			"[ok](#two) [ok](#top) [ok](.) [ok](..)",
			"[dead](gone.md) [dead](c.markdown) [dead](../img/y.png)",
			"[dead](b.md#three) [dead](#none)",
			"",
			"## Two",
		}, "\n")),
		"api/b.md":           good("B thing", "bbb", "## Two words\n\n## 自动 关单？\n\n## Again\n\n## Again\n\n## Long {#given}\n\n<a id=\"html\"></a>\n"),
		"domain/index.md":    good("C thing", "ccc", "Text"),
		"domain/c.markdown":  good("D thing", "ddd", "Text"),
		"domain/deep/e e.md": good("E thing", "eee", "[ok](../../api/a.md) [ok](<e e.md>) [ok](e%20e.md)"),
	}, true)
	f.Exists = func(path string) bool { return path == "img/x.png" || path == "api" }
	r := Check(f)
	want := []string{
		"api/a.md:9:8 warning dead-link", "api/a.md:9:24 warning dead-link", "api/a.md:9:43 warning dead-link",
		"api/a.md:10:8 warning dead-anchor", "api/a.md:10:27 warning dead-anchor",
	}
	if diff := cmp.Diff(want, lines(r)); diff != "" {
		t.Fatal(diff)
	}
	if fix := r.Findings[1].Fix; fix != "Correct the path; ../domain/c.markdown has the same name." {
		t.Errorf("fix is %q", fix)
	}
	if m := r.Findings[4].Message; !strings.Contains(m, "this document has no heading #none") {
		t.Errorf("message is %q", m)
	}
}

func TestRelative(t *testing.T) {
	for _, c := range [][3]string{
		{"a.md", "b.md", "b.md"},
		{"x/a.md", "x/b.md", "b.md"},
		{"x/a.md", "b.md", "../b.md"},
		{"a.md", "x/b.md", "x/b.md"},
		{"x/y/a.md", "x/z/b.md", "../z/b.md"},
		{"x/a.md", "x/y/b.md", "y/b.md"},
	} {
		if got := relative(c[0], c[1]); got != c[2] {
			t.Errorf("relative(%s, %s) = %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// Hostile texts take time that grows with their length, not with its square.
func TestLinksOfHostileTextsEnd(t *testing.T) {
	for name, body := range map[string]string{
		"brackets":  strings.Repeat("[", 60_000) + strings.Repeat("](", 20_000),
		"backticks": strings.Repeat("`` ` ``` ", 12_000) + "](a.md)",
		"runs": func() string {
			var b strings.Builder
			for n := range 400 {
				b.WriteString(strings.Repeat("`", n+1) + " ")
			}
			return b.String() + "](a.md)"
		}(),
		"links":      strings.Repeat("[a](b.md) ", 12_000),
		"one target": "[a](" + strings.Repeat("(", 100_000),
	} {
		start := time.Now()
		doc, err := document.Parse("a.md", []byte(body), document.Options{})
		if err != nil {
			t.Fatal(err)
		}
		parsed := time.Since(start)
		if links := linksOf(doc); len(links) > maxLinks {
			t.Errorf("%s: %d links", name, len(links))
		}
		if took := time.Since(start) - parsed; took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}
