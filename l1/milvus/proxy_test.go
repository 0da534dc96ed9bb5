package milvus

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy stands before the server and misbehaves on demand.
type proxy struct {
	upstream string
	listener net.Listener
	hole     atomic.Bool  // swallows all, answers nothing
	delay    atomic.Int64 // of every piece, in nanoseconds
	wg       sync.WaitGroup

	mu    sync.Mutex // guards below
	down  bool
	conns map[net.Conn]struct{}
}

func newProxy(t testing.TB, upstream string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{upstream: upstream, listener: l, conns: make(map[net.Conn]struct{})}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.setDown(true)
		p.wg.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		u, err := net.DialTimeout("tcp", p.upstream, 5*time.Second)
		p.mu.Lock()
		if err != nil || p.down {
			c.Close()
			if err == nil {
				u.Close()
			}
			p.mu.Unlock()
			continue
		}
		p.conns[c], p.conns[u] = struct{}{}, struct{}{}
		p.mu.Unlock()
		p.wg.Go(func() { p.pump(c, u) })
		p.wg.Go(func() { p.pump(u, c) })
	}
}

func (p *proxy) pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if p.hole.Load() {
			continue
		}
		time.Sleep(time.Duration(p.delay.Load()))
		if _, err := to.Write(buf[:n]); err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

// setDown cuts all connections and takes no more, or takes them again.
func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		c.Close()
		delete(p.conns, c)
	}
}
