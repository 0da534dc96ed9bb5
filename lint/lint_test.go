package lint

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"knowledged/document"
)

// substrings is a matcher that knows no word boundaries: enough for these tests, which choose their words with care.
type substrings []string

func (s substrings) NamesIn(query string) []document.Match {
	var out []document.Match
	for i, k := range s {
		if strings.Contains(document.Fold(query), document.Fold(k)) {
			out = append(out, document.Match{Path: strconv.Itoa(i)})
		}
	}
	return out
}

// read inspects files given as path → text.
func read(t testing.TB, files map[string]string, fallback bool) Folder {
	t.Helper()
	f := Folder{Exists: func(string) bool { return false }, NewMatcher: func(k []string) Matcher { return substrings(k) }}
	for path, text := range files {
		decoded, err := document.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := document.Parse(path, []byte(text), document.Options{Fallback: fallback})
		if err != nil {
			t.Fatal(err)
		}
		f.Pages = append(f.Pages, Inspect(doc, decoded))
	}
	return f
}

// lines are the findings as "path:line:column severity rule".
func lines(r Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s:%d:%d %s %s", f.Path, f.Line, f.Column, f.Severity, f.Rule))
	}
	return out
}

func good(title, keyword, body string) string {
	return "---\ntitle: " + title + "\nkeywords: [" + keyword + "]\nsummary: What it says\n---\n" + body + "\n"
}

// SPEC 1.3: what an author should mend is found with its file and line.
func TestRules_1_3_OfOneDocument(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing wrong":           {good("Refunds", "chargeback", "Text"), nil},
		"no front matter":         {"# Refunds\n\nText\n", []string{"a.md:1:0 note no-front-matter"}},
		"a tab":                   {"---\ntitle: x\nkeywords:\n\t- a\nsummary: s\n---\nText\n", []string{"a.md:4:0 error front-matter-broken"}},
		"not closed":              {"---\ntitle: x\nkeywords: [a]\n\nText\n", []string{"a.md:1:0 error front-matter-broken"}},
		"fields missing":          {"---\ntitle: Refunds\n---\nText\n", []string{"a.md:1:0 warning missing-fields"}},
		"an empty item":           {"---\ntitle: Refunds\nkeywords: [chargeback, '']\nsummary: s\n---\nText\n", []string{"a.md:3:0 warning front-matter"}},
		"one character":           {good("Refunds", "chargeback, x", "Text"), []string{"a.md:3:24 warning weak-keyword"}},
		"one Han character":       {good("Refunds", "税", "Text"), []string{"a.md:3:12 warning weak-keyword"}},
		"generic":                 {good("Refunds", "退款, 文档", "Text"), []string{"a.md:3:16 warning weak-keyword"}},
		"generic in another case": {good("Refunds", "ＦＡＱ", "Text"), []string{"a.md:3:12 warning weak-keyword"}},
		"no word":                 {good("Refunds", "chargeback, '?!'", "Text"), []string{"a.md:3:25 warning weak-keyword"}},
		"a sentence":              {good("Refunds", strings.Repeat("word ", 15), "Text"), []string{"a.md:3:12 warning weak-keyword"}},
		"a block list":            {"---\ntitle: Refunds\nkeywords:\n  - chargeback\n  - y\nsummary: s\n---\nText\n", []string{"a.md:5:5 warning weak-keyword"}},
		"tags stand in":           {"---\ntitle: Refunds\ntags: [chargeback, y]\ndescription: s\n---\nText\n", []string{"a.md:3:20 warning weak-keyword"}},
		"summary is the title":    {"---\ntitle: Refunds\nkeywords: [chargeback]\nsummary: refunds\n---\nText\n", []string{"a.md:4:10 note weak-summary"}},
		"no text":                 {good("Refunds", "chargeback", ""), []string{"a.md:0:0 warning empty-document"}},
		"no title at all":         {"Text\n", []string{"a.md:0:0 warning title-unfindable", "a.md:1:0 note no-front-matter"}},
		"a title without words":   {good("'???'", "chargeback", "Text"), []string{"a.md:2:9 warning title-unfindable"}},
		"missing section":         {"---\ntitle: Refunds\nkeywords: [chargeback]\nsummary: s\nsections:\n  How: '## How to pay'\n  Why: '## Why'\n---\n## How to pay back\n\n## Why\n", []string{"a.md:6:3 error section-missing"}},
		"sections blind to width": {"---\ntitle: Refunds\nkeywords: [chargeback]\nsummary: s\nsections:\n  How: '## ｈｏｗ'\n---\n## How\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]string{}, c.want...)
			if diff := cmp.Diff(want, lines(Check(read(t, map[string]string{"a.md": c.text}, true)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRulesOfFileNames(t *testing.T) {
	r := Check(read(t, map[string]string{
		"api/kafka-lag.md": good("kafka-lag", "one", "Text"),
		"api/refunds.md":   good("Refunds", "two", "Text"), // a word is a title
		"api/会员等级.md":      good("会员等级", "three", "Text"),
	}, true))
	if diff := cmp.Diff([]string{"api/kafka-lag.md:2:8 note weak-title"}, lines(r)); diff != "" {
		t.Error(diff)
	}
}

// SPEC 1.3: with the fallbacks off a document without all fields is not in L0 at all.
func TestMissingFields_1_3_AreAnErrorWithoutFallback(t *testing.T) {
	r := Check(read(t, map[string]string{"a.md": "---\ntitle: Refunds\n---\nText\n"}, false))
	if diff := cmp.Diff([]string{"a.md:1:0 error missing-fields"}, lines(r)); diff != "" || r.Errors != 1 {
		t.Error(diff, r.Errors)
	}
}

func TestMissingSectionOffersTheNearestHeadings(t *testing.T) {
	r := Check(read(t, map[string]string{"a.md": "---\ntitle: T\nkeywords: [kk]\nsummary: s\nsections:\n  拒付: '## 2. 拒付'\n---\n## 1. 超时类错误\n\n## 2. 拒付类错误\n"}, true))
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Fix, `the nearest are "2. 拒付类错误", "1. 超时类错误"`) {
		t.Errorf("%+v", r.Findings)
	}
}

// What is said of a file without text fits what it has: front matter or nothing.
func TestEmptyDocumentSaysWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "the file is empty: no lookup finds it",
		" \n\n":                           "the file is empty: no lookup finds it",
		good("Refunds", "chargeback", ""): "there is no text below the front matter",
		"---\ntitle: Refunds\n---\n":      "there is no text below the front matter",
	} {
		r := Check(read(t, map[string]string{"a.md": text}, true))
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == EmptyDocument && f.Message == want }) {
			t.Errorf("%q: %+v", text, r.Findings)
		}
	}
}

// SPEC 2.4: a name that several documents have is never a unique match.
func TestSharedNames_2_4(t *testing.T) {
	r := Check(read(t, map[string]string{
		"a.md": good("First", "支付, alone", "Text"),
		"b.md": good("Second", "ERR_1, 《支付》", "Text"),
		"c.md": "---\ntitle: Third\nkeywords: [third thing]\naliases: [err_1]\nsummary: s\n---\nText\n",
		"d.md": good("alone", "fourth thing", "Text"),
		"e.md": "# First\n\nNo front matter: not an exact match, but the title is there twice.\n",
	}, true))
	want := []string{
		"a.md:2:8 warning duplicate-title",
		"a.md:3:12 warning shared-name",
		"a.md:3:16 warning shared-name",
		"b.md:3:12 warning shared-name",
		"e.md:1:0 note no-front-matter",
	}
	if diff := cmp.Diff(want, lines(r)); diff != "" {
		t.Fatal(diff)
	}
	related := func(i int) []Related { return r.Findings[i].Related }
	if diff := cmp.Diff([]Related{{Location{"b.md", 3, 19}, "carries it as its keyword"}}, related(1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Related{{Location{"d.md", 2, 8}, "carries it as its title"}}, related(2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Related{{Location{"c.md", 4, 11}, "carries it as its alias"}}, related(3)); diff != "" {
		t.Error(diff)
	}
}

func TestSharedNamesNameAllDocuments(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%02d.md", i)] = good(fmt.Sprintf("Title %02d", i), "gateway", "Text")
	}
	r := Check(read(t, files, true))
	if len(r.Findings) != 1 || len(r.Findings[0].Related) != 39 || !strings.Contains(r.Findings[0].Fix, "names none of them") {
		t.Errorf("%+v", r.Findings)
	}
}

func TestLanguageVersionsAreNotes(t *testing.T) {
	for _, pair := range [][2]string{{"a.md", "a.zh.md"}, {"en/a.md", "zh/a.md"}, {"docs/a.md", "docs/zh-CN/a.md"}} {
		r := Check(read(t, map[string]string{pair[0]: good("Same", "err_1", "Text"), pair[1]: good("Same", "err_1", "Text")}, true))
		if r.Warnings != 0 || r.Notes != 2 {
			t.Errorf("%v: %+v", pair, r.Findings)
		}
	}
}

// SPEC 2.2: a query contains a name, so a short keyword matches other documents' longer names.
func TestContainedNames_2_2(t *testing.T) {
	r := Check(read(t, map[string]string{
		"a.md": good("Overview of it", "支付", "Text"),
		"b.md": good("支付网关", "gateway codes", "Text"),
		"c.md": good("Other", "支付超时", "Text"),
	}, true))
	if diff := cmp.Diff([]string{"a.md:3:12 note contained-name"}, lines(r)); diff != "" {
		t.Fatal(diff)
	}
	want := []Related{{Location{"b.md", 2, 8}, `has the title "支付网关"`}, {Location{"c.md", 3, 12}, `has the keyword "支付超时"`}}
	if diff := cmp.Diff(want, r.Findings[0].Related); diff != "" {
		t.Error(diff)
	}
}

// A title that the exact match does not know, whatever the reason, is found by asking it.
func TestTitleThatNothingMatches(t *testing.T) {
	f := read(t, map[string]string{"a.md": good("Refunds", "chargeback", "Text")}, true)
	f.NewMatcher = func([]string) Matcher { return substrings{"chargeback"} }
	r := Check(f)
	if diff := cmp.Diff([]string{"a.md:2:8 warning title-unfindable"}, lines(r)); diff != "" {
		t.Error(diff)
	}
}

func TestRejectedAndCopies(t *testing.T) {
	r := Check(Folder{
		Rejected: []Rejected{{"b.md", TooLarge, "9 bytes"}, {"a.md", NotText, "a NUL"}, {"c", NotRead, "permission denied"}},
		Copies:   []string{"a.sync-conflict-20260301-101010-AAAAAAA.md"},
	})
	want := []string{"a.md:0:0 error not-text", "a.sync-conflict-20260301-101010-AAAAAAA.md:0:0 warning conflict-copy", "b.md:0:0 error too-large", "c:0:0 warning not-read"}
	if diff := cmp.Diff(want, lines(r)); diff != "" || r.Documents != 3 || r.Errors != 2 || r.Warnings != 2 {
		t.Error(diff, r)
	}
}

func TestReportIsDeterministic(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("%02d.md", i)] = good(fmt.Sprintf("Title %d", i%7), fmt.Sprintf("word%d, x", i%5), "[a](gone.md) [b](#none)")
	}
	first := Check(read(t, files, true))
	for range 5 {
		if diff := cmp.Diff(first, Check(read(t, files, true))); diff != "" {
			t.Fatal(diff)
		}
	}
}

// docs/lint.md and its translation describe each rule under its id, with its severity.
func TestRulesAreDocumented(t *testing.T) {
	for _, file := range []string{"../docs/lint.md", "../docs/lint.zh-CN.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Rules {
			if !regexp.MustCompile("(?m)^\\| `" + r.ID + "` \\| " + string(r.Severity)).Match(data) {
				t.Errorf("%s does not describe %s (%s)", file, r.ID, r.Severity)
			}
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:error|warning|note)").FindAllStringSubmatch(string(data), -1) {
			if !slices.ContainsFunc(Rules, func(r Rule) bool { return r.ID == m[1] }) {
				t.Errorf("%s describes %s, which does not exist", file, m[1])
			}
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	f := Folder{NewMatcher: func(k []string) Matcher { return substrings(nil) }}
	for i := range 10_000 {
		text := good(fmt.Sprintf("Title %d", i), fmt.Sprintf("word%d, shared%d", i, i%100), "## One\n\n[a](b.md)\n")
		doc, err := document.Parse(fmt.Sprintf("c/%d.md", i), []byte(text), document.Options{Fallback: true})
		if err != nil {
			b.Fatal(err)
		}
		f.Pages = append(f.Pages, Inspect(doc, text))
	}
	for b.Loop() {
		Check(f)
	}
}
