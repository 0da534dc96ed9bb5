package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// plainTerminal is standard output or standard error where that is a terminal. Documents and file names may hold anything: escape sequences among
// it would paint the screen, rename the window, or worse, so control characters are shown (as ^[) and not obeyed. The file is not
// embedded: its other ways to write would be used past this one.
type plainTerminal struct{ file *os.File }

// plainly wraps a terminal; anything else is somebody's file or program, who gets what there is.
func plainly(f *os.File) io.Writer {
	if terminal(f) {
		return plainTerminal{f}
	}
	return f
}

// obeyed is w for what is ours: colours, progress, an editor.
func obeyed(w io.Writer) io.Writer {
	if r, ok := w.(*remembering); ok {
		return obeyed(r.w)
	}
	if u, ok := w.(*unhurried); ok {
		return obeyed(u.w)
	}
	if t, ok := w.(plainTerminal); ok {
		return t.file
	}
	return w
}

// remembering keeps the first error of writing, which who prints for a person does not look at.
type remembering struct {
	w   io.Writer
	mu  sync.Mutex
	err error // mu guards it
}

func (r *remembering) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = cmp.Or(r.err, err)
	}
	return n, err
}

func (t plainTerminal) Write(p []byte) (int, error) {
	if _, err := t.file.Write(shown(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown writes control characters in caret notation, line feed and tab excepted, and those of the upper half as question marks.
func shown(p []byte) []byte {
	var b bytes.Buffer
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\n' || c == '\t':
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			b.WriteByte('^')
			b.WriteByte(c ^ 0x40)
		case c == 0xc2 && i+1 < len(p) && p[i+1] >= 0x80 && p[i+1] < 0xa0: // U+0080 to U+009F in UTF-8
			b.WriteByte('?')
			i++
		default:
			b.WriteByte(c)
		}
	}
	return b.Bytes()
}

// named is a file name for a message: in quotes if it holds what would break the line or not be seen.
func named(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }) {
		return strconv.Quote(name)
	}
	return name
}

// oneMessage is an error's text, of which no part can pass for a message of its own: file names with line feeds are quoted, and
// what else begins a line is indented.
func oneMessage(err error) string {
	text := err.Error()
	for _, name := range namesIn(err) {
		if quoted := named(name); quoted != name {
			text = strings.ReplaceAll(text, name, quoted)
		}
	}
	lines := strings.Split(text, "\n")
	for i := 1; i < len(lines); i++ {
		if lines[i] != "" && !strings.HasPrefix(lines[i], " ") {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// namesIn lists the files that an error and its causes name.
func namesIn(err error) (names []string) {
	switch e := err.(type) { //nolint:errorlint // each of the chain is looked at
	case *fs.PathError:
		names = append(names, e.Path)
	case *os.LinkError:
		names = append(names, e.Old, e.New)
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			names = append(names, namesIn(one)...)
		}
	} else if one := errors.Unwrap(err); one != nil {
		names = append(names, namesIn(one)...)
	}
	return names
}
