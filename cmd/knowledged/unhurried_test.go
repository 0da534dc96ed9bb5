package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"knowledged/config"
)

func jsonLogOn(t *testing.T, w io.Writer) (u *unhurried, log func(string)) {
	t.Helper()
	u = newUnhurried(w)
	l, _, err := newLogger(u, config.Log{Level: "info", Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	return u, func(msg string) { l.Info(msg) }
}

func messagesOf(t *testing.T, out string) (found []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var l struct {
			Msg   string
			Lines int
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if l.Lines > 0 {
			l.Msg = fmt.Sprint("lost ", l.Lines)
		}
		found = append(found, l.Msg)
	}
	return found
}

// While somebody reads, a line is out when the call returns: nothing is lost by what comes next.
func TestLogIsOutAtOnce(t *testing.T) {
	out := &lockedText{}
	u, log := jsonLogOn(t, out)
	for i := range 1000 {
		log(fmt.Sprint(i))
		if n := strings.Count(out.String(), "\n"); n != i+1 {
			t.Fatalf("%d lines after %d", n, i+1)
		}
	}
	fmt.Fprintln(u, `{"msg":"last"}`)
	if got := messagesOf(t, out.String()); len(got) != 1001 || got[1000] != "last" {
		t.Error(got[990:])
	}
}

// gate is a reader that does not read until it is opened.
type gate struct {
	open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(p)
}

// Lines that nobody reads stop nobody. Read late, they are complete and in order; those that were too many are counted where
// they lack.
func TestUnreadLogIsKeptThenCounted(t *testing.T) {
	for _, test := range []struct{ lines, size int }{{500, 10}, {300, unreadLines / 100}} {
		g := &gate{open: make(chan struct{})}
		u, log := jsonLogOn(t, g)
		begun := time.Now()
		text := strings.Repeat("x", test.size)
		for i := range test.lines {
			log(fmt.Sprint(text, i))
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("logging took %v", took)
		}
		begun = time.Now()
		u.end()
		if took := time.Since(begun); took < lastLines/2 || took > 5*lastLines {
			t.Errorf("the end took %v", took)
		}
		close(g.open)
		u.end()
		log("after")
		got := messagesOf(t, g.String())
		n := 0
		for i, msg := range got[:len(got)-1] {
			if msg == fmt.Sprint(text, n) {
				n++
				continue
			}
			var lost int
			if _, err := fmt.Sscanf(msg, "lost %d", &lost); err != nil || lost == 0 {
				t.Fatalf("line %d of %d is %.40q, expected number %d", i, len(got), msg, n)
			}
			n += lost
		}
		if n != test.lines || got[len(got)-1] != "after" {
			t.Errorf("%d of %d lines, then %.40q", n, test.lines, got[len(got)-1])
		}
		if small := test.lines*(test.size+200) < unreadLines; small != (len(got) == test.lines+1) {
			t.Errorf("%d lines kept of %d", len(got)-1, test.lines)
		}
	}
}

// A short command's reader may take its time: all of its text is for somebody.
func TestShortCommandWaitsForItsReader(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	written := make(chan struct{})
	go func() {
		defer close(written)
		fmt.Fprint(newUnhurried(g), "all of it")
	}()
	select {
	case <-written:
		t.Error("nobody has read it")
	case <-time.After(3 * lineWait):
	}
	close(g.open)
	await(t, written)
	if g.String() != "all of it" {
		t.Error(g.String())
	}
}
