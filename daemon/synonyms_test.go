package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"knowledged/lookup"
)

func (w *world) matches(query string) int {
	w.t.Helper()
	a, err := w.engine.Load().Lookup(context.Background(), lookup.Request{Query: query})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Decision.L0Matches
}

// SPEC 2.2, 4.1: synonyms are read at the start and on each save; a broken file leaves the last good ones, and says where.
func TestSynonyms_4_1_AreHot(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.base, ".synonyms.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.base, "a.md"), []byte("---\ntitle: 集群\nkeywords: [kubernetes]\nsummary: s\n---\ntext\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write("- [k8s, kubernetes]\n")
	w.start()
	if n := w.matches("k8s"); n != 1 {
		t.Errorf("%d matches of a synonym read at the start", n)
	}
	write("- [kube, kubernetes]\n- single\n")
	w.eventually("the new synonym", func() bool { return w.matches("kube") == 1 })
	if n := w.matches("k8s"); n != 0 {
		t.Errorf("%d matches of a synonym that is gone", n)
	}
	w.eventually("a WARN", func() bool { return strings.Contains(w.log.text(), "left out") })
	if log := w.log.text(); !strings.Contains(log, `"line":2`) || !strings.Contains(log, file) {
		t.Errorf("the WARN names no file and line:\n%s", log)
	}
	write("- [k8s, kubernetes\n")
	w.eventually("a WARN", func() bool { return strings.Contains(w.log.text(), "the last ones stay") })
	if n := w.matches("kube"); n != 1 {
		t.Errorf("%d matches: a broken file must leave the last good synonyms", n)
	}
	if n := strings.Count(w.log.text(), "the last ones stay"); n != 1 {
		t.Errorf("%d WARNs of one broken file", n)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.eventually("no synonyms", func() bool { return w.matches("kube") == 0 })
}
