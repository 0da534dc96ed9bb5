package ipc

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// slowest is the rate below which a client is taken for one that only wants to hold a connection, in bytes a second. The
// first timeout is free of it, so a slow start is fine.
const slowest = 16 << 10

// pacedBody closes the door on bodies that drip. A deadline for the whole body would cut a large upload on a slow link, one
// for each read would let a byte a second go on for ever: so the deadline moves with what has arrived.
type pacedBody struct {
	io.ReadCloser
	conn    *http.ResponseController
	start   time.Time
	timeout time.Duration
	arrived int64
	slow    bool // the deadline passed
}

// paceBody sets the first deadline at once. It also bounds net/http's own draining of a body that no handler reads.
func paceBody(r *http.Request, conn *http.ResponseController, timeout time.Duration) {
	if r.ContentLength == 0 {
		return // no deadline: net/http watches the idle connection to notice that the client is gone
	}
	b := &pacedBody{ReadCloser: r.Body, conn: conn, start: time.Now(), timeout: timeout}
	b.moveDeadline()
	r.Body = b
}

func (b *pacedBody) moveDeadline() {
	earned := time.Duration(b.arrived) * time.Second / slowest
	_ = b.conn.SetReadDeadline(b.start.Add(b.timeout + earned)) // an error would mean a connection without deadlines: a test's
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.moveDeadline()
	n, err := b.ReadCloser.Read(p)
	b.arrived += int64(n)
	switch {
	case err == io.EOF:
		_ = b.conn.SetReadDeadline(time.Time{}) // else it would end the handler's context while it works on the answer
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.slow = true
	}
	return n, err
}

// bodyError tells what went wrong with a body. The deadline is asked of the body itself: parsers between it and us hide
// the cause. What is left is a body that broke off.
func bodyError(r *http.Request, err error) error {
	var long *http.MaxBytesError
	if b, paced := r.Body.(*pacedBody); paced && b.slow {
		return problem(http.StatusRequestTimeout, "The body did not arrive in time.")
	}
	if err == nil || errors.As(err, &long) || errors.Is(err, ErrTooLarge) || errors.As(err, new(*Problem)) {
		return err
	}
	return badRequest("The body could not be read: it ends too early or is not framed as HTTP asks.")
}

// answer is the ResponseWriter of handlers. Each write gets its own deadline, so that a client which stops reading loses
// its connection and a long stream does not.
type answer struct {
	http.ResponseWriter
	conn    *http.ResponseController
	timeout time.Duration
	status  int // 0: nothing sent yet
}

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	_ = a.conn.SetWriteDeadline(time.Now().Add(a.timeout))
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	_ = a.conn.SetWriteDeadline(time.Now().Add(a.timeout))
	return a.ResponseWriter.Write(p)
}

// Flush serves handlers that ask for an http.Flusher.
func (a *answer) Flush() { _ = a.conn.Flush() }
