package document

import (
	"fmt"
	"strings"
	"testing"
)

// outline prints sections as "level:title@line own text".
func outline(sections []Section) string {
	var out []string
	for _, s := range sections {
		out = append(out, fmt.Sprintf("%d:%s@%d", s.Level, s.Title, s.Line))
	}
	return strings.Join(out, " | ")
}

var outlines = map[string]struct{ body, want string }{
	"levels":                {"# A\n\n### B\n\nbb\n\n### C\n\n## D\n", "1:A@1 | 3:B@3 | 3:C@7 | 2:D@9"},
	"setext":                {"Main Title\n==========\n\nintro\n\nSub Title\n---------\n\ntail\n", "1:Main Title@1 | 2:Sub Title@6"},
	"BOM":                   {"\ufeff# First\n\n## Second\n", "1:First@1 | 2:Second@3"},
	"comment in heading":    {"## Important <!-- TODO check -->\n", "2:Important@1"},
	"id in heading":         {"## Usage {#usage}\n\n## Use ## {#u .c}\n", "2:Usage@1 | 2:Use@3"},
	"hash in fence":         {"# A\n```sh\n# install\n## twice\n```\n## B\n", "1:A@1 | 2:B@6"},
	"tilde fence":           {"~~~\n# a\n```\n# b\n~~~\n# C\n", "1:C@6"},
	"long fence":            {"# G\n\n````md\n```sh\n# not\n```\n# still\n````\n\n## U\n", "1:G@1 | 2:U@10"},
	"unclosed fence":        {"# A\n\n```sh\n# c1\n## c2\n", "1:A@1"},
	"indented code":         {"# A\n\n    ```\n    # code\n\n## B\n", "1:A@1 | 2:B@6"},
	"comment block":         {"<!--\n# old\n\n## older\n-->\n# New\n", "1:New@6"},
	"HTML block":            {"<div>\n# no\n\n# Yes\n</div>\n", "1:Yes@4"},
	"empty headings":        {"#\n##\n## A\n### ###\n# <!-- x -->\n", "2:A@3"},
	"no space":              {"#tag\n\n####### seven\n\n# A\n", "1:A@5"},
	"glued tags":            {"import X from './x'\n# A\n{% hint %}\nnote\n{% endhint %}\n## B\n{{< figure >}}\n### C\n", "1:A@2 | 2:B@6 | 3:C@8"},
	"rule below tag":        {"{% endhint %}\n---\n\nimport X from './x'\n---\n\n[a]: /url\n---\n\n# A\n", "1:A@10"},
	"quotes and lists":      {"> # Q\n\n- # L\n\n# A\n", "1:A@5"},
	"heading after list":    {"- a\n- b\n## B\n1. x\n   ## in\n# C\n", "2:B@3 | 1:C@6"},
	"fence in list":         {"- a\n  ```sh\n  # no\n  ```\n\n# A\n", "1:A@6"},
	"Chinese":               {"# 手册\n\n## 1. 缓存：雪崩\n", "1:手册@1 | 2:1. 缓存：雪崩@3"},
	"formula":               {"# A\n\n$$\nx\n=\ny\n-\n# z\n$$\n\ntext\n$$ a\n=\nb $$\n## B\n\n\\[\nx\n=\n\\]\n\n- $$\n  x\n  =\n  $$\n\n## C\n", "1:A@1 | 2:B@15 | 2:C@27"},
	"formula not closed":    {"$$\n# A\n\n$$\n\nb $$ c\n# B\n\n$$x$$\n# C\n$$\n# D\n", "1:A@2 | 1:B@7 | 1:C@10 | 1:D@12"},
	"none":                  {"just prose\n\nmore\n", ""},
	"empty":                 {"", ""},
	"no newline at the end": {"# A", "1:A@1"},
}

func TestSections_2_7_FindsHeadings(t *testing.T) {
	for name, tt := range outlines {
		t.Run(name, func(t *testing.T) {
			if got := outline(Sections(tt.body, 1)); got != tt.want {
				t.Errorf("Sections(%q)\n got %s\nwant %s", tt.body, got, tt.want)
			}
		})
	}
}

// TestScan_3_1_AgreesWithGoldmark: on what the scanner knows of, the size of a document makes no difference.
func TestScan_3_1_AgreesWithGoldmark(t *testing.T) {
	differ := map[string]bool{"HTML block": true, "rule below tag": false}
	for name, tt := range outlines {
		if differ[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			// A long paragraph behind takes the document over goldmark's bound.
			large := tt.body + "\n\n" + strings.Repeat("filler ", maxGoldmarkBytes/7+1)
			if strings.Contains(name, "unclosed") || name == "empty" {
				large = tt.body + large[len(tt.body):]
			}
			if got := outline(Sections(large, 1)); got != tt.want {
				t.Errorf("%q\n got %s\nwant %s", tt.body, got, tt.want)
			}
		})
	}
}

func TestSections_Spans(t *testing.T) {
	body := "intro\n\n# A\na\n## B\nb\n\nC\nc\n---\n### D\n# E\n"
	line := 10
	at := func(s string) int { return strings.Index(body, s) }
	want := []Section{
		{"A", 1, line + 2, at("# A"), at("a\n#"), at("## B"), at("# E")},
		{"B", 2, line + 4, at("## B"), at("b\n"), at("C\n"), at("C\n")},
		{"C c", 2, line + 7, at("C\n"), at("### D"), at("### D"), at("# E")},
		{"D", 3, line + 10, at("### D"), at("# E"), at("# E"), at("# E")},
		{"E", 1, line + 11, at("# E"), len(body), len(body), len(body)},
	}
	got := Sections(body, line)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("section %d\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func TestSections_BoundsTitlesAndTheirNumber(t *testing.T) {
	long := Sections("# "+strings.Repeat("字", 5000)+"\n", 1)
	if len(long) != 1 || len([]rune(long[0].Title)) != maxTitle || !strings.HasSuffix(long[0].Title, "…") {
		t.Errorf("a title of %d characters at most expected: %+v", maxTitle, long)
	}
	if n := len(Sections(strings.Repeat("# a\n", maxSections+10), 1)); n != maxSections {
		t.Errorf("%d sections, want %d", n, maxSections)
	}
}

var kinds = map[BlockKind]string{
	BlockText: "text", BlockHeading: "heading", BlockFence: "fence", BlockCode: "code", BlockTable: "table", BlockHTML: "html", BlockRule: "rule",
}

// TestBlocks_3_1 lists blocks as kind:first line with the rest of the lines as "+n".
func TestBlocks_3_1(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"kinds":             {"# A\n\np1\np1\n\n```go\nx\n```\n\n    code\n\n<div>\nx\n</div>\n\n---\n", "heading:# A+0 text:p1+1 fence:```go+2 code:    code+0 html:<div>+2 rule:---+0"},
		"list":              {"- a\n- b\n\n  more\n  - c\n-\n", "text:- a+0 text:- b+0 text:  more+0 text:  - c+0 text:-+0"},
		"marker alone":      {"-\n  ```\n  x\n  ```\n", "fence:-+3"},
		"quote":             {"> a\n> b\n>\n> ~~~\n> c\n> ~~~\n", "text:> a+1 fence:> ~~~+2"},
		"table":             {"text\n| a | b |\n| - | - |\n| c | d |\n", "text:text+0 table:| a | b |+2"},
		"no table":          {"a | b\n--- | --- | ---\n\n|\n|:\n", "text:a | b+1 text:|+1"},
		"table in a quote":  {"> | a |\n> |---|\n> | b |\n", "table:> | a |+2"},
		"heading in a list": {"- # A\n\n  b\n", "text:- # A+0 text:  b+0"},
		"empty":             {"\n\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for b := range Blocks(tt.body) {
				first, _, _ := strings.Cut(tt.body[b.Start:b.End], "\n")
				got = append(got, fmt.Sprintf("%s:%s+%d", kinds[b.Kind], first, strings.Count(strings.TrimSuffix(tt.body[b.Start:b.End], "\n"), "\n")))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// FuzzBlocks proves of both readers: blocks are in order, do not overlap, are whole lines, and hold all that isn't blank.
func FuzzBlocks(f *testing.F) {
	for _, tt := range outlines {
		f.Add(tt.body)
	}
	for _, text := range hostile {
		f.Add(text(200))
	}
	f.Fuzz(func(t *testing.T, body string) {
		for name, read := range map[string]func(string, func(Block) bool){"goldmark": parsedBlocks, "scan": scannedBlocks} {
			at := 0
			read(body, func(b Block) bool {
				if gap := strings.TrimPrefix(body[at:b.Start], bom); strings.Trim(gap, " \t\n\r>\v\f") != "" {
					t.Fatalf("%s: %q is in no block of %q", name, gap, body)
				}
				ordered := at <= b.Start && b.Start <= b.Open && b.Open <= b.End && b.Start <= b.Text && b.Text <= b.End
				if !ordered || b.End > len(body) || b.Start > 0 && body[b.Start-1] != '\n' || b.End < len(body) && body[b.End-1] != '\n' {
					t.Fatalf("%s: %+v of %q", name, b, body)
				}
				Visible(b.Kind, body[b.Start:b.End])
				at = b.End
				return true
			})
			if rest := strings.TrimPrefix(body[at:], bom); strings.Trim(rest, " \t\n\r>\v\f") != "" {
				t.Fatalf("%s: %q is in no block of %q", name, rest, body)
			}
		}
		Sections(body, 1)
	})
}

func BenchmarkSections(b *testing.B) {
	body := strings.Repeat("## 缓存 `cache`\n\nText of a paragraph with **some** words.\n\n- a\n- b\n\n```go\nfunc main() {}\n```\n\n", 200)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Sections(body, 1)
	}
}
