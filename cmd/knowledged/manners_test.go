package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// everyCommand lists the commands that do something, by their path without "knowledged".
func everyCommand() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			add(sub)
		}
		if c.Runnable() && !c.HasSubCommands() || c.Name() == "mcp" {
			all[strings.TrimPrefix(c.CommandPath(), "knowledged ")] = c
		}
	}
	add(newRoot(streams{}))
	return all
}

// Commands that print nothing that a script would read, or print it in a form of its own.
var speechless = []string{
	"run", "mcp", "mcp install", "man", "help",
	"service install", "service uninstall", "service start", "service stop", "service restart",
}

func TestEveryCommandHasExamplesAndJSON_6_4(t *testing.T) {
	all := everyCommand()
	if len(all) < 25 {
		t.Fatalf("only %d commands", len(all))
	}
	for name, c := range all {
		if slices.Contains(speechless, name) {
			continue
		}
		if c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", name)
		}
		if c.Example == "" {
			t.Errorf("%s has no example", name)
		}
	}
	for _, name := range speechless {
		if all[name] == nil && name != "help" {
			t.Errorf("%s is no command", name)
		}
	}
}

// What an example shows can be typed: the command is there, and so are its flags.
func TestExamplesCanBeTyped_6_4(t *testing.T) {
	for name, c := range everyCommand() {
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(line, "#")
			for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", "|"), "|") {
				words := strings.Fields(part)
				if len(words) > 0 && words[0] == "sudo" {
					words = words[1:]
				}
				if len(words) == 0 || words[0] != "knowledged" {
					continue
				}
				found, rest, err := newRoot(streams{}).Find(words[1:])
				if err != nil || found.CommandPath() == "knowledged" {
					t.Errorf("%s: %q is no command: %v", name, part, err)
					continue
				}
				for _, word := range rest {
					if flag, isFlag := strings.CutPrefix(word, "--"); isFlag {
						flag, _, _ = strings.Cut(flag, "=")
						if found.Flag(flag) == nil {
							t.Errorf("%s: %q: %s has no --%s", name, part, found.CommandPath(), flag)
						}
					}
				}
			}
		}
	}
}

// The scripts that completion prints are read by the shells, where these are.
func TestCompletionScriptsAreReadByTheirShells_6_4(t *testing.T) {
	for shell, check := range map[string][]string{"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"}, "powershell": nil} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"completion", shell}, streams{out: &out, err: &errs}); code != exitDone || out.Len() < 1000 {
			t.Errorf("%s: exit code %d, %d bytes, %s", shell, code, out.Len(), &errs)
			continue
		}
		if len(check) == 0 {
			continue
		}
		program, err := exec.LookPath(check[0])
		if err != nil {
			continue // bash is everywhere
		}
		file := filepath.Join(t.TempDir(), shell)
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(program, append(check[1:], file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
}

// Man pages are there for all commands, the same from the same program, and mandoc finds no fault, where it is.
func TestManPages_6_4(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"man", dir}, streams{out: &bytes.Buffer{}, err: &errs}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"knowledged.1", "knowledged-lookup.1", "knowledged-docs-put.1", "knowledged-doctor.1"} {
		if !slices.Contains(pages, filepath.Join(dir, want)) {
			t.Errorf("no %s in %q", want, pages)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "knowledged-docs-put.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{".SH EXAMPLE", "if-match", "Auto generated"} {
		if strings.Contains(string(page), part) != (part != "Auto generated") {
			t.Errorf("%q in the page:\n%s", part, page)
		}
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		return // the pages were read above
	}
	for _, file := range pages {
		if said, err := exec.Command(mandoc, "-Tlint", "-Werror", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, said)
		}
	}
}
