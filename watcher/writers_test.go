//go:build unix

package watcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// patient gives slow test machines time between the calls of one save.
func patient() Config {
	return Config{PollInterval: time.Hour, Settle: 150 * ms, MaxSettle: 2 * time.Second}
}

// SPEC 4.1: one save is one indexing, whatever calls the writer makes.
func TestWriters_4_1_OneSaveOneUpdate(t *testing.T) {
	for name, save := range map[string]func(b *bench){
		"in place": func(b *bench) { b.put("ops/a.md", "new") },
		"truncate, then write": func(b *bench) {
			f, err := os.OpenFile(b.file("ops/a.md"), os.O_WRONLY|os.O_TRUNC, 0)
			b.must(err)
			<-time.After(20 * ms)
			_, err = f.WriteString("new")
			b.must(err)
			b.must(f.Close())
		},
		"append in parts": func(b *bench) {
			f, err := os.Create(b.file("ops/a.md"))
			b.must(err)
			for _, part := range []string{"n", "e", "w"} {
				<-time.After(20 * ms)
				_, err = f.WriteString(part)
				b.must(err)
			}
			b.must(f.Close())
		},
		"hidden temporary file": func(b *bench) {
			b.put("ops/.syncthing.a.md.tmp", "new")
			b.mv("ops/.syncthing.a.md.tmp", "ops/a.md")
		},
		"visible temporary file": func(b *bench) {
			b.put("ops/~syncthing~a.md.tmp", "new")
			b.mv("ops/~syncthing~a.md.tmp", "ops/a.md")
		},
		"jetbrains": func(b *bench) {
			b.put("ops/a.md___jb_tmp___", "new")
			b.mv("ops/a.md", "ops/a.md___jb_old___")
			b.mv("ops/a.md___jb_tmp___", "ops/a.md")
			b.rm("ops/a.md___jb_old___")
		},
		"vim, backup by rename": func(b *bench) {
			b.put("ops/4913", "")
			b.rm("ops/4913")
			b.mv("ops/a.md", "ops/a.md~")
			b.put("ops/a.md", "new")
			b.must(os.Chmod(b.file("ops/a.md"), 0o644))
			b.rm("ops/a.md~")
		},
		"vim, backup by copy": func(b *bench) {
			b.put("ops/a.md~", "old")
			b.put("ops/a.md", "")
			b.put("ops/a.md", "new")
			b.rm("ops/a.md~")
		},
		"emacs": func(b *bench) {
			b.must(os.Symlink("user@host.123:456", b.file("ops/.#a.md")))
			b.put("ops/#a.md#", "ne")
			b.mv("ops/a.md", "ops/a.md~")
			b.put("ops/a.md", "new")
			b.rm("ops/.#a.md")
			b.rm("ops/#a.md#")
		},
		"macOS safe save": func(b *bench) {
			b.put("ops/a.md.sb-1234abcd-XyZ123/a.md", "new")
			b.mv("ops/a.md.sb-1234abcd-XyZ123/a.md", "ops/a.md")
			b.rm("ops/a.md.sb-1234abcd-XyZ123")
		},
		"delete, then create": func(b *bench) {
			b.rm("ops/a.md")
			b.put("ops/a.md", "new")
		},
		"sed -i": func(b *bench) {
			out, err := exec.Command("sed", "-i", "s/old/new/", b.file("ops/a.md")).CombinedOutput()
			if err != nil {
				b.t.Fatalf("sed: %v %s", err, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, patient(), "ops/a.md", "old").start()
			before := b.count("ops/a.md")
			save(b)
			b.await("the new text", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.known["ops/a.md"] == "new" })
			b.index("ops/a.md", "new")
			if got := b.count("ops/a.md") - before; got != 1 {
				t.Errorf("%d updates, want 1", got)
			}
			if len(b.skipped) > 0 {
				t.Errorf("skipped: %v", b.skipped)
			}
		})
	}
}

// SPEC 4.1: hidden folders, versions and backups never become documents, and cause neither batch nor report.
func TestWriters_4_1_HiddenAndBackups(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "ops/a.md", "1", ".git/x.md", "x").start()
		n := len(b.batches)
		for _, name := range []string{
			".trash/a.md", ".obsidian/x.md", ".stversions/ops/a~20260101-000000.md", ".git/y.md", "ops/.hidden.md",
			"ops/a.sync-conflict-20260101-000000-ABCDEFG.md", "ops/a.md~", "ops/.a.md.icloud", "ops/a.md.swp",
		} {
			b.put(name, "2")
		}
		b.put("ops/last.md", "3")
		b.index("ops/a.md", "1", "ops/last.md", "3")
		for _, batch := range b.batches[n:] {
			for _, path := range batch.Paths {
				if path != "ops/last.md" {
					t.Errorf("hint at %s", path)
				}
			}
		}
		if len(b.skipped) > 0 {
			t.Errorf("skipped: %v", b.skipped)
		}
	})
}

// A hard link is a document by its own name. A change through a name outside makes no event: the comparison finds it.
func TestWriters_4_2_HardLinkFromOutside(t *testing.T) {
	b := newBench(t, Config{PollInterval: 50 * ms}, "z.md", "z")
	put(t, b.root+"-out", "a.md", "1")
	b.must(os.Link(b.root+"-out/a.md", b.file("a.md")))
	b.start()
	b.must(os.Link(b.file("a.md"), b.file("b.md")))
	b.index("a.md", "1", "b.md", "1", "z.md", "z")
	put(t, b.root+"-out", "a.md", "2")
	b.index("a.md", "2", "b.md", "2", "z.md", "z")
}

// An edit of the same length whose mtime is put back shows in the ctime.
func TestWriters_4_2_SameSizeSameTime(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "a.md", "1")
		past := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		b.must(os.Chtimes(b.file("a.md"), past, past))
		b.start()
		b.put("a.md", "2")
		b.must(os.Chtimes(b.file("a.md"), past, past))
		b.index("a.md", "2")
	})
}

// chmod and touch are hints: a file may have become readable. So may a folder.
func TestWriters_4_1_PermissionsAndTouch(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "a.md", "1", "dir/b.md", "2").start()
		for _, change := range []func() error{
			func() error { return os.Chmod(b.file("a.md"), 0o600) },
			func() error { return os.Chtimes(b.file("a.md"), time.Now(), time.Now()) },
		} {
			b.mu.Lock()
			n := len(b.batches)
			b.mu.Unlock()
			b.must(change())
			b.await("a hint", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.batches) > n })
		}
		b.must(os.Chmod(b.file("dir"), 0o700))
		b.put("dir/c.md", "3")
		b.index("a.md", "1", "dir/b.md", "2", "dir/c.md", "3")
	})
}

// SPEC 4.1: pipes and sockets with a document's name are named and never opened; a folder with such a name is a folder.
func TestWriters_4_1_SpecialFiles(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "a.md", "1", "v1.2.md/inner.md", "2")
		b.must(syscall.Mkfifo(b.file("pipe.md"), 0o644))
		b.must(syscall.Mkfifo(b.file("pipe.txt"), 0o644))
		b.start()
		b.index("a.md", "1", "v1.2.md/inner.md", "2")
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		b.must(err)
		defer syscall.Close(fd)
		short := filepath.Join(os.TempDir(), "kb"+filepath.Base(t.TempDir())+".sock")
		b.must(syscall.Bind(fd, &syscall.SockaddrUnix{Name: short}))
		b.must(os.Rename(short, b.file("s.md")))
		b.await("reasons", func() bool { return b.reason("s.md") != "" })
		b.rm("a.md")
		b.must(syscall.Mkfifo(b.file("a.md"), 0o644))
		b.index("v1.2.md/inner.md", "2")
		b.await("reasons", func() bool { return b.reason("a.md") != "" })
		b.mu.Lock()
		if len(b.skipped) != 3 {
			t.Errorf("skipped: %v", b.skipped)
		}
		b.mu.Unlock()
		b.rm("pipe.md")
		b.put("pipe.md", "a file now")
		b.index("v1.2.md/inner.md", "2", "pipe.md", "a file now")
		if _, err := b.w.Stat("s.md"); err == nil {
			t.Error("Stat admits a socket")
		}
	})
}

// A folder that turns into a pipe must not block its listing.
func TestWriters_FolderBecomesPipe(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "dir/a.md", "1", "b.md", "2").start()
		b.rm("dir")
		b.must(syscall.Mkfifo(b.file("dir"), 0o644))
		b.index("b.md", "2")
	})
}
