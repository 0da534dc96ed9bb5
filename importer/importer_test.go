package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a source and a base folder.
type world struct {
	t   testing.TB
	cfg Config
}

func newWorld(t testing.TB) *world {
	dir := t.TempDir()
	w := &world{t, Config{Source: filepath.Join(dir, "src"), Base: filepath.Join(dir, "kb"), Category: "notes", OnClash: ClashRename, MaxFileSize: 1 << 20}}
	w.must(os.Mkdir(w.cfg.Source, 0o755))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(root, name, text string) {
	w.t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	w.must(os.MkdirAll(filepath.Dir(file), 0o755))
	w.must(os.WriteFile(file, []byte(text), 0o644))
}

func (w *world) files(root string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(root, file)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		w.must(err)
	}
	return all
}

func (w *world) plan() *Plan {
	w.t.Helper()
	p, err := New(w.t.Context(), w.cfg, func(int, int) {}, slog.New(slog.DiscardHandler))
	w.must(err)
	return p
}

// run imports and says what became of each file.
func (w *world) run() map[string]Item {
	w.t.Helper()
	got := map[string]Item{}
	w.must(w.plan().Run(w.t.Context(), func(i Item) { got[i.File] = i }))
	return got
}

func TestImportKeepsStructureAndBytes_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Source, "a.md", "\ufeff# A\r\n")
	w.write(w.cfg.Source, "deep/er/支付.markdown", "支付\n")
	w.write(w.cfg.Source, "picture.png", "no document")
	w.write(w.cfg.Source, ".obsidian/x.md", "hidden")
	w.write(w.cfg.Source, "drafts/d.md", "ignored")
	w.write(w.cfg.Source, ".gitignore", "drafts/\n")
	before := w.files(w.cfg.Source)
	plan := w.plan()
	if len(w.files(w.cfg.Base)) != 0 {
		t.Fatal("planning writes")
	}
	w.must(plan.Run(t.Context(), func(Item) {}))
	want := map[string]string{"notes/a.md": "\ufeff# A\r\n", "notes/deep/er/支付.markdown": "支付\n"}
	if got := w.files(w.cfg.Base); !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !maps.Equal(before, w.files(w.cfg.Source)) {
		t.Error("the source was changed")
	}
	for file, item := range w.run() {
		if item.Result != Duplicate || item.Other != "notes/"+file || item.Twin {
			t.Errorf("again: %+v", item)
		}
	}
}

func TestImportTellsDuplicatesClashesAndWhatCannotBeADocument_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Base, "old/there.md", "the same bytes")
	w.write(w.cfg.Base, "notes/clash.md", "other bytes")
	w.write(w.cfg.Base, "notes/Case.md", "other bytes 2")
	w.write(w.cfg.Base, ".gitignore", "secret.md\n")
	for name, text := range map[string]string{
		"same.md": "the same bytes", "one.md": "twice", "two.md": "twice", "clash.md": "mine", "case.md": "mine too",
		"empty.md": "", "binary.md": "\x00\x01\x02\xff\xfe", "huge.md": strings.Repeat("x", 1<<20+1), "secret.md": "s", "what?.md": "w",
	} {
		w.write(w.cfg.Source, name, text)
	}
	if os.Getuid() != 0 {
		w.write(w.cfg.Source, "locked.md", "l")
		w.must(os.Chmod(filepath.Join(w.cfg.Source, "locked.md"), 0))
	}
	want := map[string]Item{
		"same.md":   {Result: Duplicate, Other: "old/there.md"},
		"one.md":    {Result: Imported, Target: "notes/one.md"},
		"two.md":    {Result: Duplicate, Other: "one.md", Twin: true},
		"clash.md":  {Result: Renamed, Target: "notes/clash-2.md", Other: "notes/clash.md"},
		"case.md":   {Result: Renamed, Target: "notes/case-2.md", Other: "notes/Case.md"},
		"empty.md":  {Result: Failed, Reason: "empty"},
		"binary.md": {Result: Failed, Reason: "not text"},
		"huge.md":   {Result: Failed, Reason: "larger than knowledge.max_file_size"},
		"secret.md": {Result: Failed, Reason: "ignore rules"},
		"what?.md":  {Result: Failed, Reason: "which Windows does not allow"},
	}
	got := w.run()
	for file, item := range want {
		g := got[file]
		if g.Result != item.Result || g.Target != item.Target || g.Other != item.Other || g.Twin != item.Twin || !strings.Contains(g.Reason, item.Reason) {
			t.Errorf("%s: %+v, want %+v", file, g, item)
		}
	}
	if os.Getuid() != 0 && got["locked.md"].Result != Failed {
		t.Errorf("%+v", got["locked.md"])
	}
	if b := w.files(w.cfg.Base); b["notes/clash.md"] != "other bytes" || b["notes/clash-2.md"] != "mine" {
		t.Errorf("%q", b)
	}
	again := w.run()
	if again["clash.md"].Result != Duplicate || again["clash.md"].Other != "notes/clash-2.md" {
		t.Errorf("again: %+v", again["clash.md"])
	}
}

func TestImportLeavesClashesWhereToldTo_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Base, "notes/clash.md", "other bytes")
	w.write(w.cfg.Source, "clash.md", "mine")
	w.cfg.OnClash = ClashSkip
	if got := w.run()["clash.md"]; got.Result != Skipped || got.Other != "notes/clash.md" {
		t.Errorf("%+v", got)
	}
	if n := w.plan().Clashes(); n != 1 {
		t.Errorf("%d clashes", n)
	}
	if b := w.files(w.cfg.Base); len(b) != 1 || b["notes/clash.md"] != "other bytes" {
		t.Errorf("%q", b)
	}
}

// An import that is interrupted leaves whole files only; run again, it copies the rest and nothing twice.
func TestImportGoesOnAfterAnInterruption_5_2(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.write(w.cfg.Source, fmt.Sprintf("d%d/%d.md", i%3, i), fmt.Sprint("text ", i))
	}
	leftover, working := tempPrefix+"old"+tempSuffix, tempPrefix+"new"+tempSuffix // no names of ours
	killed := tempPrefix + "abcdefghij27" + tempSuffix
	w.write(w.cfg.Base, "notes/d0/"+leftover, "ha")
	w.write(w.cfg.Base, "notes/d0/"+killed, "ha")
	for _, name := range []string{leftover, killed} {
		w.must(os.Chtimes(filepath.Join(w.cfg.Base, "notes/d0", name), time.Time{}, time.Now().Add(-time.Hour)))
	}
	w.write(w.cfg.Base, "notes/d0/"+working, "another import's")
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := w.plan().Run(ctx, func(Item) {
		if n++; n == 7 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || n != 7 {
		t.Fatalf("%d files, %v", n, err)
	}
	counts := map[string]int{}
	for _, item := range w.run() {
		counts[item.Result]++
	}
	if counts[Imported] != 13 || counts[Duplicate] != 7 {
		t.Errorf("%v", counts)
	}
	got := w.files(w.cfg.Base)
	delete(got, "notes/d0/"+working)
	delete(got, "notes/d0/"+leftover)
	if len(got) != 20 || got["notes/d1/4.md"] != "text 4" {
		t.Errorf("%q", slices.Sorted(maps.Keys(got)))
	}
}

// What comes between the plan and the copy is not overwritten, and what changed is not copied by half.
func TestImportOverwritesNothing_5_2(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Source, "a.md", "a")
	w.write(w.cfg.Source, "b.md", "b")
	w.write(w.cfg.Source, "c.md", "c")
	plan := w.plan()
	w.write(w.cfg.Base, "notes/a.md", "came meanwhile")
	w.write(w.cfg.Source, "b.md", "edited meanwhile")
	w.must(os.Remove(filepath.Join(w.cfg.Source, "c.md")))
	got := map[string]Item{}
	w.must(plan.Run(t.Context(), func(i Item) { got[i.File] = i }))
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		if got[name].Result != Failed || got[name].Reason == "" {
			t.Errorf("%+v", got[name])
		}
	}
	if b := w.files(w.cfg.Base); len(b) != 1 || b["notes/a.md"] != "came meanwhile" {
		t.Errorf("%q", b)
	}
}

func TestImportRefusesFoldersWithinEachOther_5_2(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(filepath.Join(w.cfg.Base, "sub"), 0o755))
	link := filepath.Join(w.t.TempDir(), "link")
	w.must(os.Symlink(w.cfg.Base, link))
	for _, source := range []string{w.cfg.Base, filepath.Join(w.cfg.Base, "sub"), filepath.Dir(w.cfg.Base), link} {
		cfg := w.cfg
		cfg.Source = source
		var overlap *OverlapError
		if _, err := New(t.Context(), cfg, func(int, int) {}, slog.New(slog.DiscardHandler)); !errors.As(err, &overlap) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// A file that is not copied because another has the same bytes is copied after all where that other cannot be.
func TestTwinOfWhatCannotBeCopied(t *testing.T) {
	w := newWorld(t)
	w.write(w.cfg.Source, "a/one.md", "# One\n")
	w.write(w.cfg.Source, "b/two.md", "# One\n")
	w.write(w.cfg.Source, "c/three.md", "# One\n")
	w.write(w.cfg.Base, "notes/a", "a file where a folder would have to be")
	got := w.run()
	if got["a/one.md"].Result != Failed || got["b/two.md"].Result != Imported || got["c/three.md"].Result != Duplicate || got["c/three.md"].Other != "b/two.md" {
		t.Errorf("%+v", got)
	}
	if w.files(w.cfg.Base)["notes/b/two.md"] != "# One\n" {
		t.Errorf("%q", w.files(w.cfg.Base))
	}
}
