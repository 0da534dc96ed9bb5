package web

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"knowledged/lint"
	"knowledged/lookup"
)

var (
	literalKey = regexp.MustCompile(`(?:\{\{|\(| )t "([\w.-]+)"`)
	madeKey    = regexp.MustCompile(`t \(print "([\w.]+\.)"`)
	goKey      = regexp.MustCompile(`"((?:verdict|fault|error|token|nav|asked|edit|ago|duration)\.[\w.]+)"`)
	verbs      = regexp.MustCompile(`%[sd%]`)
)

// Everything that the pages say is there in both languages, with the same verbs, and nothing is left over.
func TestCatalogueIsComplete(t *testing.T) {
	used := map[string]bool{}
	var prefixes []string
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(templateFiles, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literalKey.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
		for _, m := range madeKey.FindAllStringSubmatch(string(text), -1) {
			prefixes = append(prefixes, m[1])
		}
	}
	for _, file := range goSources(t) {
		for _, m := range goKey.FindAllStringSubmatch(file, -1) {
			used[m[1]] = true
		}
	}
	if len(used) < 100 || len(prefixes) < 8 {
		t.Fatalf("read only %d keys and %d prefixes from the sources", len(used), len(prefixes))
	}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if _, ok := catalogue[key]; !ok {
			t.Errorf("%s is said and not in the catalogue", key)
		}
	}
	for key, w := range catalogue {
		made := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
		if !used[key] && !made {
			t.Errorf("%s is in the catalogue and never said", key)
		}
		if strings.TrimSpace(w.en) == "" || strings.TrimSpace(w.zh) == "" {
			t.Errorf("%s is missing in one language", key)
		}
		if en, zh := verbs.FindAllString(w.en, -1), verbs.FindAllString(w.zh, -1); !slices.Equal(en, zh) {
			t.Errorf("%s has the verbs %q in English and %q in Chinese", key, en, zh)
		}
	}
}

// What other packages can answer with has words.
func TestCatalogueKnowsEveryValue(t *testing.T) {
	want := map[string][]string{
		"reason.":   {lookup.ReasonUnique, lookup.ReasonUniqueIndexing, lookup.ReasonUniqueDoubtful, lookup.ReasonAlways, lookup.ReasonSeveral, lookup.ReasonNone},
		"l1.":       {lookup.L1Skipped, lookup.L1Used, lookup.L1Empty, lookup.L1Timeout, lookup.L1Failed, lookup.L1Off},
		"degraded.": {lookup.DegradedL0, lookup.DegradedL1, lookup.DegradedIndexing},
		"tone.":     {lookup.High, lookup.Low, lookup.Strong, lookup.Weak, "none"},
		"severity.": {string(lint.Error), string(lint.Warning), string(lint.Note)},
		"kind.":     {"keyword", "alias", "title"},
		"how.":      {"query_contains_name", "name_contains_query", "synonym"},
		"status.":   {"PENDING", "INDEXING", "INDEXED", "FAILED"},
	}
	// Rules that take a whole folder to see are not the editor's.
	ofFolder := []string{lint.DuplicateTitle, lint.SharedName, lint.ContainedName, lint.TooLarge, lint.NotRead, lint.ConflictCopy, lint.SynonymsBroken, lint.SynonymPointless}
	for _, r := range lint.Rules {
		if !slices.Contains(ofFolder, r.ID) {
			want["rule."] = append(want["rule."], r.ID)
		}
	}
	for prefix, values := range want {
		for _, v := range values {
			if _, ok := catalogue[prefix+v]; !ok {
				t.Errorf("%s%s is not in the catalogue", prefix, v)
			}
		}
		for key := range catalogue {
			if v, ok := strings.CutPrefix(key, prefix); ok && !slices.Contains(values, v) {
				t.Errorf("%s stands for nothing", key)
			}
		}
	}
}
