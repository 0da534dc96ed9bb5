package lookup

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"knowledged/document"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

func parse(t testing.TB, path string, text string) *document.Document {
	t.Helper()
	d, err := document.Parse(path, []byte(text), document.Options{BaseName: "kb", Fallback: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fixture is a document of testdata and what the registry would keep of it.
func fixture(t testing.TB, name string) (*document.Document, *Doc) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, "api/"+name, string(data))
	return d, &Doc{
		DocID: "id", Path: d.Path, Source: d.Source, Title: d.Title, Summary: d.Summary, Keywords: d.Keywords,
		Sections: d.SectionTitles(), Chinese: d.Chinese,
	}
}

// SPEC 2.6, in both languages, to the letter.
func TestContentGolden_2_6(t *testing.T) {
	for _, name := range []string{"payment-errors.md", "retry.md"} {
		d, doc := fixture(t, name)
		base := strings.TrimSuffix(name, ".md")
		golden(t, base+".compact", compactContent(d)+"\n")
		golden(t, base+".metadata", metadataContent(doc)+"\n")
	}
}

// SPEC 2.6: limits by language and length; a cut ends at a character with "...".
func TestContentLimits_2_6(t *testing.T) {
	for _, chinese := range []bool{true, false} {
		unit, name := "word ", "English"
		if chinese {
			unit, name = "支付网关超时", "Chinese"
		}
		for _, tt := range []struct{ chars, want int }{{100, 100}, {799, 799}, {1999, compactBody}, {2001, compactBodyLong}, {100000, compactBodyLong}} {
			t.Run(fmt.Sprintf("%s %d", name, tt.chars), func(t *testing.T) {
				body := string([]rune(strings.Repeat(unit, tt.chars/2))[:tt.chars])
				d := &document.Document{Title: "T", Summary: "S", Chinese: chinese, Body: body}
				got := compactContent(d)
				_, text, _ := strings.Cut(got, "---\n")
				if n := utf8.RuneCountInString(text); n > tt.want || n < tt.want-6 {
					t.Errorf("body of %d characters, want %d", n, tt.want)
				}
				if cut := tt.chars > tt.want; strings.HasSuffix(text, "...") != cut || !utf8.ValidString(text) {
					t.Errorf("cut %v: %q", cut, text[max(0, len(text)-20):])
				}
			})
		}
	}
	d := &document.Document{Title: strings.Repeat("题", 500), Summary: strings.Repeat("要", 5000), Chinese: true, Body: strings.Repeat("文", 1900)}
	doc := &Doc{Path: "api/x.md", Title: d.Title, Summary: d.Summary, Chinese: true}
	for i := range 40 {
		title := fmt.Sprintf("第 %d 章 %s", i, strings.Repeat("长", 100))
		d.Sections = append(d.Sections, document.Section{Title: title, Level: 2})
		doc.Keywords = append(doc.Keywords, fmt.Sprintf("词%d", i))
	}
	got := compactContent(d)
	if n := utf8.RuneCountInString(got); n > 1250 {
		t.Errorf("compact content of %d characters", n)
	}
	if n := strings.Count(got, "  - 第 "); n != sectionLines || !strings.Contains(got, "  - …… 另有 28 项\n") {
		t.Errorf("%d section lines in %q", n, got)
	}
	meta := metadataContent(doc)
	if n := utf8.RuneCountInString(meta); n > 230 {
		t.Errorf("metadata content of %d characters", n)
	}
	if !strings.Contains(meta, "词9、…… 另有 30 项") || strings.Contains(meta, "词10") || !strings.HasSuffix(meta, "来源: api/x.md") {
		t.Errorf("metadata %q", meta)
	}
}

// What is not worth the first glance is left out: headings, blank lines, comments, embedded images; code keeps its text.
func TestBodyText_2_6(t *testing.T) {
	d := parse(t, "a.md", "# A\n\nIntro.\n\n<!-- licence\n\n# of old\n-->\nBefore <!-- kept inline -->\n\nSetext\n======\n\n"+
		"```sh\n# not a heading\n<!-- not a comment -->\n\nls\n```\n### Deep\n##\n\n### ###\n#!\nEnd ![x](data:image/png;base64,iVBORw0KGgo=).\n<!-- one line --> tail\n")
	want := "Intro.\nBefore <!-- kept inline -->\n```sh\n# not a heading\n<!-- not a comment -->\nls\n```\n#!\nEnd ![x](data:...).\ntail"
	if diff := cmp.Diff(want, bodyText(d)); diff != "" {
		t.Error(diff)
	}
	if got := compactContent(&document.Document{}); got != "" {
		t.Errorf("an empty document reads %q", got)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"缓存穿透", 2, "缓存"},
		{"", 5, ""},
		{"abc", 0, ""},
		{"cafe\u0301s", 4, "caf"},
		{"a👨\u200d👩b", 3, "a"},
		{"👍🏽x", 1, ""},
		{"か\u3099き", 1, ""},
	} {
		if got, more := cut(tt.s, tt.n); got != tt.want || more != (got != tt.s) {
			t.Errorf("cut(%q, %d) = %q, %v; want %q", tt.s, tt.n, got, more, tt.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("支付网关 ERR_TIMEOUT e\u0301", 5)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || !utf8.ValidString(s) {
			return
		}
		got, more := cut(s, n)
		if !strings.HasPrefix(s, got) || utf8.RuneCountInString(got) > n || more != (len(got) < len(s)) {
			t.Fatalf("cut(%q, %d) = %q, %v", s, n, got, more)
		}
		if c := clip(s, n+3); utf8.RuneCountInString(c) > n+3 {
			t.Fatalf("clip(%q, %d) = %q", s, n+3, c)
		}
	})
}

// content: auto | compact | metadata | full.
func TestContentAsAskedFor(t *testing.T) {
	w := newWorld(t)
	d, doc := fixture(t, "payment-errors.md")
	w.docs[doc.Path], w.files[doc.Path] = doc, d
	w.match(doc.Path)
	for content, want := range map[string]string{
		ContentAuto: compactContent(d), ContentCompact: compactContent(d),
		ContentMetadata: metadataContent(doc), ContentFull: strings.Trim(d.Body, "\n"),
	} {
		if got := w.lookup(Request{Content: content}).Primary.Content; got != want {
			t.Errorf("%s: %q", content, got)
		}
	}
	delete(w.files, doc.Path)
	if a := w.lookup(Request{Content: ContentMetadata}); a.Primary.Content != metadataContent(doc) || len(a.Primary.AvailableSections) == 0 {
		t.Errorf("metadata needs the file: %+v", a.Primary) // SPEC 2.6: file is not read
	}
}

// The answer comes from the file as it is now; what a half-written file lacks comes from the record.
func TestFileAsItIsNow(t *testing.T) {
	w := newWorld(t)
	doc := w.add("a.md", "Recorded", "", "old")
	w.match("a.md")
	w.files["a.md"] = parse(t, "a.md", "---\ntitle: New\nkeywords: [k]\nsummary: s\n---\n## Fresh\nnew text\n")
	if p := w.lookup(Request{}).Primary; !strings.HasPrefix(p.Content, "Document: New\nSummary: s\nSections:\n  - Fresh\n---\nnew text") {
		t.Errorf("%q", p.Content)
	}
	w.files["a.md"] = &document.Document{}
	if p := w.lookup(Request{}).Primary; p.Content != "Document: Recorded\nSummary: "+doc.Summary || p.AvailableSections == nil {
		t.Errorf("%q", p.Content)
	}
}

// SPEC 2.7: a section by name, heading, case and width, or unique part; else the compact content and a hint.
func TestSection_2_7(t *testing.T) {
	w := newWorld(t)
	d, doc := fixture(t, "payment-errors.md")
	w.docs[doc.Path], w.files[doc.Path] = doc, d
	w.add("other.md", "Other", "", "text")
	w.match(doc.Path)
	w.meaning = []document.Hit{hit("other.md#1", 0.9)}
	for _, several := range []bool{false, true} { // the section wins over metadata content
		if several {
			w.match("other.md")
			w.text = nil
		}
		for ask, want := range map[string][2]string{
			"超时排查":        {"超时排查", "网关在 30 秒内"},
			"1. 超时类错误":    {"1. 超时类错误", "网关在 30 秒内"},
			"err＿timeout": {"ERR_TIMEOUT", "上游没有应答"},
			"签名":          {"2. 签名类错误", "签名不符"},
		} {
			p := w.lookup(Request{SectionTitle: ask}).Primary
			if p.Section == nil || *p.Section != want[0] || !strings.Contains(p.Content, want[1]) || p.Hint != "" {
				t.Errorf("%s: section %v, content %q", ask, p.Section, p.Content)
			}
			if strings.Contains(p.Content, "签名不符") != (ask == "签名") {
				t.Errorf("%s: content of another section: %q", ask, p.Content)
			}
		}
		a := w.lookup(Request{SectionTitle: "超时错误"})
		if p := a.Primary; p.Section != nil || p.Content != compactContent(d) || !strings.Contains(p.Hint, "超时") || a.Hint != p.Hint {
			t.Errorf("no such section: %+v", p)
		}
		wantList(t, "available", a.Primary.AvailableSections, d.SectionTitles())
	}
	d = parse(t, doc.Path, "---\ntitle: Bare\nkeywords: k\nsummary: s\n---\ntext\n")
	w.files[doc.Path] = d
	if a := w.lookup(Request{SectionTitle: "x"}); a.Hint != `There is no section "x": the document has no sections.` || a.Primary.AvailableSections == nil {
		t.Errorf("hint %q", a.Hint)
	}
	w.matches = nil // no document is named: there is none to take a section from
	for query, want := range map[string]string{
		"how do refunds work": `Section "x" was not looked for: the question names no document.`,
		"怎么退款":                "未按章节“x”作答：问题没有点明是哪篇文档。",
	} {
		if a := w.lookup(Request{Query: query, SectionTitle: "x"}); a.Primary != nil || !strings.HasPrefix(a.Hint, want) {
			t.Errorf("%s: hint %q", query, a.Hint)
		}
		if a := w.lookup(Request{Query: query}); a.Hint != "" {
			t.Errorf("%s: hint %q where no section was asked for", query, a.Hint)
		}
	}
}

func TestRead_2_9(t *testing.T) {
	data, err := os.ReadFile("testdata/payment-errors.md")
	if err != nil {
		t.Fatal(err)
	}
	d, text := parse(t, "a.md", string(data)), string(data)
	if x := Read(d, text, 10, ""); x.Content != string([]rune(text)[:10])+"..." || !x.Truncated || x.Section != nil {
		t.Errorf("%+v", x)
	}
	if x := Read(d, text, 0, ""); x.Content != text || x.Truncated || len(x.AvailableSections) == 0 {
		t.Errorf("%+v", x)
	}
	if x := Read(d, text+strings.Repeat("长", 3000), 0, ""); utf8.RuneCountInString(x.Content) != DefaultReadChars+3 {
		t.Errorf("%d characters", utf8.RuneCountInString(x.Content))
	}
	if x := Read(d, text, 0, "ERR_TIMEOUT"); x.Section == nil || *x.Section != "ERR_TIMEOUT" || !strings.HasPrefix(x.Content, "上游没有应答") {
		t.Errorf("%+v", x)
	}
	if x := Read(d, text, 0, "nowhere"); x.Section != nil || x.Hint == "" || x.Content != text {
		t.Errorf("%+v", x)
	}
}
