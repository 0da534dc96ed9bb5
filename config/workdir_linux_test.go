package config

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// The backup of the operations guide is called by an administrator, in their own home folder, as another account.
func TestLoadInAFolderTheCallerMayNotLookInto(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(t.TempDir(), "named.yaml")
	if err := os.WriteFile(file, []byte("log: {level: debug}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if os.Geteuid() == 0 {
		// Root may look into everything, so this thread is somebody else's, and the file theirs.
		const nobody = 65534
		for _, name := range []string{file, filepath.Dir(file), filepath.Dir(filepath.Dir(file))} {
			if err := os.Chown(name, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		runtime.LockOSThread()
		t.Cleanup(runtime.UnlockOSThread)
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Setfsuid(0) })
	}
	cwd, err := WorkingDir()
	if err != nil || cwd != RealPath(dir) {
		t.Fatalf("WorkingDir: %q, %v; want %q", cwd, err, dir)
	}
	for _, named := range []string{"", file} {
		loaded, err := Load(Options{File: named, Cwd: cwd, Env: []string{"HOME=" + filepath.Dir(file)}})
		if err != nil {
			t.Errorf("with the file %q: %v", named, err)
		} else if named != loaded.File {
			t.Errorf("read %q, not %q", loaded.File, named)
		}
	}
}
