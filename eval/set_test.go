package eval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"knowledged/document"
)

// The labels name documents and headings that there are: a renamed heading must not turn a right answer into a miss.
func TestSetIsSound(t *testing.T) {
	queries, folders := own(t)
	if len(queries) < 60 {
		t.Errorf("%d queries, want at least 60", len(queries))
	}
	texts := map[string]string{}
	types := map[string]int{}
	for _, q := range queries {
		types[q.Type]++
		if other, twice := texts[q.Text]; twice {
			t.Errorf("%s asks the same as %s", q.ID, other)
		}
		texts[q.Text] = q.ID
		if lang := langOf(q.Text); q.Lang != lang {
			t.Errorf("%s: lang is %q, want %q", q.ID, q.Lang, lang)
		}
		if strings.HasPrefix(q.Type, "unans") != (len(q.Relevant) == 0) {
			t.Errorf("%s: type %s with %d relevant documents", q.ID, q.Type, len(q.Relevant))
		}
		top, bestLang := 0, 0
		for _, r := range q.Relevant {
			top = max(top, r.Grade)
			doc := parse(t, folders, r.Path)
			if doc == nil {
				t.Errorf("%s: %s does not exist", q.ID, r.Path)
				continue
			}
			if r.Grade < 1 || r.Grade > 3 {
				t.Errorf("%s: grade %d", q.ID, r.Grade)
			}
			if r.Section != "" && !slices.ContainsFunc(doc.Sections, func(s document.Section) bool { return s.Title == r.Section }) {
				t.Errorf("%s: %s has no heading %q", q.ID, r.Path, r.Section)
			}
			if doc.Chinese {
				bestLang++
			}
		}
		if len(q.Relevant) > 0 && top != 3 {
			t.Errorf("%s: no document has grade 3", q.ID)
		}
		if q.Type == "xlang" && (q.Lang != "zh" || bestLang > 0) {
			t.Errorf("%s: xlang is a Chinese query answered in English only", q.ID)
		}
	}
	for _, name := range []string{"para", "symptom", "keyword", "xlang", "section", "unans"} {
		if types[name] < 10 {
			t.Errorf("%d queries of type %s, want at least 10", types[name], name)
		}
		delete(types, name)
	}
	for name := range types {
		if !strings.HasPrefix(name, "unans-") { // kinds of unanswerable ones
			t.Errorf("unknown type %s", name)
		}
	}
}

func langOf(s string) string {
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			return "zh"
		}
	}
	return "en"
}

func parse(t *testing.T, folders []string, path string) *document.Document {
	t.Helper()
	for _, folder := range folders {
		data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
		if err != nil {
			continue
		}
		doc, err := document.Parse(path, data, document.Options{Fallback: true})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	return nil
}
