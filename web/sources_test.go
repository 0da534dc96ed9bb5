package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goSources are the package's own files but for the catalogue and tests.
func goSources(t *testing.T) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file == "catalogue.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	return texts
}
