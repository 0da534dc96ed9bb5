package knowledged

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// daemonPackages are those whose code runs in the daemon. cmd/knowledged has the parts of `run` besides.
var daemonPackages = []string{"daemon", "watcher", "registry", "l0", "l1", "embedding", "lookup", "ipc", "mcp", "web", "breaker", "synonyms", "state", "cmd/knowledged"}

// computed are messages that are put together from texts which differ; the guide has each by these words.
var computed = map[string][]string{
	"daemon/report.go": {"what a document's author should mend", "the file is not indexed"},
	"watcher/base.go":  {"the base folder has no documents any more", "the base folder is empty though documents of it are known"},
}

// quieter are messages whose level is decided at run time, and is never a warning.
var quieter = []string{"document indexed", "document removed", "lookup"}

// The table of the operations guide and the code name the same messages.
func TestGuideExplainsEveryWarningAndError(t *testing.T) {
	want := map[string]string{} // message → where
	for _, pkg := range daemonPackages {
		err := filepath.WalkDir(filepath.FromSlash(pkg), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			for _, message := range messages(t, filepath.ToSlash(file)) {
				want[message] = file
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(want) < 40 {
		t.Fatalf("read only %d messages from the source", len(want))
	}
	row := regexp.MustCompile("(?m)^\\| (?:WARN|ERROR)[A-Z, ]* \\| `([^|]+)` \\| [^|]+ \\| [^|]+ \\|$")
	for _, file := range []string{"docs/operations.md", "docs/operations.zh-CN.md"} {
		have := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(read(t, file), -1) {
			have[m[1]] = true
			if want[m[1]] == "" {
				t.Errorf("%s explains %q, which nothing prints", file, m[1])
			}
		}
		for message, where := range want {
			if !have[message] {
				t.Errorf("%s does not explain %q of %s", file, message, where)
			}
		}
	}
}

// messages are what a file logs as a warning or an error, or with a level that is decided at run time.
func messages(t *testing.T, file string) (found []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			constants[spec.Names[0].Name] = literal(spec.Values[0])
		}
		return true
	})
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		at := messageArgument(call)
		if at < 0 {
			return true
		}
		message := strings.ReplaceAll(textOf(call.Args[at], constants), "`", "'") // which would end the code of the table
		switch {
		case slices.Contains(quieter, message):
		case message != "":
			found = append(found, message)
		case computed[file] == nil:
			t.Errorf("%s logs a message that is not in the source: name it in `computed`", file)
		}
		return true
	})
	if computed[file] != nil {
		found = slices.DeleteFunc(found, func(m string) bool { return strings.HasPrefix(m, "; ") }) // the end of a computed one
		found = append(found, computed[file]...)
	}
	return found
}

// messageArgument tells which argument of a call is a message that counts: -1 for other calls.
func messageArgument(call *ast.CallExpr) int {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	receiver := ""
	switch x := fun.X.(type) {
	case *ast.Ident:
		receiver = x.Name
	case *ast.SelectorExpr:
		receiver = x.Sel.Name
	}
	if !strings.HasSuffix(strings.ToLower(receiver), "log") {
		return -1
	}
	switch fun.Sel.Name {
	case "Warn", "Error":
		return 0
	case "WarnContext", "ErrorContext":
		return 1
	case "Log", "LogAttrs":
		return 2
	}
	return -1
}

// textOf is a message's text, or the literal part of one that is put together.
func textOf(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if text := textOf(e.X, constants); text != "" {
			return strings.TrimRight(text, ":; ")
		}
		return textOf(e.Y, constants)
	case *ast.Ident:
		return constants[e.Name]
	}
	return literal(e)
}
