//go:build unix

package importer

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed import left is removed at once; what a living one writes, or has another name, stays.
func TestLeftoversOfTheDead_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Source, "a.md", "a")
	w.run()
	base, err := os.OpenRoot(w.cfg.Base)
	w.must(err)
	defer base.Close()
	living, name, err := newTemp(base, "notes")
	w.must(err)
	defer living.Close()
	w.must(os.Chtimes(filepath.Join(w.cfg.Base, name), time.Time{}, time.Now().Add(-time.Hour))) // it takes long
	dead := "notes/" + tempPrefix + "abcdefghij27" + tempSuffix
	foreign := "notes/" + tempPrefix + "mine" + tempSuffix
	w.write(w.cfg.Base, dead, "half")
	w.write(w.cfg.Base, foreign, "somebody's")
	if got := w.run(); got["a.md"].Result != Duplicate {
		t.Errorf("%+v", got)
	}
	got := w.files(w.cfg.Base)
	if _, is := got[dead]; is {
		t.Error("the leftover is still there")
	}
	if _, is := got[filepath.ToSlash(name)]; !is || got[foreign] == "" {
		t.Errorf("%q", got)
	}
}
