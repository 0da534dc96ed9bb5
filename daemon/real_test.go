//go:build real && linux

package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newRealWorld is a world outside /tmp, where vim's backupskip would hide how it saves.
func newRealWorld(t *testing.T) *world {
	w := newWorld(t)
	dir, err := os.MkdirTemp("/var/tmp", "knowledged-")
	w.must(err)
	t.Cleanup(func() { w.halt(); os.RemoveAll(dir) })
	w.base = filepath.Join(dir, "kb")
	w.must(os.Mkdir(w.base, 0o755))
	w.cfg.Knowledge.BasePath = w.base
	return w
}

// sh runs a shell line in the base folder; $F is ops/a.md.
func (w *world) sh(line string) {
	w.t.Helper()
	w.shell(line, nil)
}

// keys runs a full-screen program on a terminal of its own and types, one string after the other.
func (w *world) keys(line string, keys ...string) {
	w.t.Helper()
	w.shell("stty() { :; }; script -qec "+fmt.Sprintf("%q", line)+" /dev/null", keys)
}

func (w *world) shell(line string, keys []string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", line)
	cmd.Dir = w.base
	cmd.Env = append(os.Environ(), "F="+w.abs("ops/a.md"), "HOME="+w.cfg.StateDir, "TERM=xterm", "LC_ALL=C.UTF-8", "OUT="+w.base+".out",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	in, err := cmd.StdinPipe()
	w.must(err)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	w.must(cmd.Start())
	for _, k := range keys {
		time.Sleep(300 * time.Millisecond) // programs drop what is typed while they redraw
		_, _ = io.WriteString(in, k)
	}
	if len(keys) == 0 {
		in.Close()
	}
	if err := cmd.Wait(); err != nil {
		w.t.Fatalf("%s: %v\n%s", line, err, out.String())
	}
	in.Close()
}

const change = "s/Before/Saved/g"

// programs save ops/a.md, which holds the word Before several times, with Saved in its place.
var programs = []saving{
	{"vim", 1, func(w *world, _ string) { w.keys(`vim -c "%` + change + `" -c wq $F`) }},
	{"vim, backup by copying", 1, func(w *world, _ string) {
		w.keys(`vim --cmd "set nocp" -c "set backupcopy=yes backup" -c "%` + change + `" -c wq $F`)
	}},
	{"vim -es", 1, func(w *world, _ string) { w.sh(`vim -es -c "%` + change + `" -c wq $F || true`) }},
	{"nano", 1, func(w *world, _ string) {
		w.keys("nano $F", "\x1c", "Before\r", "Saved\r", "A", "\x0f", "\r", "\x18")
	}},
	{"emacs", 1, func(w *world, _ string) {
		w.sh(`emacs --batch -Q $F --eval '(progn (while (search-forward "Before" nil t) (replace-match "Saved" t)) (save-buffer))'`)
	}},
	{"sed -i", 1, func(w *world, _ string) { w.sh("sed -i " + change + " $F") }},
	{"perl -i", 1, func(w *world, _ string) { w.sh("perl -pi -e " + change + " $F") }},
	{"rsync", 1, func(w *world, _ string) {
		w.sh("mkdir -p $OUT; sed " + change + " $F > $OUT/a.md; rsync -t $OUT/a.md ops/")
	}},
	{"rsync --inplace", 1, func(w *world, _ string) {
		w.sh("mkdir -p $OUT; sed " + change + " $F > $OUT/a.md; rsync -t --inplace $OUT/a.md ops/")
	}},
	{"cp", 1, func(w *world, _ string) { w.sh("mkdir -p $OUT; sed " + change + " $F > $OUT/a.md; cp $OUT/a.md $F") }},
	{"tar x", 1, func(w *world, _ string) {
		w.sh("rm -rf $OUT; mkdir -p $OUT/ops; sed " + change + " $F > $OUT/ops/a.md; tar c -C $OUT ops | tar x")
	}},
	{"dd in parts", 1, func(w *world, _ string) {
		w.sh("mkdir -p $OUT; sed " + change + " $F > $OUT/a.md; dd if=$OUT/a.md of=$F bs=20 status=none")
	}},
	{"git checkout of a file", 1, func(w *world, _ string) {
		w.sh("rm -rf .git; git init -q; cp $F $OUT.before; sed -i.bak " + change + " ops/a.md.none 2>/dev/null || true; sed " + change + " $F > $OUT.md; " +
			"git add ops/a.md; git update-index --cacheinfo 100644,$(git hash-object -w $OUT.md),ops/a.md; git checkout -q -- ops/a.md; rm -rf .git")
	}},
	{"touch", 0, func(w *world, _ string) { w.sh("sed " + change + " $F > $OUT.md; touch $F") }},
	{"chmod", 0, func(w *world, _ string) { w.sh("chmod 600 $F; chmod 644 $F") }},
}

// SPEC 4.1: one save of a real program is one index update, without flicker.
func TestRealWriters_4_1(t *testing.T) {
	w := newRealWorld(t)
	w.patient()
	w.save("ops/a.md", version("Before"))
	w.start()
	for _, s := range programs {
		if s.updates == 0 {
			w.save("ops/a.md", version("Saved"))
			w.eventually("prepared", func() bool { return w.title("ops/a.md") == "Saved" })
		}
		w.try(t, s)
	}
}

// SPEC 4.1: trees come, move and go with the usual commands; each document is one update.
func TestRealTrees_4_1(t *testing.T) {
	w := newRealWorld(t)
	w.save("z.md", version("Other"))
	w.start()
	const n = 40
	w.sh(`mkdir -p $OUT; for i in $(seq 40); do mkdir -p $OUT/t/$((i%5)); printf -- '---\ntitle: T%s\nkeywords: [kw-%s]\nsummary: s\n---\ntext %s\n' $i $i $i > $OUT/t/$((i%5))/$i.md; done`)
	for _, c := range []struct {
		line          string
		updates, docs int
	}{
		{"cp -r $OUT/t tree", n, n + 1},
		{"cp -r $OUT/t tree/", n, 2*n + 1},
		{"rm -r tree/t", n, n + 1},
		{"mv tree other", n, n + 1},
		{"mkdir deep; mv other deep/er", n, n + 1},
		{"mv deep/er $OUT/away", n, 1},
		{"mv $OUT/away back", n, n + 1},
		{"tar c back | tar x -C deep", n, 2*n + 1},
		{"rm -rf deep back", 2 * n, 1},
		{"rsync -r $OUT/t .", n, n + 1},
		{"rsync -r --delete --inplace $OUT/t/1/ t/2/", n / 5 * 2, n + 1},
		{"mv t/1/1.md t/1/1.MD; mv t/1/1.MD t/1/One.md", 1, n + 1},
		{"ln t/1/One.md t/hard.md", 1, n + 2},
		{"ln -s One.md t/1/soft.md; ln -s .. t/loop; ln -s $OUT t/out", 0, n + 2},
	} {
		if got := w.updatesOf(func() { w.sh(c.line) }); got != c.updates || len(w.paths()) != c.docs {
			t.Errorf("%s: %d updates, want %d; %d documents, want %d", c.line, got, c.updates, len(w.paths()), c.docs)
		}
	}
	if n := len(w.log.lines("not a document")); n != 3 {
		t.Errorf("%d links are named: %v", n, w.log.lines("not a document"))
	}
}

// SPEC 4.1, 1.5: a checkout that changes 1,000 files, and back: one update each, the same documents as before.
func TestRealCheckout_4_1_1_5(t *testing.T) {
	w := newRealWorld(t)
	w.save("z.md", version("Other"))
	w.sh(`git init -q -b one; echo seed > x; git add x; git commit -qm 0
for i in $(seq 800); do mkdir -p d$((i%20)); printf -- '---\ntitle: T%s\nkeywords: [kw-%s.]\nsummary: s\n---\ntext\n' $i $i > d$((i%20))/$i.md; done
git add d*; git commit -qm one; git checkout -qb two
rm d0/*.md d1/*.md d2/*.md d3/*.md d4/*.md; sed -i s/text/changed/ d*/*.md
for i in $(seq 200); do mkdir -p n; printf -- '---\ntitle: N%s\nkeywords: [kw-n%s.]\nsummary: s\n---\ntext\n' $i $i > n/$i.md; done
git add -A d* n; git commit -qm two; git checkout -q one`)
	w.start()
	ids := map[string]string{}
	for _, path := range w.paths() {
		ids[path] = w.record(path).DocID
	}
	if len(ids) != 801 {
		t.Fatalf("%d documents", len(ids))
	}
	start := time.Now()
	if n := w.updatesOf(func() { w.sh("git checkout -q two") }); n != 1000 || len(w.paths()) != 801 {
		t.Errorf("%d updates, want 1000; %d documents", n, len(w.paths()))
	}
	t.Logf("checkout of 1,000 files and its indexing: %s", time.Since(start))
	if !w.answers("kw-n7.", "n/7.md") || w.known("kw-20.") {
		t.Error("branch two is not what is found")
	}
	if n := w.updatesOf(func() { w.sh("git checkout -q one") }); n != 1000 {
		t.Errorf("%d updates, want 1000", n)
	}
	for _, path := range w.paths() {
		if w.record(path).DocID != ids[path] {
			t.Errorf("%s has another docId", path)
		}
	}
}
