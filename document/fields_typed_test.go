package document

import (
	"slices"
	"testing"
)

// A text that begins with # is a comment: what stands in for it must not hide that.
func TestFrontMatter_1_3_StandInsTellOfComments(t *testing.T) {
	for text, want := range map[string][]Warning{
		"---\ntitle: #123 fix login\nkeywords: [h]\nsummary: s\n---\n# H1\n":          {{2, `title is empty, as # begins a comment: put it in quotes: "#123 fix login"`}},
		"---\ntitle: T\nkeywords: #a, #b\ntags: [x]\nsummary: s\n---\n":               {{3, `keywords is empty`}},
		"---\ntitle: T\nkeywords:\n  - #a\ntags: [x]\nsummary: s\n---\n":              {{3, `keywords is empty`}},
		"---\ntitle: T\nkeywords: [h]\nsummary: #1 of all\ndescription: d\n---\n":     {{4, `summary is empty`}},
		"---\ntitle: # to do\nkeywords: # none\ntags: [x]\nsummary: s\n---\n# H1\n":   nil,
		"---\ntitle:\nkeywords: []\ntags: [x]\nsummary: ''\ndescription: d\n---\n# H": nil,
	} {
		checkWarnings(t, parse(t, text, true), want...)
	}
}

func TestFrontMatter_1_3_MetadataHasWhatWasTyped(t *testing.T) {
	d := parse(t, "---\ntitle: &more things\nkeywords:\n  -a\n  -b\nsummary: s\nsections: {a: &b c}\nother: &x y\n---\n", true)
	const want = `{"title":"&more things","keywords":["a","b"],"summary":"s","sections":{"a":"&b c"},"other":"y"}`
	if string(d.Metadata) != want {
		t.Errorf("metadata %s, want %s", d.Metadata, want)
	}
	if !slices.Equal(d.SectionNames, []SectionName{{Name: "a", Heading: "&b c"}}) {
		t.Errorf("sections %+v", d.SectionNames)
	}
}
