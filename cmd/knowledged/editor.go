package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// errNoEditor says that nobody knows which editor to open.
var errNoEditor = errors.New("no editor is known: neither $VISUAL nor $EDITOR is set")

// editor is the command line of the person's editor, as git and others find it.
func editor() (string, error) {
	if e := strings.TrimSpace(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))); e != "" {
		return e, nil
	}
	return "", errNoEditor
}

// edit opens a file in the editor and waits until it is closed.
func (g *globals) edit(ctx context.Context, editor, file string) error {
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, "sh", file) // it may come with arguments: code --wait
	if runtime.GOOS == "windows" {
		words := strings.Fields(editor)
		c = exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	}
	c.Stdin, c.Stdout, c.Stderr = g.io.in, obeyed(g.io.out), obeyed(g.io.err) // the terminal itself: an editor draws on it
	if err := c.Run(); err != nil {
		return fmt.Errorf("the editor %q: %w", editor, err)
	}
	return nil
}
