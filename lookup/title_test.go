package lookup

import (
	"strings"
	"testing"
)

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
