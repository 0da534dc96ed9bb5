package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/lmittmann/tint"
)

// SPEC 6.4: what a document holds is shown on a terminal, not obeyed by it; a file gets it as it is.
func TestTerminalObeysNoDocument_6_4(t *testing.T) {
	const hostile = "red \x1b[31m title \x1b]0;pwned\a del \x7f csi \u009b2J back\rover\n\t支付"
	if got, want := string(shown([]byte(hostile))), "red ^[[31m title ^[]0;pwned^G del ^? csi ?2J back^Mover\n\t支付"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	screen := plainTerminal{write}
	if n, err := io.WriteString(screen, hostile); err != nil || n != len(hostile) {
		t.Errorf("%d bytes, %v", n, err)
	}
	write.Close()
	if got, err := io.ReadAll(read); err != nil || strings.ContainsAny(string(got), "\x1b\a") || !strings.Contains(string(got), "^[[31m") {
		t.Errorf("%q, %v", got, err)
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, ok := plainly(file).(*os.File); !ok {
		t.Error("a file is not written as it is")
	}
}

// SPEC 7.1: nor is what the log says of it, with colours or without.
func TestLogObeysNoDocument_7_1(t *testing.T) {
	for _, colourless := range []bool{false, true} {
		var b strings.Builder
		log := slog.New(tint.NewTextHandler(&b, &tint.Options{NoColor: colourless, ReplaceAttr: withoutControls}))
		const hostile = "a\x1b]0;pwned\a\x1b[31m\u009b2J\nhint: b.md"
		log.Warn("said "+hostile[:20], "path", hostile, "err", &fs.PathError{Op: "open", Path: hostile, Err: fs.ErrNotExist}, "list", []string{hostile})
		got := b.String()
		if strings.ContainsAny(got, "\a\u009b") || strings.Contains(got, "\x1b]") || strings.Contains(got, "\x1b[31m") || strings.Count(got, "\n") != 1 {
			t.Errorf("colourless %v: %q", colourless, got)
		}
		if !strings.Contains(got, "WRN") || !strings.Contains(got, "hint: b.md") {
			t.Errorf("colourless %v: %q", colourless, got)
		}
	}
}

// A file's name cannot pass for a message of ours.
func TestMessageQuotesNames_6_4(t *testing.T) {
	odd := "a\nhint: rm -rf.md"
	err := errors.Join(fmt.Errorf("index it: %w", &fs.PathError{Op: "open", Path: odd, Err: fs.ErrPermission}), errors.New("two"))
	if got, want := oneMessage(err), `index it: open "a\nhint: rm -rf.md": permission denied`+"\n  two"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := oneMessage(errors.New("what " + odd)); strings.Contains(got, "\nhint") {
		t.Errorf("%q begins a line", got)
	}
	if got := named("支付 é.md"); got != "支付 é.md" {
		t.Errorf("%q", got)
	}
}
