package document

import (
	"strings"
	"testing"
)

func TestPlainHeading_2_7(t *testing.T) {
	for source, want := range map[string]string{
		"Plain":                              "Plain",
		"  **Bold** and *it*, ~~gone~~  ":    "Bold and it, gone",
		"1. 超时类错误":                           "1. 超时类错误",
		"`ERR_TIMEOUT` & snake_case_name":    "ERR_TIMEOUT & snake_case_name",
		"``a ` b`` `<!-- c -->`":             "a ` b <!-- c -->",
		"_all_ __of__ this":                  "all of this",
		"***both*** and **a *b* c**":         "both and a b c",
		"2 * 3 * 4 and 2**10":                "2 * 3 * 4 and 2**10",
		`\*not\* \_it\_ C:\dir`:              `*not* _it_ C:\dir`,
		"[text](http://x/(y)) tail":          "text tail",
		`[text](x "title)") ![alt](a.png)`:   "text alt",
		"[![badge](b.svg)](url) Name":        "badge Name",
		"[WIP] arr[i][j] (see)":              "[WIP] arr[i][j] (see)",
		"[a](never closed":                   "[a](never closed",
		"[[redis|Redis 手册]] and [[n]]":       "Redis 手册 and n",
		"AT&amp;T &lt;b&gt; R&D; &nope;":     "AT&T <b> R&D; &nope;",
		"<b>Bold</b> Map<String, T> <br/>x":  "Bold Map<String, T> x",
		"<https://x.y/z> <me@x.y>":           "https://x.y/z me@x.y",
		"Name <!-- note -->":                 "Name",
		"Name {#id}":                         "Name",
		"Name ## {#id .c}":                   "Name",
		"Name {/* #id */}":                   "Name",
		"Name {{ var }} {id}":                "Name {{ var }} {id}",
		"Name {% tag %}{{< figure >}}":       "Name",
		"A<br>two<BR/>three <br /> four":     "A two three four",
		"Limits[^1] and [^note] [^] a[^b c]": "Limits and [^] a[^b c]",
		"See [Redis][r] ![pic][p] [C][]":     "See Redis pic C",
		"arr[i][j] [a][b][c] [1.2.0] - x":    "arr[i][j] [a][b][c] [1.2.0] - x",
		"C#":                                 "C#",
		"C # #":                              "C",
		"###":                                "",
		"\u200bEdge\ufeff":                   "Edge",
		"two\nlines":                         "two lines",
		"![](only.png)":                      "",
	} {
		if got := PlainHeading(source); got != want {
			t.Errorf("PlainHeading(%q) = %q, want %q", source, got, want)
		}
	}
}

func TestVisible_3_1(t *testing.T) {
	long := strings.Repeat("QUJD", 50)
	for _, tt := range []struct {
		name         string
		kind         BlockKind
		source, want string
	}{
		{"comment", BlockText, "a <!-- b\nc --> d", "a  d"},
		{"comment on its own line", BlockText, "a\n<!-- b -->\nc\n", "a\nc\n"},
		{"short comments", BlockText, "a<!-->b<!--->c", "abc"},
		{"comment not closed", BlockText, "a <!-- b", "a <!-- b"},
		{"comment escaped", BlockText, `a \<!-- b --> c`, `a \<!-- b --> c`},
		{"comment in a code span", BlockText, "``<!-- ` a -->`` <!-- b --> c", "``<!-- ` a -->``  c"},
		{"escaped backtick opens nothing", BlockText, "\\`<!-- a -->`", "\\``"},
		{"comment in code", BlockFence, "<!-- a -->", "<!-- a -->"},
		{"comment in HTML", BlockHTML, "<p>`<!-- a -->`</p>", "<p>``</p>"},
		{"wikilinks", BlockText, "[[a|b]] ![[p.png|300]] [[c#d]]", "b p.png c#d"},
		{"wikilink in a table", BlockTable, `| x | [[n1\|Node one]] |`, "| x | Node one |"},
		{"no wikilinks", BlockText, "[[ -f x ]] [[1]](u) [[[a]]] [[]] `[[a|b]]` [[a\nb]]", "[[ -f x ]] [[1]](u) [[[a]]] [[]] `[[a|b]]` [[a\nb]]"},
		{"picture", BlockText, "x ![alt](data:image/png;base64," + long + ") y", "x ![alt]() y"},
		{"picture with a title", BlockText, "![alt](<data:image/png;base64," + long + "> \"t\")", "![alt](<> \"t\")"},
		{"attribute", BlockHTML, `<img src="data:image/svg+xml;utf8,<svg a='b'>" alt="x">`, `<img src="" alt="x">`},
		{"definition", BlockText, "[p]: data:image/png;base64," + long, "[p]: "},
		{"scheme in capitals", BlockText, "![a](DATA:image/png;base64," + long + ") Data:x", "![a]() Data:x"},
		{"in code", BlockFence, "url(data:image/png;base64," + long + ")", "url(data:image/png;base64,…)"},
		{"short in code", BlockFence, `"data:text/plain,abc"`, `"data:text/plain,abc"`},
		{"bare", BlockText, "data:image/png;base64," + long + " end", "data:image/png;base64,… end"},
		{"no data URI", BlockText, "metadata:image/png,x data: a, b data:;base65,x", "metadata:image/png,x data: a, b data:;base65,x"},
	} {
		if got := Visible(tt.kind, tt.source); got != tt.want {
			t.Errorf("%s: Visible(%q) = %q, want %q", tt.name, tt.source, got, tt.want)
		}
	}
}
