package knowledged

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed lists, for each package, what it may import of ours. The parse is in-process: a test that runs the go tool
// would be served stale from the test cache.
var allowed = map[string][]string{
	"hanzi":    {},
	"document": {"hanzi"},
	"synonyms": {"document"},
	"config":   {},
	"breaker":  {},
	"watcher":  {},

	"embedding":         {"breaker", "embedding/vecfile"},
	"embedding/vecfile": {},
	"chunker":           {"document"},
	"registry":          {"document"},
	"l0":                {"document", "hanzi"},
	"l1":                {"document", "embedding"},
	"l1/embedded":       {"document", "embedding", "embedding/vecfile", "l1"},
	"l1/milvus":         {"breaker", "document", "embedding", "l1"},
	"l1/l1test":         {"document", "l1"},
	"lookup":            {"document", "hanzi"},
	"ipc":               {"document", "lookup"},
	"mcp":               {"ipc", "lookup"},
	"web":               {"document", "ipc", "lint", "lookup"},
	"eval":              {},
	"packaging":         {},
	"state":             {"embedding", "embedding/vecfile", "l0", "l1/embedded", "registry"},
	"service":           {"packaging"},
	"client":            {"config", "document", "ipc", "lookup"},
	"doctor":            {"config", "daemon", "embedding/vecfile", "ipc", "l0", "registry", "watcher"},
	"importer":          {"document", "ipc", "watcher"},
	"lint":              {"document", "synonyms"},
	"lint/folder":       {"document", "l0", "lint", "synonyms", "watcher"},
	"daemon":            {"chunker", "config", "document", "embedding", "ipc", "l0", "l1", "l1/embedded", "l1/milvus", "lookup", "mcp", "registry", "state", "synonyms", "watcher", "web"},
	"cmd/knowledged":    {"config", "daemon", "doctor", "document", "importer", "ipc", "lint", "lint/folder", "lookup", "mcp", "registry", "service", "state"},
}

func TestArrowsBetweenPackagesAreOneWay(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != "." && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := path.Dir(filepath.ToSlash(file))
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		may, known := allowed[pkg]
		if !known && pkg != "." {
			t.Errorf("package %s is not in the map of layers_test.go and doc.go: add it to both", pkg)
		}
		seen[pkg] = true
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if dep, ours := strings.CutPrefix(name, "knowledged/"); ours && !slices.Contains(may, dep) {
				t.Errorf("%s imports %s; the map allows %v", file, dep, may)
			}
			if bleve := strings.HasPrefix(name, "github.com/blevesearch/"); bleve && pkg != "l0" {
				t.Errorf("%s imports %s: bleve stays inside l0", file, name)
			}
			if sdk := strings.HasPrefix(name, "github.com/milvus-io/") || strings.HasPrefix(name, "google.golang.org/grpc"); sdk && pkg != "l1/milvus" {
				t.Errorf("%s imports %s: the Milvus SDK stays inside l1/milvus", file, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("package %s of the map does not exist", pkg)
		}
	}
}

// Who imports the client gets neither index nor model.
func TestClientIsLight(t *testing.T) {
	heavy := []string{"l0", "l1", "l1/embedded", "l1/milvus", "embedding", "registry", "daemon", "watcher", "mcp"}
	seen := map[string]bool{}
	var visit func(pkg string)
	visit = func(pkg string) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		if slices.Contains(heavy, pkg) {
			t.Errorf("client reaches %s", pkg)
		}
		for _, dep := range allowed[pkg] {
			visit(dep)
		}
	}
	visit("client")
	if len(seen) < 4 {
		t.Errorf("only %v", seen)
	}
}
