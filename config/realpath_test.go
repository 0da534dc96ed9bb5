package config

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that is not there yet has one name, too, whatever links lead to where it will be.
func TestRealPathOfWhatCannotBeLookedAt(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(real, "link")
	if err := os.Mkdir(filepath.Join(real, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("there", link); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		link:                              filepath.Join(real, "there"),
		filepath.Join(link, "not", "yet"): filepath.Join(real, "there", "not", "yet"),
		string(filepath.Separator):        string(filepath.Separator),
	} {
		if got := RealPath(dir); got != want {
			t.Errorf("%s is %s, want %s", dir, got, want)
		}
	}
}
