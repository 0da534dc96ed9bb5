package watcher

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// SPEC 4.1: an unreadable folder is named, holds nothing up, keeps its last known state and counts again once it can be
// read: at once with events, within the interval without. Root may read everything, so the watcher's thread gives up
// root's rights to files; without root, there are none to give up.
func TestTrouble_4_1_UnreadableFolderAsUser(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, "a.md", "1", "priv/x.md", "2", "later/y.md", "3")
		for dir := b.root; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
			b.must(os.Chmod(dir, 0o755))
		}
		b.must(os.Chmod(b.file("priv"), 0))
		if os.Geteuid() == 0 {
			b.before = func() {
				runtime.LockOSThread() // for good: the thread ends with its goroutine
				_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, 65534, 0, 0)
			}
		}
		b.start()
		b.index("a.md", "1", "later/y.md", "3")
		if got := b.reason("priv"); !strings.Contains(got, "permission denied") {
			t.Errorf("priv skipped because of %q", got)
		}
		b.must(os.Chmod(b.file("priv"), 0o755))
		b.index("a.md", "1", "priv/x.md", "2", "later/y.md", "3")
		b.must(os.Chmod(b.file("later"), 0))
		b.await("a reason", func() bool { return b.reason("later") != "" })
		b.index("a.md", "1", "priv/x.md", "2", "later/y.md", "3")
		b.must(os.Chmod(b.file("later"), 0o755))
		b.put("later/z.md", "4")
		b.index("a.md", "1", "priv/x.md", "2", "later/y.md", "3", "later/z.md", "4")
	})
}

// SPEC 4.2: a storm of 10,000 changes arrives whole.
func TestTrouble_4_2_Storm(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "a.md", "1").start()
	for i := range 10_000 {
		b.put(fmt.Sprintf("s%02d/%05d.md", i%50, i), "x")
	}
	b.await("all", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.known) == 10_001 })
	for i := range 50 {
		b.rm(fmt.Sprintf("s%02d", i))
	}
	b.index("a.md", "1")
}
