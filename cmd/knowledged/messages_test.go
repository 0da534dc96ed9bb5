package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SPEC 6.4: help says what a flag is when it is not given.
func TestHelpSaysTheDefaultOfTopK_6_4(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"lookup", "--help"}, streams{out: &out, err: &errs}); code != exitDone || !strings.Contains(out.String(), "which is 5 unless set") {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
}

// A message names the file that is meant, not the temporary one beside it.
func TestReplaceFileNamesTheFile_6_3(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "settings.json")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{taken, filepath.Join(dir, "nowhere", "settings.json")} {
		err := replaceFile(path, []byte("{}"), 0o600)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), ".knowledged-") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// An answer that could not be written is no success.
func TestFullDiskIsNoSuccess_6_4(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.md", "b.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"version"}, {"config", "show"}, {"lookup", "--help"}, {"import", dir, "--dry-run", "--json"}, {"import", dir, "--dry-run"}} {
		var errs bytes.Buffer
		args = append(args, "--base", filepath.Join(t.TempDir(), "kb"))
		if code := run(t.Context(), args, streams{out: fullDisk{}, err: &errs}); code != exitFailed || strings.Count(errs.String(), "disk full") != 1 {
			t.Errorf("%q: exit code %d: %s", args, code, &errs)
		}
	}
}
