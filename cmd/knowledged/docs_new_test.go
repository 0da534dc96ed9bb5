package main

import (
	"testing"

	"gopkg.in/yaml.v3"

	"knowledged/document"
)

func TestFileNameOfATitle_6_4(t *testing.T) {
	for title, want := range map[string]string{
		"Gift cards": "gift-cards.md", "支付网关：超时排查": "支付网关-超时排查.md", "  C++ / Go? ": "c-go.md", "???": "document.md",
		"हिन्दी": "हिन्दी.md", "Crème brûlée": "crème-brûlée.md",
	} {
		if got := fileNameOf(title); got != want {
			t.Errorf("%q: %q", title, got)
		}
	}
	long := ""
	for range 100 {
		long += "字"
	}
	if got := fileNameOf(long); len(got) > 83 || got[:3] != "字" {
		t.Errorf("%q", got)
	}
}

// Whatever is typed as a flag is read back as it was typed.
func TestTemplateIsFrontMatter_6_4(t *testing.T) {
	for _, text := range []string{"plain", "a: b", "[x]", "'q\" # c", "yes", "404", "1.10", "- x", "a, b", "支付", "", "line\nbreak", `say ""`, "@at", "{}"} {
		d := draft{title: "T " + text, keywords: []string{text + "k", "two"}, summary: text}
		doc, err := document.Parse("a.md", d.template(), document.Options{})
		if err != nil || !doc.HasFrontmatter || len(doc.Keywords) != 2 {
			t.Errorf("%q: %v\n%s", text, err, d.template())
			continue
		}
		var fields struct {
			Title, Summary string
			Keywords       []string
		}
		if err := yaml.Unmarshal(d.template()[len("---\n"):len(d.template())-len("---\n\n")], &fields); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if fields.Title != "T "+text || fields.Summary != text || fields.Keywords[0] != text+"k" {
			t.Errorf("%q: %+v\n%s", text, fields, d.template())
		}
	}
}
