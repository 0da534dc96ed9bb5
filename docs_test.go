package knowledged

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"knowledged/config"
)

// guides are the documents that a user reads, English and Chinese.
var guides = [][2]string{
	{"README.md", "README.zh-CN.md"},
	{"docs/configuration.md", "docs/configuration.zh-CN.md"},
	{"docs/reference.md", "docs/reference.zh-CN.md"},
	{"docs/lint.md", "docs/lint.zh-CN.md"},
	{"docs/clients.md", "docs/clients.zh-CN.md"},
	{"docs/hot-reload.md", "docs/hot-reload.zh-CN.md"},
	{"docs/milvus.md", "docs/milvus.zh-CN.md"},
	{"docs/operations.md", "docs/operations.zh-CN.md"},
	{"docs/metrics.md", "docs/metrics.zh-CN.md"},
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// config's own tests prove that the example holds every setting with its default.
func TestGuidesNameEverySettingWithItsDefault(t *testing.T) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(config.Example()), &root); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	flatten("", root.Content[0], want)
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9_]+(?:\\.[a-z0-9_]+)*)` \\| [^|]+ \\| `([^|`]*)` \\| [^|]+ \\|$")
	for _, file := range guides[1] {
		got := map[string]string{}
		for _, m := range row.FindAllStringSubmatch(read(t, file), -1) {
			if _, twice := got[m[1]]; twice {
				t.Errorf("%s has two rows for %s", file, m[1])
			}
			got[m[1]] = m[2]
		}
		for key, value := range want {
			if v, ok := got[key]; !ok {
				t.Errorf("%s has no row for %s", file, key)
			} else if v != value {
				t.Errorf("%s says that %s is %s by default, it is %s", file, key, v, value)
			}
		}
		for key := range got {
			if _, ok := want[key]; !ok {
				t.Errorf("%s has a row for %s, which is no setting", file, key)
			}
		}
	}
}

// flatten lists the leaves of a mapping as the guides write them; an empty mapping is a leaf.
func flatten(prefix string, n *yaml.Node, into map[string]string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := prefix+n.Content[i].Value, n.Content[i+1]
		switch {
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			flatten(key+".", value, into)
		case value.Kind == yaml.MappingNode:
			into[key] = "{}"
		case value.Value == "":
			into[key] = `""`
		default:
			into[key] = value.Value
		}
	}
}

func TestGuidesNameEveryEndpoint(t *testing.T) {
	var api struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(read(t, "ipc/openapi.json")), &api); err != nil {
		t.Fatal(err)
	}
	for _, file := range guides[2] {
		text := read(t, file)
		for path, methods := range api.Paths {
			for method := range methods {
				name := "| `" + strings.ToUpper(method) + " " + path + "` |"
				if slices.Contains([]string{"get", "put", "post", "delete"}, method) && !strings.Contains(text, name) {
					t.Errorf("%s has no row %s", file, name)
				}
			}
		}
	}
}

// The commands are read from their source: package main cannot be imported.
func TestGuidesNameEveryCommandAndFlag(t *testing.T) {
	files, err := filepath.Glob("cmd/knowledged/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var flags, commands []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // f.StringVar(&x, "name", …)
				if fun, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasSuffix(fun.Sel.Name, "Var") && len(n.Args) > 3 {
					flags = append(flags, literal(n.Args[1]))
				}
			case *ast.KeyValueExpr: // Use: "name ARGUMENT"
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Use" {
					name, _, _ := strings.Cut(literal(n.Value), " ")
					commands = append(commands, name)
				}
			}
			return true
		})
	}
	if len(flags) < 10 || len(commands) < 10 {
		t.Fatalf("read only %d flags and %d commands from the source", len(flags), len(commands))
	}
	for _, file := range guides[2] {
		text := read(t, file)
		for _, name := range flags {
			if name != "" && !regexp.MustCompile("`--"+name+"[` =]").MatchString(text) {
				t.Errorf("%s does not name the flag --%s", file, name)
			}
		}
		for _, name := range commands {
			if name != "" && name != "knowledged" && !regexp.MustCompile("`(docs |config |mcp |service |state )?"+name+"[` ]").MatchString(text) {
				t.Errorf("%s does not name the command %s", file, name)
			}
		}
	}
}

// literal is the value of a string literal, or "" for another expression.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

// Headings, code and tables carry the structure: where they are equal, a section that one language lacks shows.
func TestGuidesAreEqualInBothLanguages(t *testing.T) {
	for _, pair := range guides {
		english, chinese := outlineOf(read(t, pair[0])), outlineOf(read(t, pair[1]))
		for i := range max(len(english), len(chinese)) {
			var a, b string
			if i < len(english) {
				a = english[i]
			}
			if i < len(chinese) {
				b = chinese[i]
			}
			if a != b {
				t.Errorf("%s and %s differ from here on:\n%q\n%q", pair[0], pair[1], a, b)
				break
			}
		}
	}
}

// outlineOf lists what must be equal in every language: levels of headings, code blocks whole, and of each row of a table
// its number of cells and the code in its first.
func outlineOf(text string) []string {
	var list []string
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			if fence == "" {
				fence = line
			} else {
				fence = ""
			}
			list = append(list, line)
		case fence != "":
			list = append(list, line)
		case strings.HasPrefix(line, "#"):
			list = append(list, line[:strings.IndexByte(line, ' ')])
		case strings.HasPrefix(line, "| "):
			cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), " | ")
			list = append(list, strconv.Itoa(len(cells))+" "+strings.Join(code.FindAllString(cells[0], -1), " "))
		}
	}
	return list
}

var code = regexp.MustCompile("`[^`]+`")

// A link to a file that is not there is worse than none.
func TestLinksBetweenGuidesLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, pair := range guides {
		for _, file := range pair {
			for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
					t.Errorf("%s links to %s: %v", file, m[1], err)
				}
			}
		}
	}
}
