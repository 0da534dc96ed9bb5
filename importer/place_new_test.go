package importer

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No way to give a file its name overwrites what has come meanwhile, whatever the file system can do.
func TestNoWayOverwrites_5_2(t *testing.T) {
	for name, way := range map[string][]way{"link": ways[:1], "rename": ways[1:2], "create": ways[2:], "without links": ways[1:]} {
		w := newWorld(t)
		w.write(w.cfg.Base, "t.tmp", "new")
		w.write(w.cfg.Base, "taken.md", "mine")
		base, err := os.OpenRoot(w.cfg.Base)
		w.must(err)
		err = appear(base, "t.tmp", "taken.md", []byte("new"), way)
		if name == "rename" && errors.Is(err, errors.ErrUnsupported) {
			continue // the last way serves
		}
		if !errors.Is(err, errCame) {
			t.Errorf("%s: %v", name, err)
		}
		if err := appear(base, "t.tmp", "free.md", []byte("new"), way); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := w.files(w.cfg.Base); got["taken.md"] != "mine" || got["free.md"] != "new" {
			t.Errorf("%s: %q", name, got)
		}
		w.must(base.Close())
	}
}

// A link within the source is the file that it leads to; one that leads out is told and left alone.
func TestImportOfLinks_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Source, "a.md", "a")
	w.write(w.cfg.Source, "plain.txt", "not a document's name")
	w.write(w.cfg.Source, "sub/b.md", "b")
	out := filepath.Join(filepath.Dir(w.cfg.Source), "out.md")
	w.must(os.WriteFile(out, []byte("out"), 0o600))
	for name, to := range map[string]string{"same.md": "a.md", "plain.md": "plain.txt", "folder": "sub", "out.md": out, "broken.md": "nowhere", "up": ".."} {
		w.must(os.Symlink(to, filepath.Join(w.cfg.Source, name)))
	}
	got := w.run()
	for name, want := range map[string]string{"a.md": Imported, "same.md": Duplicate, "plain.md": Imported, "folder": Link, "out.md": Link, "broken.md": Failed, "up": Link} {
		if got[name].Result != want || strings.Contains(got[name].Reason, "base folder") {
			t.Errorf("%s: %+v, want %s", name, got[name], want)
		}
	}
	files := w.files(w.cfg.Base)
	if info, err := os.Lstat(filepath.Join(w.cfg.Base, "notes/plain.md")); err != nil || !info.Mode().IsRegular() || len(files) != 3 {
		t.Errorf("%v, %q", err, files)
	}
}

// A rehearsal says what could not be written, and writes nothing.
func TestRehearsalLooksAtTheTarget_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Source, "a.md", "a")
	w.write(w.cfg.Source, "sub/b.md", "b")
	w.write(w.cfg.Base, "notes/sub", "a file where a folder should be")
	plan, err := New(t.Context(), w.cfg, func(int, int) {}, slog.New(slog.DiscardHandler))
	w.must(err)
	got := map[string]Item{}
	plan.Rehearse(func(i Item) { got[i.File] = i })
	if got["a.md"].Result != Imported || got["sub/b.md"].Result != Failed || !strings.HasSuffix(got["sub/b.md"].Reason, "is no folder") {
		t.Errorf("%+v", got)
	}
	if files := w.files(w.cfg.Base); len(files) != 1 {
		t.Errorf("%q", files)
	}
	if os.Getuid() == 0 || !renamesOpen {
		return // rights do not bind root
	}
	w.must(os.Chmod(filepath.Join(w.cfg.Base, "notes"), 0o555))
	defer func() { w.must(os.Chmod(filepath.Join(w.cfg.Base, "notes"), 0o755)) }()
	plan.Rehearse(func(i Item) { got[i.File] = i })
	if got["a.md"].Result != Failed || !strings.HasSuffix(got["a.md"].Reason, "cannot be written") {
		t.Errorf("%+v", got["a.md"])
	}
}
