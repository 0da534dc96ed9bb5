package daemon

import (
	"slices"
	"strings"
	"testing"

	"knowledged/chunker"
	"knowledged/document"
)

// SPEC 2.6: what is answered while a file is being written has the sections of the document as it was, and their text.
func TestRebuilt_2_6(t *testing.T) {
	w := newWorld(t).open()
	t.Cleanup(func() { _ = w.Close() })
	long := strings.Repeat("A sentence of some length. ", 120)
	for name, body := range map[string]string{
		"plain":              "Before.\n\n## A\n\nText a.\n\n### A1\n\nText a1.\n\n## B\n\nText b.\n",
		"no section":         "Only text.\n",
		"without text":       "## Empty\n\n## A\n\n### Deep empty\n\n### Deep\n\nText.\n\n## Last\n",
		"title repeated":     "# The title\n\nIntro.\n\n## A\n\nText.\n",
		"first level":        "# Other\n\nIntro.\n\n## A\n\nText.\n\n# Third\n\n## B\n\nText b.\n",
		"same name":          "## A\n\nOne.\n\n### A1\n\nDeep.\n\n## A\n\nTwo.\n",
		"separator":          "## File > Open\n\nText.\n\n## Edit\n\nMore.\n\n### Undo > Redo\n\nDeep.\n",
		"long":               "## A\n\n" + long + "\n\n## B\n\n" + long + "\n",
		"code like headings": "## A\n\n```sh\n# no heading\n## nor this\n```\n\n## B\n\nText.\n",
	} {
		text := "---\ntitle: The title\nkeywords: [kw]\nsummary: What it is.\nsections: {Named: \"## B\"}\n---\n" + body
		want, err := document.Parse("a.md", []byte(text), w.docOpt)
		if err != nil {
			t.Fatal(err)
		}
		rec := w.pipeline.newRecord(nil, "a.md", fileStat{})
		fillRecord(rec, want)
		if _, err := w.pipeline.write([]finding{{path: "a.md", record: rec, doc: want, chunks: chunker.Split(want, chunker.Options{})}}); err != nil {
			t.Fatal(err)
		}
		got, ok := w.rebuilt(rec)
		if !ok || got.Title != want.Title || got.Summary != want.Summary || !slices.Equal(got.SectionTitles(), want.SectionTitles()) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if a, b := words(got.Body), words(want.Body); name != "title repeated" && a != b {
			t.Errorf("%s: body\n%s\nwant\n%s", name, a, b)
		}
		for _, title := range want.SectionTitles() {
			_, a, _ := got.FindSection(title)
			_, b, _ := want.FindSection(title)
			if x, y := words(got.Body[a.Text:a.End]), words(want.Body[b.Text:b.End]); x != y {
				t.Errorf("%s: section %q is\n%s\nwant\n%s", name, title, x, y)
			}
		}
	}
}

// words are a text without its line breaks and the levels of its headings.
func words(text string) string {
	for strings.Contains(text, "##") {
		text = strings.ReplaceAll(text, "##", "#")
	}
	return strings.Join(strings.Fields(text), " ")
}
