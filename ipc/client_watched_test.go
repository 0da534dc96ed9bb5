package ipc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener within a synctest bubble, where sockets would stop the clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// slowDaemon takes an hour for its work. A stopped one leaves every new request unanswered.
type slowDaemon struct {
	stopped atomic.Bool
	refuses atomic.Bool  // new connections
	fails   atomic.Bool  // answers /healthz with an error
	begun   atomic.Int32 // pieces of work
}

const slowWork = time.Hour

func (d *slowDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	health := r.URL.Path == "/healthz"
	_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that a client goes
	if !health {
		d.begun.Add(1)
		select {
		case <-r.Context().Done():
			return
		case <-time.After(slowWork):
		}
	}
	switch {
	case d.stopped.Load():
		<-r.Context().Done()
	case health && d.fails.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		_, _ = w.Write([]byte("{}"))
	}
}

// client talks to the daemon until the test ends.
func (d *slowDaemon) client(t *testing.T) *Client {
	l := make(pipes)
	srv := &http.Server{Handler: d}
	go func() { _ = srv.Serve(l) }()
	c := &Client{}
	c.once.Do(func() {
		c.http = &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			if d.refuses.Load() {
				return nil, ErrNoDaemon
			}
			ours, theirs := net.Pipe()
			l <- theirs
			return ours, nil
		}}}
	})
	t.Cleanup(func() {
		c.Close()
		_ = srv.Close()
	})
	return c
}

// work is each call that waits for some.
func work(ctx context.Context, c *Client) map[string]func() error {
	return map[string]func() error{
		"put":       func() error { _, _, err := c.Put(ctx, PutRequest{FileName: "a.md"}); return err },
		"delete":    func() error { _, err := c.Delete(ctx, "d", Match{}); return err },
		"reindex":   func() error { _, err := c.Reindex(ctx, "d"); return err },
		"reconcile": func() error { _, err := c.Reconcile(ctx, false); return err },
	}
}

// Work may take its time: while the daemon answers otherwise, if only by an error, or finishes its work before it goes.
func TestClientWaitsForWork(t *testing.T) {
	for name, later := range map[string]func(*slowDaemon){
		"answers": func(*slowDaemon) {},
		"fails":   func(d *slowDaemon) { d.fails.Store(true) },
		"goes":    func(d *slowDaemon) { d.refuses.Store(true) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var d slowDaemon
			c := d.client(t)
			for call, do := range work(t.Context(), c) {
				d.refuses.Store(false)
				time.AfterFunc(time.Second, func() { later(&d) })
				start := time.Now()
				if err := do(); err != nil || time.Since(start) != slowWork {
					t.Errorf("%s, %s: %v after %s", name, call, err, time.Since(start))
				}
				c.Close() // what is left of the last call can't be asked by
			}
		})
	}
}

// Stopped amid the work, it is told within two patiences: one until it is asked, one for the answer.
func TestClientDoesNotWaitForWorkOfADaemonThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d slowDaemon
		for call, do := range work(t.Context(), d.client(t)) {
			d.stopped.Store(false)
			const after = 10 * time.Minute
			time.AfterFunc(after, func() { d.stopped.Store(true) })
			start := time.Now()
			if err := do(); !errors.Is(err, ErrNoAnswer) || time.Since(start) < after || time.Since(start) > after+2*patience {
				t.Errorf("%s: %v after %s", call, err, time.Since(start))
			}
		}
	})
}

// What a stopped daemon finds in its socket it does when it goes on, though its client was told that it failed.
func TestClientAsksNoWorkOfADaemonThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d slowDaemon
		d.stopped.Store(true)
		for call, do := range work(t.Context(), d.client(t)) {
			start := time.Now()
			if err := do(); !errors.Is(err, ErrNoAnswer) || time.Since(start) != patience {
				t.Errorf("%s: %v after %s", call, err, time.Since(start))
			}
		}
		if n := d.begun.Load(); n > 0 {
			t.Errorf("%d pieces of work were asked for", n)
		}
	})
}
