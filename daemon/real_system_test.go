//go:build real && linux

package daemon

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"knowledged/config"
)

// inNamespace runs the test once more in a user namespace of its own, where limits can be set and folders mounted. It
// reports whether this is that run.
func inNamespace(t *testing.T, flags ...string) bool {
	const key = "TEST_INSIDE_NAMESPACE"
	if os.Getenv(key) == t.Name() {
		return true
	}
	if out, err := exec.Command("unshare", append(flags, "true")...).CombinedOutput(); err != nil {
		t.Fatalf("this system allows no user namespaces, which the test needs: %v %s", err, out)
	}
	cmd := exec.Command("unshare", append(flags, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), key+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// SPEC 4.2: with the kernel's own limit reached, a WARN names it and the remedy, and all is found all the same.
func TestRealWatchLimit_4_2(t *testing.T) {
	for name, c := range map[string]struct{ file, limit, named string }{
		"watches":  {"/proc/sys/user/max_inotify_watches", "16", "fs.inotify.max_user_watches"},
		"watchers": {"/proc/sys/user/max_inotify_instances", "0", "fs.inotify.max_user_instances"},
	} {
		_ = name
		if !inNamespace(t, "-U", "-r") {
			return
		}
		w := newWorld(t)
		before, err := os.ReadFile(c.file)
		w.must(err)
		w.must(os.WriteFile(c.file, []byte(c.limit), 0))
		w.cfg.Watch.PollInterval = config.Duration(200 * time.Millisecond)
		for i := range 64 {
			w.save("many/d"+string(rune('A'+i))+"/x.txt", "")
		}
		w.start()
		w.save("many/dZ/a.md", doc("Alpha", "kw-alpha"))
		w.save("many/d`/new/b.md", doc("Beta", "kw-beta"))
		w.eventually("found by polling", func() bool { return w.answers("kw-alpha", "many/dZ/a.md") && w.answers("kw-beta", "many/d`/new/b.md") })
		if s := w.status().Watch; s.PolledFolders < 48 || s.Folders != 67 {
			t.Errorf("status %+v", s)
		}
		lines := w.log.lines("WARN")
		if len(lines) != 1 || lines[0]["limit"] != c.named || !strings.Contains(lines[0]["remedy"].(string), c.named) {
			t.Errorf("log %v", lines)
		}
		w.must(os.WriteFile(c.file, before, 0))
		w.eventually("watched once there is room", func() bool { return w.status().Watch.PolledFolders == 0 })
		w.halt()
	}
}

// SPEC 4.2, 1.5: the disk with the folder is unmounted and mounted again.
func TestRealUnmount_4_2(t *testing.T) {
	if !inNamespace(t, "-U", "-r", "-m") {
		return
	}
	w := newWorld(t)
	disk := t.TempDir()
	mount := func() { w.must(syscall.Mount(disk, w.base, "", syscall.MS_BIND, "")) }
	mount()
	defer func() { _ = syscall.Unmount(w.base, syscall.MNT_DETACH) }()
	w.save("api/a.md", doc("Alpha", "kw-alpha"))
	w.start()
	id := w.record("api/a.md").DocID
	w.must(syscall.Unmount(w.base, 0))
	w.eventually("a WARN", func() bool { return len(w.log.lines("WARN")) > 0 })
	if !w.has("api/a.md") {
		t.Error("all was dropped at once")
	}
	w.eventually("dropped", func() bool { return !w.has("api/a.md") })
	time.Sleep(graveTime)
	mount()
	w.eventually("back", func() bool { return w.answers("kw-alpha", "api/a.md") })
	w.idle()
	if w.record("api/a.md").DocID != id {
		t.Error("another docId") // SPEC 1.5
	}
	w.save("api/a.md", doc("Beta", "kw-beta"))
	w.eventually("watched again", func() bool { return w.answers("kw-beta", "api/a.md") })
	// A fresh disk under the same path is another folder.
	w.must(syscall.Unmount(w.base, 0))
	w.must(syscall.Mount("none", w.base, "tmpfs", 0, ""))
	w.save("other.md", doc("Gamma", "kw-gamma"))
	w.eventually("the other disk's documents", func() bool { return w.answers("kw-gamma", "other.md") && !w.has("api/a.md") })
}

// Writes to a mapped file make no event; the comparison finds them by the time of the first write to a page.
func TestRealMappedWrites_4_2(t *testing.T) {
	w := newRealWorld(t)
	w.cfg.Watch.PollInterval = config.Duration(200 * time.Millisecond)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	f, err := os.OpenFile(w.abs("a.md"), os.O_RDWR, 0)
	w.must(err)
	defer f.Close()
	info, err := f.Stat()
	w.must(err)
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	w.must(err)
	copy(data[len("---\ntitle: "):], "Omega")
	w.eventually("found", func() bool { return w.title("a.md") == "Omega" })
	time.Sleep(50 * time.Millisecond)
	copy(data[len("---\ntitle: "):], "Delta") // the page is dirty already: no new time
	w.eventually("found by its hash", func() bool { return w.title("a.md") == "Delta" })
	w.must(syscall.Munmap(data))
}
