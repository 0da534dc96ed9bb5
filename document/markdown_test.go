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
