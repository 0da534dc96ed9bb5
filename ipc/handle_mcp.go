package ipc

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// agents is the door for agents, package mcp. Its sessions see a request's caller and id through Caller and RequestID.
type agents interface {
	http.Handler // streamable HTTP
	// ServePipe serves one session of newline-delimited JSON until either side ends it or ctx ends, and closes conn.
	ServePipe(ctx context.Context, conn io.ReadWriteCloser) error
	// Close ends all sessions and lets no more in; it returns when they have ended or ctx has.
	Close(ctx context.Context)
}

// pipeProtocol is what a client asks to upgrade to.
const pipeProtocol = "mcp"

func (h *handler) mcp(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	if h.cfg.Agents == nil {
		return problem(http.StatusNotFound, "MCP is not served here.")
	}
	// A form or a text/plain fetch, which a browser sends to anyone, is no message whatever it holds.
	if r.Method == http.MethodPost && !mediaType(r, "application/json") {
		return problem(http.StatusUnsupportedMediaType, "The body must be sent as Content-Type: application/json.")
	}
	h.cfg.Agents.ServeHTTP(w, r)
	return nil
}

// mcpPipe turns a connection of the socket into a session of newline-delimited JSON, for `knowledged mcp`.
func (h *handler) mcpPipe(w http.ResponseWriter, r *http.Request) error {
	if h.cfg.Agents == nil {
		return problem(http.StatusNotFound, "MCP is not served here.")
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), pipeProtocol) {
		w.Header().Set("Upgrade", pipeProtocol)
		return problem(http.StatusUpgradeRequired, "This is for `knowledged mcp`, which asks to upgrade the connection.")
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	p := &pipe{Conn: conn, read: buffered.Reader, timeout: h.cfg.WriteTimeout}
	_ = conn.SetDeadline(time.Time{}) // what the write below would meet too
	if _, err := io.WriteString(p, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+pipeProtocol+"\r\n\r\n"); err != nil {
		conn.Close()
		return nil //nolint:nilerr // the client is gone, and there is no answer on a connection that was taken over
	}
	if err := h.cfg.Agents.ServePipe(r.Context(), p); err != nil {
		h.log.DebugContext(r.Context(), "an MCP session broke off", "requestId", RequestID(r.Context()), "err", err)
	}
	return nil
}

// pipe is a connection some of whose input has been read into a buffer. A reader that stops reading loses it.
type pipe struct {
	net.Conn
	read    *bufio.Reader
	timeout time.Duration // for each write; 0: none
}

func (p *pipe) Read(b []byte) (int, error) { return p.read.Read(b) }

func (p *pipe) Write(b []byte) (int, error) {
	if p.timeout > 0 {
		if err := p.SetWriteDeadline(time.Now().Add(p.timeout)); err != nil {
			return 0, err
		}
	}
	return p.Conn.Write(b)
}
