package main

import (
	"errors"
	"strings"
	"testing"

	"knowledged/ipc"
)

// A text that one answer cannot hold is refused before it is asked for, with where to read it.
func TestDocsReadTooLong(t *testing.T) {
	long := ipc.Record{Source: "kb/big.md", FilePath: "/srv/kb/big.md", FileSize: ipc.MaxChars + 1}
	err := tooLong(long, ipc.ContentQuery{MaxChars: ipc.MaxChars}, false)
	exit, ok := errors.AsType[*exitError](err)
	if !ok || exit.code != exitFailed || !strings.Contains(exit.Error(), "kb/big.md has 100 MiB") || !strings.Contains(exit.hint, "/srv/kb/big.md") {
		t.Errorf("%v", err)
	}
	if err := tooLong(long, ipc.ContentQuery{MaxChars: 9}, true); err != nil {
		t.Errorf("a beginning: %v", err)
	}
	if err := tooLong(long, ipc.ContentQuery{MaxChars: ipc.MaxChars, Section: "x"}, false); err != nil {
		t.Errorf("a section: %v", err)
	}
	long.FileSize--
	if err := tooLong(long, ipc.ContentQuery{MaxChars: ipc.MaxChars}, false); err != nil {
		t.Errorf("the longest: %v", err)
	}
}
