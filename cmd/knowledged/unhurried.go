package main

import (
	"io"
	"sync"
	"time"
)

const (
	// lineWait is how long who logs waits until the line is out. While somebody reads, that takes microseconds, and nothing is
	// lost whatever happens to the process next.
	lineWait = 50 * time.Millisecond
	// unreadLines is how many bytes of lines are kept for a reader that is late.
	unreadLines = 1 << 20
	// lastLines is how long the end of the process waits for them.
	lastLines = time.Second
)

// unhurried is the standard error of a process that must go on where nobody reads that: an agent's pipe, a terminal after
// Ctrl-S. Until outlive is called it writes as any file does: a command that ends soon may wait for its reader.
type unhurried struct {
	w io.Writer
	q *lineQueue
}

func newUnhurried(w io.Writer) *unhurried { return &unhurried{w, &lineQueue{}} }

// to writes to another writer in the order of this one's lines.
func (u *unhurried) to(w io.Writer) *unhurried { return &unhurried{w, u.q} }

func (u *unhurried) Write(p []byte) (int, error) {
	if err := u.q.write(u.w, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// lineQueue is what has not been written yet. While there is any, one goroutine writes it.
type lineQueue struct {
	mu      sync.Mutex // guards below
	on      bool
	lines   []*queuedLine
	size    int           // bytes of lines
	lost    int           // lines, since the last one that was kept
	late    bool          // nobody reads: no line is waited for until all are out
	written chan struct{} // closed when all are out; nil: they are
	report  func(lost int)
}

type queuedLine struct {
	w    io.Writer
	text []byte
	lost int           // lines before this one
	done chan struct{} // closed when it is out
	err  error         // then
}

// outlive begins to queue. report writes, past the queue, how many lines were lost.
func (q *lineQueue) outlive(report func(lost int)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.on, q.report = true, report
}

func (q *lineQueue) write(w io.Writer, p []byte) error {
	q.mu.Lock()
	if !q.on {
		q.mu.Unlock()
		_, err := w.Write(p)
		return err
	}
	room := unreadLines
	if q.lost > 0 {
		room /= 2 // one gap, not one at every other line
	}
	if q.size+len(p) > room && q.size > 0 {
		q.lost++
		q.mu.Unlock()
		return nil
	}
	l := &queuedLine{w: w, text: append([]byte(nil), p...), lost: q.lost, done: make(chan struct{})}
	q.lines, q.size, q.lost = append(q.lines, l), q.size+len(p), 0
	if q.written == nil {
		q.written = make(chan struct{})
		go q.drain(q.written)
	}
	late := q.late
	q.mu.Unlock()
	if late {
		return nil
	}
	timeout := time.NewTimer(lineWait)
	defer timeout.Stop()
	select {
	case <-l.done:
		return l.err
	case <-timeout.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.late = q.written != nil
	return nil
}

// drain writes until nothing is left.
func (q *lineQueue) drain(written chan struct{}) {
	defer close(written)
	for {
		l, lost := q.next()
		if lost > 0 {
			q.report(lost)
		}
		switch {
		case l != nil:
			_, l.err = l.w.Write(l.text)
			close(l.done)
			q.mu.Lock()
			q.lines, q.size = q.lines[1:], q.size-len(l.text) // counted until it is out
			q.mu.Unlock()
		case lost == 0:
			return
		}
	}
}

// next is the first line and how many were lost before it; without both, the goroutine that asks is let go.
func (q *lineQueue) next() (l *queuedLine, lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) > 0 {
		return q.lines[0], q.lines[0].lost
	}
	lost, q.lost = q.lost, 0
	if lost == 0 {
		q.lines, q.late, q.written = nil, false, nil
	}
	return nil, lost
}

// end waits for what is queued, but not long.
func (u *unhurried) end() {
	u.q.mu.Lock()
	written := u.q.written
	u.q.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(lastLines):
	}
}
