package lookup

import (
	"strings"
	"testing"

	"knowledged/document"
)

// SPEC 2.4: where it is a document's title that was found, the answer is not that title over again but how the document
// goes on: the best of its passages that was found, or how it begins.
func TestAnswerIsMoreThanATitle_2_4(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		summary    string
		meaning    []document.Hit
	}{
		{"its beginning", "first passage", "", []document.Hit{hit("api/t.md#0", 0.9)}},
		{"the passage that was found", "second passage", "", []document.Hit{hit("api/t.md#0", 0.95), hit("api/t.md#2", 0.2)}},
		{"with the summary", "Tells all.\n\nfirst passage", "Tells all.", []document.Hit{hit("api/t.md#0", 0.9)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.add("api/t.md", "Weekend hike", "api", "first passage", "second passage")
			head := w.chunks["api/t.md#0"]
			head.Head = &document.Head{Title: "Weekend hike", Summary: tc.summary}
			head.Text = strings.TrimSpace("Weekend hike\n" + tc.summary)
			w.chunks["api/t.md#0"] = head
			w.meaning, w.known = tc.meaning, 1
			a := w.lookup(Request{TopK: 3})
			if a.Supplement == nil || a.Supplement.Content != tc.want || a.Supplement.Breadcrumb != "Weekend hike > First" {
				t.Fatalf("supplement %+v, want %q", a.Supplement, tc.want)
			}
			if got := a.Results[0].Snippet; tc.summary == "" && got != tc.want {
				t.Errorf("snippet %q", got)
			}
		})
	}
}
