package watcher

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitTree makes a repository with these files and returns its folder and all its paths, folders with a slash behind.
func gitTree(t *testing.T, files []string) (root string, paths []string) {
	t.Helper()
	root = t.TempDir()
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	seen := map[string]bool{}
	for _, f := range files {
		put(t, root, f, "x")
		for d := filepath.Dir(f); d != "."; d = filepath.Dir(d) {
			seen[d+"/"] = true
		}
		seen[f] = true
	}
	for p := range seen {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return root, paths
}

// gitIgnored asks git which of the paths are ignored.
func gitIgnored(t *testing.T, root string, paths []string) map[string]bool {
	t.Helper()
	cmd := exec.Command("git", "-C", root, "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(strings.Join(paths, "\x00"), "/\x00", "\x00") + "\x00")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("git check-ignore: %v", err)
	}
	ignored := map[string]bool{}
	for _, p := range bytes.Split(out, []byte{0}) {
		ignored[string(p)] = true
	}
	return ignored
}

func rulesOf(root string, paths []string) *ignoreRules {
	ig := &ignoreRules{base: root, lists: map[string]ignoreLists{}}
	ig.load("")
	for _, p := range paths {
		// As the walk does: the files of an ignored folder are never read.
		if dir, ok := strings.CutSuffix(p, "/"); ok && !ig.ignored(dir, true) {
			ig.load(dir)
		}
	}
	return ig
}

// compare checks each path's fate against git's.
func compare(t *testing.T, root string, paths []string, context string) {
	t.Helper()
	ig, want := rulesOf(root, paths), gitIgnored(t, root, paths)
	for _, p := range paths {
		bare, dir := strings.CutSuffix(p, "/")
		if got := ig.ignored(bare, dir); got != want[bare] {
			t.Errorf("%s: ignored(%q) = %v, git says %v", context, p, got, want[bare])
		}
	}
}

var ignoreTree = []string{
	"a.md", "b.md", "README.MD", "foo.md", "fooo.md", "#hash.md", "!bang.md", "sp .md ", "x[1].md", "x1.md", "错误码.md",
	"docs/a.md", "docs/keep.md", "docs/deep/a.md", "docs/deep/er/a.md", "docs/deep/er/b.md", "docs/docs/a.md",
	"build/a.md", "build/out/b.md", "src/build/a.md", "a/b/c/d.md", "a/x/a/b/c.md", "foo/bar.md", "fooz/bar.md", "fooz/y/bar.md",
	"tmp/keep/a.md", "a.b/c.md", "back\\slash.md",
}

// SPEC 4.1: what the ignore files name is no document, by git's own rules.
func TestIgnore_4_1_LikeGit(t *testing.T) {
	for _, rules := range []string{
		"*.md", "a.md", "/a.md", "docs", "docs/", "/docs/", "docs/a.md", "docs/*.md", "docs/**", "docs/**/a.md", "**/a.md", "**/deep",
		"**/a/b", "a/**/b", "a/**/b/c.md", "a/**", "/**", "**", "*", "build/\n!build/a.md", "build/*\n!build/a.md", "*.md\n!docs",
		"*.md\n!docs/deep", "*\n!*/\n!a.md", "/*\n!/docs\n/docs/*\n!/docs/keep.md", "[ab].md", "[!a].md", "[^a].md", "[a-c].md",
		"[[:alpha:]].md", "[[:digit:]].md", "x[[]1].md", "x\\[1\\].md", "foo?.md", "foo*.md", "foo**/bar.md", "f**o.md", "**foo.md",
		"foo**", "\\#hash.md", "#hash.md", "\\!bang.md", "!bang.md", "sp .md\\ ", "sp .md ", "sp .md \\ ", "a.md\r\n", "a.md  ",
		"\ufeffa.md", "错误码.md", "错?.md", "[", "[a", "a[", "\\", "a.md\\", "/", "//", "!", "\\a.md", "[]-]*.md", "[a-", "docs/deep/",
		"docs//a.md", "./a.md", "deep/er", "*/er", "**/er/**", "er/", "*.MD", "a.*/", "back\\\\slash.md", "docs/*/a.md", "*/*/a.md",
		"tmp\n!tmp/keep", "tmp/*\n!tmp/keep", "/a*/", "[[:nope:]].md", "a.md\n!a.md\na.md", "x[\\1].md", "x[0-\\[].md",
	} {
		root, paths := gitTree(t, ignoreTree)
		put(t, root, ".gitignore", rules+"\n")
		compare(t, root, paths, strings.ReplaceAll(rules, "\n", "|"))
	}
}

// Nested ignore files: the nearest one that has a matching line decides, an ignored folder stays ignored.
func TestIgnore_4_1_Nested(t *testing.T) {
	for _, files := range []map[string]string{
		{".gitignore": "*.md\n", "docs/.gitignore": "!a.md\n"},
		{".gitignore": "docs/\n", "docs/.gitignore": "!a.md\n"},
		{"docs/.gitignore": "/a.md\n", "docs/deep/.gitignore": "!a.md\nb.md\n"},
		{"docs/.gitignore": "deep/a.md\n/docs\n"},
		{".gitignore": "!docs/a.md\n", "docs/.gitignore": "*\n"},
	} {
		root, paths := gitTree(t, ignoreTree)
		for name, text := range files {
			put(t, root, name, text)
		}
		compare(t, root, paths, "nested")
	}
}

// Random rules over a small alphabet meet the corners that nobody thinks of.
func TestIgnore_4_1_RandomLikeGit(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	parts := []string{"a", "b", "*", "**", "/", "/", "?", "[ab]", "[!a]", "!", ".md", "\\a", "ab", "[a-", "]", "**/", "/**"}
	root, paths := gitTree(t, []string{"a", "b/a", "b/b/a", "ab.md", "b/ab.md", "ab/a/b/a.md", "ab/b/ab", "b/a.md", "bb/a/a/b", "bb/ab/a", "a.md"})
	for range 150 {
		for _, dir := range []string{"", "b/", "ab/"} {
			var lines []string
			for range 1 + random.IntN(3) {
				var line strings.Builder
				for range 1 + random.IntN(5) {
					line.WriteString(parts[random.IntN(len(parts))])
				}
				lines = append(lines, line.String())
			}
			put(t, root, dir+".gitignore", strings.Join(lines, "\n"))
			if dir != "" && random.IntN(2) == 0 {
				os.Remove(filepath.Join(root, dir, ".gitignore"))
			}
		}
		compare(t, root, paths, "random")
		if t.Failed() {
			for _, dir := range []string{"", "b/", "ab/"} {
				text, _ := os.ReadFile(filepath.Join(root, dir, ".gitignore"))
				t.Logf("seed %d: %s.gitignore:\n%s", seed, dir, text)
			}
			return
		}
	}
}

// A .knowledgeignore has the last word, however near a .gitignore is, and reaches into folders that git ignores if it names
// them. What is below a folder that it ignores itself stays ignored.
func TestIgnore_4_1_KnowledgeIgnoreHasTheLastWord(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		read  string // of a.md docs/x.md docs/y.md docs/deep/x.md
	}{
		{"same folder", map[string]string{".gitignore": "*.md", ".knowledgeignore": "!a.md"}, "a.md"},
		{"below git's", map[string]string{".gitignore": "x.md", "docs/.knowledgeignore": "!x.md"}, "a.md docs/deep/x.md docs/x.md docs/y.md"},
		{"below git's, takes away", map[string]string{".gitignore": "!x.md", "docs/.knowledgeignore": "/x.md"}, "a.md docs/deep/x.md docs/y.md"},
		{"above git's, brings back", map[string]string{"docs/.gitignore": "x.md", ".knowledgeignore": "!docs/x.md"}, "a.md docs/x.md docs/y.md"},
		{"above git's, takes away", map[string]string{"docs/.gitignore": "!x.md", ".knowledgeignore": "docs/x.md"}, "a.md docs/deep/x.md docs/y.md"},
		{"nearest of its kind", map[string]string{".knowledgeignore": "x.md", "docs/.knowledgeignore": "!/x.md"}, "a.md docs/x.md docs/y.md"},
		{"folder brought back", map[string]string{".gitignore": "docs/", ".knowledgeignore": "!docs/"}, "a.md docs/deep/x.md docs/x.md docs/y.md"},
		{"file in git's folder", map[string]string{".gitignore": "docs/", ".knowledgeignore": "!docs/x.md"}, "a.md docs/x.md"},
		{"files in git's folder", map[string]string{".gitignore": "docs", ".knowledgeignore": "!/docs/*.md"}, "a.md docs/x.md docs/y.md"},
		{"deep in git's folder", map[string]string{".gitignore": "docs", ".knowledgeignore": "!docs/deep/x.md"}, "a.md docs/deep/x.md"},
		{"any depth of git's folder", map[string]string{".gitignore": "docs", ".knowledgeignore": "!docs/**/x.md"}, "a.md docs/deep/x.md docs/x.md"},
		{"folder in git's folder", map[string]string{".gitignore": "docs", ".knowledgeignore": "!docs/deep/"}, "a.md docs/deep/x.md"},
		{"git's own cannot", map[string]string{".gitignore": "docs\n!docs/y.md", "docs/.gitignore": "!y.md", ".knowledgeignore": "!docs/x.md"}, "a.md docs/x.md"},
		{"nor a name alone", map[string]string{".gitignore": "docs", ".knowledgeignore": "!x.md\n!**/x.md"}, "a.md"},
		{"nor below its own", map[string]string{".knowledgeignore": "docs/\n!docs/x.md"}, "a.md"},
		{"folder only", map[string]string{".gitignore": "docs/", ".knowledgeignore": "!docs/x.md/"}, "a.md"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tc.files {
				put(t, root, name, text)
			}
			ig := rulesOf(root, []string{"docs/", "docs/deep/"})
			var read []string
			for _, path := range []string{"a.md", "docs/deep/x.md", "docs/x.md", "docs/y.md"} {
				if !ig.ignored(path, false) {
					read = append(read, path)
				}
			}
			if got := strings.Join(read, " "); got != tc.read {
				t.Errorf("read: %s\nwant: %s", got, tc.read)
			}
		})
	}
}

// The walk goes the same ways, and a change of the rules is seen to at once.
func TestIgnore_4_1_WalkIntoGitsFolder(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		b := newBench(t, cfg, ".gitignore", "docs/\n", ".knowledgeignore", "!docs/deep/x.md\n",
			"a.md", "A", "docs/y.md", "Y", "docs/deep/x.md", "X", "docs/deep/z.md", "Z").start()
		b.index("a.md", "A", "docs/deep/x.md", "X")
		b.put("docs/deep/x.md", "X2")
		b.put("docs/deep/z.md", "Z2")
		b.put("docs/new.md", "N")
		b.index("a.md", "A", "docs/deep/x.md", "X2")
		b.put("docs/.gitignore", "!y.md\n")
		b.put(".knowledgeignore", "!docs/*.md\na.md\n")
		b.index("docs/y.md", "Y", "docs/new.md", "N")
		b.rm(".knowledgeignore")
		b.index("a.md", "A")
	})
}

// Hostile patterns must end: the matcher gives up as git's does.
func TestIgnore_HostilePatternEnds(t *testing.T) {
	text := strings.Repeat("a", 200)
	if wildmatch(strings.Repeat("a*", 60)+"b", text, true) == match {
		t.Error("matched")
	}
}

func put(t testing.TB, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzRules: no ignore file makes the matcher panic or find a path excluded by a negated line alone.
func FuzzRules(f *testing.F) {
	f.Add("*.md\n!a/**/b\n", "a/x/b.md")
	f.Add("[[:alpha:]-z]\\", "a")
	f.Add("[a\\", "a")
	f.Add("**/**/*a*/\\**", "a/b/ca/*")
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 200 || len(path) > 60 {
			return
		}
		rules := parseRules(text)
		for i := range rules {
			rules[i].negated = true
		}
		ig := &ignoreRules{lists: map[string]ignoreLists{}}
		ig.set("", ignoreLists{gits: rules, ours: rules})
		if ig.ignored(path, false) {
			t.Errorf("%q excludes %q", text, path)
		}
	})
}
