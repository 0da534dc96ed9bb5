package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"knowledged/ipc"
)

// SPEC 4.1, 1.5, 3.4: a folder of documents that comes, moves and goes is one update for each document; within the folder
// it keeps the docIds, and nothing is embedded again.
func TestFoldersMove_4_1_1_5_3_4(t *testing.T) {
	const n = 1000
	w, fake := remoteWorld(t)
	w.save("z.md", version("Other"))
	w.start()
	aside := filepath.Join(w.cfg.StateDir, "aside")
	for i := range n {
		file := filepath.Join(aside, fmt.Sprintf("s%d/%d.md", i%7, i))
		w.must(os.MkdirAll(filepath.Dir(file), 0o755))
		w.must(os.WriteFile(file, []byte(doc(fmt.Sprintf("T%d", i), fmt.Sprintf("kw-%d.", i))), 0o644))
	}
	if got := w.updatesOf(func() { w.move(aside, "in") }); got != n || len(w.paths()) != n+1 {
		t.Errorf("moved in: %d updates, %d documents", got, len(w.paths()))
	}
	ids := map[string]string{}
	for _, rec := range w.registry.All() {
		ids[rec.Title] = rec.DocID
	}
	before := fake.texts.Load()
	if got := w.updatesOf(func() { w.move("in", "deep/within") }); got != n || len(w.paths()) != n+1 {
		t.Errorf("moved within: %d updates, %d documents", got, len(w.paths()))
	}
	for _, rec := range w.registry.All() {
		if ids[rec.Title] != rec.DocID {
			t.Errorf("%s has another docId", rec.Path)
		}
	}
	if n := fake.texts.Load() - before; n > 2*settleUpdates { // those of settle's own document
		t.Errorf("%d texts were embedded for a move", n)
	}
	if got := w.updatesOf(func() { w.move("deep/within", aside) }); got != n || len(w.paths()) != 1 {
		t.Errorf("moved out: %d updates, %d documents", got, len(w.paths()))
	}
}

// API.md: a move is told as a deletion and a creation with the same docId, and the latter says where from.
func TestMoveEvents(t *testing.T) {
	w := newWorld(t)
	w.save("dir/a.md", doc("Alpha", "kw-alpha"))
	w.start()
	id := w.record("dir/a.md").DocID
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	events := w.Subscribe(ctx)
	w.move("dir", "new/place")
	w.eventually("moved", func() bool { return w.has("new/place/a.md") })
	w.save("new/place/a.md", doc("Beta", "kw-alpha"))
	w.eventually("saved", func() bool { return w.title("new/place/a.md") == "Beta" })
	w.idle()
	cancel()
	var got []string
	for e := range events {
		if e.Type == ipc.EventDocument {
			got = append(got, strings.TrimSpace(strings.Join([]string{e.Action, e.Source, e.MovedFrom}, " ")))
			if e.DocID != id {
				t.Errorf("%s: docId %s, want %s", e.Source, e.DocID, id)
			}
		}
	}
	if want := []string{"deleted kb/dir/a.md", "created kb/new/place/a.md kb/dir/a.md", "updated kb/new/place/a.md"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// SPEC 4.1: a linked file is a document once; loops and links out of the base folder are named once, and followed only if
// watch.follow_symlinks says so.
func TestLinks_4_1(t *testing.T) {
	for _, follow := range []bool{false, true} {
		t.Run(fmt.Sprintf("follow %t", follow), func(t *testing.T) {
			w := newWorld(t)
			w.cfg.Watch.FollowSymlinks = follow
			outside := t.TempDir()
			w.must(os.WriteFile(filepath.Join(outside, "out.md"), []byte(doc("Out", "kw-out")), 0o644))
			w.must(os.Mkdir(filepath.Join(outside, "tree"), 0o755))
			w.must(os.WriteFile(filepath.Join(outside, "tree", "t.md"), []byte(doc("Tree", "kw-tree")), 0o644))
			w.save("dir/a.md", doc("Alpha", "kw-alpha"))
			w.start()
			for link, target := range map[string]string{
				"dir/same.md": "a.md", "again": "dir", "loop": ".", "dir/up": "..", "self.md": "self.md", "broken.md": "nowhere.md",
				"out.md": filepath.Join(outside, "out.md"), "tree": filepath.Join(outside, "tree"),
			} {
				w.must(os.Symlink(target, w.abs(link)))
			}
			want, named := []string{"dir/a.md"}, 8
			if follow {
				want, named = []string{"dir/a.md", "out.md", "tree/t.md"}, 6
			}
			w.eventually("named", func() bool { return len(w.log.lines("not a document")) == named && len(w.paths()) == len(want) })
			w.watcher.Rescan()
			w.settle()
			if got := w.paths(); !slices.Equal(got, want) {
				t.Errorf("documents %q, want %q", got, want)
			}
			if lines := w.log.lines("not a document"); len(lines) != named {
				t.Errorf("log %v", lines)
			}
			if !follow {
				return
			}
			w.must(os.WriteFile(filepath.Join(outside, "tree", "t.md"), []byte(doc("Oak", "kw-tree")), 0o644))
			w.eventually("a change behind a link", func() bool { return w.title("tree/t.md") == "Oak" })
		})
	}
}
