package watcher

import (
	"os"
	"strings"
	"testing"
	"time"
)

func (b *bench) link(to, name string) {
	b.t.Helper()
	b.must(os.Symlink(to, b.file(name)))
}

// SPEC 4.1: what a link leads to within the base folder is read under the link's path if it counts nowhere else.
func TestLinks_4_1_TargetThatIsNoDocument(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "raw/y.txt", "Y", ".h/x.md", "X", ".h/dir/d.md", "D", "zz/.gitignore", "build/\n", "zz/build/i.md", "I", "zz/o.md", "O",
			"zz/build/sub/s.md", "S")
		put(t, b.root+"-out", "private.md", "secret")
		b.link("raw/y.txt", "y.md")
		b.link(".h/x.md", "x.md")
		b.link(".h/x.md", "x2.md")
		b.link(".h/dir", "dir")
		b.link(".h/dir/d.md", "e.md")
		b.link("zz/build/i.md", "i.md") // ignored by a file that the walk meets later
		b.link("zz/build/sub", "isub")
		b.link("zz/o.md", "o.md")
		b.link(b.root+"-out", ".h/away")
		b.link(".h/away/private.md", "leak.md")
		b.link(".h/away", "leakdir")
		b.link("../../../kb-out/private.md", ".h/dir/leak.md")
		b.start()
		want := []string{"y.md", "Y", "x.md", "X", "dir/d.md", "D", "i.md", "I", "isub/s.md", "S", "zz/o.md", "O"}
		b.index(want...)
		for path, want := range map[string]string{
			"o.md": "own place", "x2.md": "read as x.md", "e.md": "read below dir",
			"leak.md": "out of the base", "leakdir": "out of the base", "dir/leak.md": "out of the base",
		} {
			if got := b.reason(path); !strings.Contains(got, want) {
				t.Errorf("%s skipped because of %q, want %q", path, got, want)
			}
			if _, err := b.w.Stat(path); err == nil {
				t.Errorf("Stat admits %s", path)
			}
		}
		if _, err := b.w.Stat("leakdir/private.md"); err == nil {
			t.Error("Stat admits a file outside behind two links")
		}
		// Edits where no watch is, retargeting, and rules that give a target its own place back.
		b.put("raw/y.txt", "Y2")
		b.put(".h/x.md", "X2")
		b.put(".h/dir/d.md", "D2")
		b.index("y.md", "Y2", "x.md", "X2", "dir/d.md", "D2", "i.md", "I", "isub/s.md", "S", "zz/o.md", "O")
		b.rm("zz/.gitignore")
		b.index("y.md", "Y2", "x.md", "X2", "dir/d.md", "D2", "zz/build/i.md", "I", "zz/build/sub/s.md", "S", "zz/o.md", "O")
	})
}

// A link is no way to what nobody meant to publish.
func TestLinks_4_1_Private(t *testing.T) {
	for _, follow := range []bool{false, true} {
		b := newBench(t, Config{FollowSymlinks: follow}, ".git/config", "token", ".git/doc/a.md", "A", ".env", "SECRET=1", ".h/.env", "SECRET=2",
			"zz/.knowledgeignore", "drafts/\n*.tmp.md\nlog.txt\n", "zz/drafts/d.md", "D", "zz/x.tmp.md", "X", "zz/log.txt", "L", "zz/free.txt", "F")
		b.link(".git/config", "config.md")
		b.link(".git/doc", "gitdoc")
		b.link(".git/doc/a.md", "a.md")
		b.link(".env", "env.md")
		b.link(".h/.env", "env2.md")
		b.link("zz/drafts", "drafts")
		b.link("zz/drafts/d.md", "d.md")
		b.link("zz/x.tmp.md", "x.md")
		b.link("zz/log.txt", "log.md")
		b.link("zz/free.txt", "free.md")
		b.start()
		b.index("free.md", "F")
		for path, want := range map[string]string{
			"config.md": "git's own", "gitdoc": "git's own", "a.md": "git's own", "env.md": "hidden file", "env2.md": "hidden file",
			"drafts": ".knowledgeignore", "d.md": ".knowledgeignore", "x.md": ".knowledgeignore", "log.md": ".knowledgeignore",
		} {
			if got := b.reason(path); !strings.Contains(got, want) {
				t.Errorf("%s skipped because of %q, want %q", path, got, want)
			}
			if _, err := b.w.Stat(path); err == nil {
				t.Errorf("Stat admits %s", path)
			}
		}
		for _, path := range []string{"gitdoc/a.md", "drafts/d.md"} {
			if _, err := b.w.Stat(path); err == nil {
				t.Errorf("Stat admits %s", path)
			}
		}
		b.put("zz/.knowledgeignore", "")
		b.index("free.md", "F", "log.md", "L", "zz/drafts/d.md", "D", "zz/x.tmp.md", "X")
	}
}

// Kubernetes mounts a ConfigMap as links through `..data`, which it swaps for another.
func TestLinks_4_1_ConfigMap(t *testing.T) {
	for _, follow := range []bool{false, true} {
		// No comparison comes in time.
		b := newBench(t, Config{PollInterval: time.Hour, FollowSymlinks: follow}, "..1/cfg.md", "1", "..1/gone.md", "G", "..1/sub/s.md", "S1", "..2/cfg.md", "2", "..2/sub/s.md", "S2")
		put(t, b.root+"-out", "cfg.md", "secret")
		b.link("..1", "..data")
		b.link("..data/cfg.md", "cfg.md")
		b.link("..data/gone.md", "gone.md")
		b.link("..data/sub", "sub")
		b.start()
		b.index("cfg.md", "1", "gone.md", "G", "sub/s.md", "S1")
		b.link("..2", "..tmp")
		b.mv("..tmp", "..data")
		b.rm("gone.md")
		b.index("cfg.md", "2", "sub/s.md", "S2")
		if n := b.count("cfg.md"); n != 2 {
			t.Errorf("%d updates of cfg.md, want 2", n)
		}
		b.link(b.root+"-out", "..tmp")
		b.mv("..tmp", "..data")
		if follow {
			b.index("cfg.md", "secret")
		} else {
			b.index()
		}
	}
}

// SPEC 4.1: an edit of a linked file outside the base folder is seen without a comparison, and Status tells of it at once.
func TestLinks_4_1_EditOutside(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour, FollowSymlinks: true})
	put(t, b.root+"-out", "f.md", "1")
	b.link(b.root+"-out/f.md", "f.md")
	b.start()
	b.index("f.md", "1")
	put(t, b.root+"-out", "f.md", "22")
	b.idle()
	b.mu.Lock()
	got := b.known["f.md"]
	b.mu.Unlock()
	if got != "22" {
		t.Errorf("idle with %q, want the edit", got)
	}
	put(t, b.root+"-out", "f.md", "333")
	await(t, "the edit is read without being asked for", func() bool { return b.count("f.md") == 3 })
	b.must(os.Remove(b.root + "-out/f.md"))
	b.index()
}
