package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapshot is what documents a folder holds on disk.
type snapshot struct {
	paths []string
	files map[string][]byte
}

// folderOf reads the folder the plain way: every regular file with a document's name, but for what ignore files name.
func folderOf(t testing.TB, base string) snapshot {
	t.Helper()
	out := snapshot{files: map[string][]byte{}}
	var walk func(dir string, rules [][]string)
	walk = func(dir string, rules [][]string) {
		entries, err := os.ReadDir(filepath.Join(base, dir))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, name := range []string{".gitignore", ".knowledgeignore"} {
			text, _ := os.ReadFile(filepath.Join(base, dir, name))
			lines = append(lines, strings.Fields(string(text))...)
		}
		rules = append(slices.Clone(rules), lines)
		for _, e := range entries {
			name, path := e.Name(), filepath.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(name, ".") || excluded(name, e.IsDir(), rules):
			case e.IsDir():
				walk(path, rules)
			case e.Type().IsRegular() && strings.HasSuffix(name, ".md") && !strings.Contains(name, ".sync-conflict-"):
				data, err := os.ReadFile(filepath.Join(base, path))
				if err != nil {
					t.Fatal(err)
				}
				out.paths = append(out.paths, path)
				out.files[path] = data
			}
		}
	}
	walk("", nil)
	slices.Sort(out.paths)
	return out
}

// excluded tells whether the rules, of the folders from the base folder down to the entry's own, exclude it: of the nearest
// folder with a line that matches, the last such line counts. Lines here are plain names.
func excluded(name string, dir bool, rules [][]string) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		for j := len(rules[i]) - 1; j >= 0; j-- {
			line := rules[i][j]
			pattern := strings.TrimPrefix(line, "!")
			if strings.TrimSuffix(pattern, "/") == name && (dir || !strings.HasSuffix(pattern, "/")) {
				return pattern == line
			}
		}
	}
	return false
}
