package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"knowledged/document"
	"knowledged/ipc"
	"knowledged/lint"
)

// literals are all string literals of the packages whose messages are shown on pages.
func literals(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(document.ErrNotText.Error() + ": \n") // which is wrapped
	for _, pkg := range []string{"daemon", "document", "ipc", "lint", "lookup"} {
		files, err := filepath.Glob("../" + pkg + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("no sources of %s: %v", pkg, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					b.WriteString(text + "\n")
				}
				return true
			})
		}
	}
	return b.String()
}

// A message that is worded anew where it is made must be so here: else it is English again on a Chinese page.
func TestMessagesAreThoseOfTheSources(t *testing.T) {
	said := strings.ToLower(literals(t)) // an error becomes a sentence, with a capital and a full stop
	for _, m := range messages {
		for _, part := range verb.Split(m.en, -1) {
			if !strings.Contains(said, strings.TrimSuffix(strings.ToLower(part), ".")) {
				t.Errorf("nobody says %q of %q", part, m.en)
			}
		}
		if got, want := strings.Count(m.zh, "%s"), len(verb.FindAllString(m.en, -1)); got != want || strings.Count(m.zh, "%") != want {
			t.Errorf("%q has %d verbs, %q has %d", m.en, want, m.zh, got)
		}
	}
}

// mistakes are documents with one of everything that an author can be told of.
func mistakes() []string {
	wrap := func(block string) string { return "---\n" + block + "\n---\n\nText.\n" }
	list := []string{
		"", "no front matter", "---\ntitle: A\n", "--\ntitle: A\nkeywords: [a]\n---\n", "\n\nx\n\n---\ntitle: A\nkeywords: [a]\n---\n", "title: A\nkeywords: [a]\n---\n\ntext",
		"----\ntitle: A\nkeywords: [a]\nsummary: s\n----\n\ntext", "+++\ntitle = 'A'\n", "+++\ntitle = \n+++\n", "{\n\"title\": \"A\"", "{\n\"title\" \"A\"}\n",
		"---\n- a\n- b\n---\n\ntext\n", "---\ntitle: A\nwords\n\n---\nmore\n",
	}
	for _, block := range []string{
		"title：A", "title:\u00a0A", "title:A", "title: A\n\tkeywords: x", "title: A\nkeywords: [a, b", "title: A\nkeywords: [a，b]", "title: A\nkeywords: [a,, b]", "title: \"A",
		"title: \"A\" b", "title: A: b", "title: *a", "title: @a", "title: {a", "title: [a] b", "keywords: - a", "title: A\n  keywords: b", "title: A\n  - b", "title: A\u0001", "title: A\n--- b",
		"title: {{ .Title }}", "title: !a b", "title: &a", "title: A\ntitle: B", "title: [a, b]", "title:\n  a: b", "title: A #42", "title: " + strings.Repeat("a", 3000), "title: A\nkeywords: {a: b}",
		"title: A\nkeywords: [a, \"\"]\nsummary: s", "title: A\nkeywords:\n- a\n- #b\n- #c\n- \n- \nsummary: s", "title: A\nkeywords: [a, [b], [c]]\nsummary: s", "title: A\nkeywords: [" + strings.Repeat("a", 3000) + "]",
		"title: A\nkeywords: []\nsummary: #s", "title: A\nkeywords: [\"!!\", x, api, " + strings.Repeat("long ", 20) + "]\nsummary: A\nsections: x", "title: A\nsections: {a: \"\", b: nowhere}\nkeywords: [b]\nsummary: s",
		"title: \"!?\"\nkeywords: [b]\nsummary: s\naliases: [\"!\"]", "title: a-b\nkeywords: [b]\nsummary: s",
	} {
		list = append(list, wrap(block))
	}
	return append(list, "---\ntitle: A\nkeywords: [b]\nsummary: s\n---\n", wrap("title: A\nkeywords: [b]\nsummary: s")+"[x](nowhere.md) [y](#nowhere) [z](sub/near.md)\n\n## Head\n",
		wrap("title: A\nkeywords: [b]\nsummary: s\nsections: {a: Heat}")+"## Head\n")
}

// Whoever writes a document in a Chinese browser is told in Chinese what is wrong with it and what to do.
func TestFindingsAreToldInChinese(t *testing.T) {
	rules := map[string]bool{}
	for _, text := range mistakes() {
		doc, err := document.Parse("a-b.md", []byte(text), document.Options{BaseName: "kb", Fallback: false})
		if err != nil {
			t.Fatal(err)
		}
		near, err := document.Parse("other/near.md", nil, document.Options{BaseName: "kb"})
		if err != nil {
			t.Fatal(err)
		}
		report := lint.Check(lint.Folder{Pages: []lint.Page{lint.Inspect(doc, text), lint.Inspect(near, "")}, Exists: func(string) bool { return false }})
		for _, f := range report.Of("a-b.md").Findings {
			rules[f.Rule] = true
			for _, s := range []string{f.Message, f.Fix} {
				if got := chinese.tell(s); got.Lang != "zh-CN" {
					t.Errorf("%.60q: %s: no Chinese for %q", text, f.Rule, s)
				} else if strings.Contains(got.Text, "%!") {
					t.Errorf("%q", got.Text)
				}
				if got := english.tell(s); got.Text != s || got.Lang != "en" {
					t.Errorf("%q", got)
				}
			}
		}
	}
	for _, r := range lint.Rules {
		if _, shown := catalogue["rule."+r.ID]; shown && r.ID != lint.NotText && !rules[r.ID] {
			t.Errorf("no document here breaks the rule %s", r.ID)
		}
		if _, shown := catalogue["rule."+r.ID]; shown && chinese.tell(r.Fix).Lang != "zh-CN" {
			t.Errorf("no Chinese for %q", r.Fix)
		}
	}
	for _, data := range []string{"a\x00b", "\xff\xfeabc", "a\xff\xffb"} {
		if _, err := document.Parse("a.md", []byte(data), document.Options{}); err == nil || chinese.tell(err.Error()).Lang != "zh-CN" {
			t.Errorf("%q: no Chinese for %v", data, err)
		}
	}
}

func TestTell(t *testing.T) {
	for in, want := range map[string]string{
		"front matter: an item of keywords is empty: dropped (also line 7, line 9)":               "front matter：keywords 中有一项为空：已丢弃（还有第 7 行、第 9 行）",
		"front matter: title, summary are missing or empty":                                       "front matter：缺少 title, summary，或其值为空",
		"front matter: keywords has to be a list, not a mapping":                                  "front matter：keywords 必须是列表，不能是映射",
		"front matter: full-width colon ： after title: type a plain one and a blank (`title: …`)": "front matter：title 之后是全角冒号“：”：请改用半角冒号加空格（`title: …`）",
		"front matter: not valid YAML: did not find expected key":                                 "front matter：不是有效的 YAML：did not find expected key",
		"nobody has words for this":                                                               "nobody has words for this",
	} {
		if got := chinese.tell(in); got.Text != want {
			t.Errorf("%q: %q", in, got.Text)
		}
	}
	// What nobody says is not unwrapped for ever: anybody may ask for the words of 4 KiB.
	if got := chinese.tell(strings.Repeat("front matter: ", 9) + "list"); got.Text != strings.Repeat("front matter：", deepestTold+1)+strings.Repeat("front matter: ", 8-deepestTold)+"list" {
		t.Errorf("%q", got.Text)
	}
	p := &ipc.Problem{Detail: "query is not valid UTF-8", Errors: []ipc.FieldError{{Field: "query", Message: "is not valid UTF-8"}}}
	if got := chinese.detail(p); !slices.Equal(got, []told{{"查询 不是有效的 UTF-8", "zh-CN"}}) {
		t.Errorf("%q", got)
	}
	if got := english.detail(p); !slices.Equal(got, []told{{"query is not valid UTF-8", "en"}}) {
		t.Errorf("%q", got)
	}
}
