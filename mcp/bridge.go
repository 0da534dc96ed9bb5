package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Bridge joins a client's standard streams to a daemon. It outlives the daemon: when that goes (an upgrade, or the process
// whose own daemon it was), Dial finds or starts another, and the bridge tells it what the client had told the old one. Each
// request here only reads, so those not yet answered are sent again.
type Bridge struct {
	// Dial opens a session. It is called again when a session ends before the client does.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
	Log  *slog.Logger
	// Patience is how long a request may be without an answer before the client is told that there is none: 30 s if 0.
	Patience time.Duration
}

const (
	// answerWithin is far beyond what a daemon at work takes for an answer.
	answerWithin = 30 * time.Second
	// drain is how long answers are waited for after the client has sent its last request.
	drain = 30 * time.Second
	// steady is how long a session must have lived for its end not to count as a failure to keep one.
	steady = 5 * time.Second
	// mostBroken is how many sessions in a row may end sooner.
	mostBroken = 8
	// longestPause between two attempts.
	longestPause = 500 * time.Millisecond
)

// Run copies until in ends and what it asked is answered, or until ctx ends. It may leave one read of in behind, which
// nothing can interrupt.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := make(chan line)
	stop := make(chan struct{})
	defer close(stop)
	go readLines(in, lines, stop)
	c := newConversation(out, cmp.Or(b.Patience, answerWithin))
	defer c.close()
	pause, broken := 10*time.Millisecond, 0
	for {
		conn, err := b.Dial(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		begun := time.Now()
		ended, err := b.session(ctx, conn, c, &lines)
		if ended {
			return err
		}
		if time.Since(begun) > steady {
			pause, broken = 10*time.Millisecond, 0
		}
		if broken++; broken > mostBroken {
			return fmt.Errorf("the daemon keeps hanging up: %w", err)
		}
		b.Log.Debug("the daemon hung up; looking for another", "err", err)
		select {
		case <-time.After(pause):
			pause = min(2*pause, longestPause)
		case <-ctx.Done():
			return nil
		}
	}
}

// session copies while conn lasts. ended is true when the client is done; lines becomes nil once it has sent all.
func (b *Bridge) session(ctx context.Context, conn io.ReadWriteCloser, c *conversation, lines *chan line) (ended bool, err error) {
	down := make(chan error, 1)
	if err := c.resume(conn); err != nil {
		return false, errors.Join(err, conn.Close())
	}
	go func() { down <- c.copyDown(conn) }()
	finish := func(ended bool, err error) (bool, error) {
		_ = conn.Close() // the reader ends with it
		below := <-down
		var client *clientError
		switch {
		case errors.As(below, &client), errors.As(err, &client):
			return true, client.err // nobody reads answers any more
		case err == nil && !ended:
			err = below
		}
		return ended, err
	}
	var late <-chan time.Time
	for {
		if *lines == nil && c.idle() {
			return finish(true, nil)
		}
		if *lines == nil && late == nil {
			late = time.After(drain)
		}
		select {
		case l, open := <-*lines:
			if !open {
				*lines = nil
				continue
			}
			if err := c.up(l, conn); err != nil {
				return finish(false, err)
			}
		case <-c.answered:
		case err := <-down:
			down <- err // for finish
			return finish(false, nil)
		case <-late:
			return finish(true, errors.New("the daemon did not answer in time"))
		case <-ctx.Done():
			return finish(true, nil)
		}
	}
}

// line is one message of the client.
type line struct {
	text []byte // without the line break
	long bool   // longer than a message may be: text is empty
}

func readLines(in io.Reader, out chan<- line, stop <-chan struct{}) {
	defer close(out)
	r := bufio.NewReaderSize(in, 64<<10)
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if len(l.text)+len(part) > maxMessage {
			l.text, l.long = nil, true
		}
		if !l.long {
			l.text = append(l.text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.text = bytes.TrimSpace(l.text)
		if l.long || len(l.text) > 0 {
			select {
			case out <- l:
			case <-stop:
				return
			}
		}
		if err != nil {
			return
		}
		l = line{}
	}
}
