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
	var walk func(dir string, rules []ignoreLines)
	walk = func(dir string, rules []ignoreLines) {
		entries, err := os.ReadDir(filepath.Join(base, dir))
		if err != nil {
			t.Fatal(err)
		}
		var lines ignoreLines
		for i, name := range []string{".knowledgeignore", ".gitignore"} {
			text, _ := os.ReadFile(filepath.Join(base, dir, name))
			lines[i] = strings.Fields(string(text))
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

// addLinks adds those of the paths that lead through a link to a file in the base folder that is no document at its own place.
// Which link of several is read depends on what came first, so that the watcher is asked, and each answer checked.
func (s *snapshot) addLinks(t testing.TB, base string, paths []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]string{}
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(filepath.Join(base, path))
		if s.files[path] != nil || err != nil || real == filepath.Join(root, path) {
			continue
		}
		at, err := filepath.Rel(root, real)
		if err != nil || !filepath.IsLocal(at) || s.files[at] != nil {
			continue
		}
		if other := read[at]; other != "" {
			t.Errorf("%s is read as %s and as %s", at, other, path)
		}
		read[at] = path
		data, err := os.ReadFile(real)
		if err != nil {
			t.Fatal(err)
		}
		s.files[path] = data
		s.paths = append(s.paths, path)
	}
	slices.Sort(s.paths)
}

// ignoreLines are those of a folder's .knowledgeignore and .gitignore.
type ignoreLines [2][]string

// excluded tells whether the rules, of the folders from the base folder down to the entry's own, exclude it: of the nearest
// folder with a line that matches, the last such line counts. All .knowledgeignore go before all .gitignore. Lines here are
// plain names.
func excluded(name string, dir bool, rules []ignoreLines) bool {
	for kind := range len(ignoreLines{}) {
		for _, lines := range slices.Backward(rules) {
			for _, line := range slices.Backward(lines[kind]) {
				pattern := strings.TrimPrefix(line, "!")
				if strings.TrimSuffix(pattern, "/") == name && (dir || !strings.HasSuffix(pattern, "/")) {
					return pattern == line
				}
			}
		}
	}
	return false
}
