package lookup

import (
	"strings"
	"testing"
)

// SPEC 2.5: signs alone ask for nothing, unless a document has them as its name.
func TestSignsAloneFindNothing_2_5(t *testing.T) {
	for query, found := range map[string]bool{"*": false, "$$$": false, "+": false, "？！": false, "--- #": false, "。": false, "C": true, "支": true, "*x*": true} {
		w := newWorld(t)
		w.add("a.md", "Alpha", "", "the passage")
		w.meaning = append(w.meaning, hit("a.md#1", 0.9))
		if a := w.lookup(Request{Query: query}); a.Found != found || !found && (a.Supplement != nil || len(a.Results) > 0) {
			t.Errorf("%q: %+v", query, a)
		}
		w.match("a.md")
		if a := w.lookup(Request{Query: query}); !a.Found || a.Primary == nil {
			t.Errorf("%q as a name: %+v", query, a)
		}
	}
}

// A document without a title goes by its file's name in answers; what is indexed of it stays as it is.
func TestUntitledGoesByItsFileName(t *testing.T) {
	w := newWorld(t)
	w.add("notes/Meeting 7.md", "", "notes", "the passage")
	w.match("notes/Meeting 7.md")
	a := w.lookup(Request{AlwaysSemantic: true})
	if a.Primary == nil || a.Primary.Title != "Meeting 7" || !strings.HasPrefix(a.Primary.Content, "Document: Meeting 7\n") {
		t.Errorf("primary %+v", a.Primary)
	}
	for _, r := range a.Results {
		if r.Title != "Meeting 7" {
			t.Errorf("result %+v", r)
		}
	}
	if a = w.lookup(Request{Content: ContentMetadata}); !strings.HasPrefix(a.Primary.Content, "Document: Meeting 7\n") {
		t.Errorf("metadata %q", a.Primary.Content)
	}
	w.matches = nil
	w.meaning = append(w.meaning, hit("notes/Meeting 7.md#1", 0.9))
	if a = w.lookup(Request{}); a.Supplement == nil || a.Supplement.Title != "Meeting 7" {
		t.Errorf("supplement %+v", a.Supplement)
	}
}
