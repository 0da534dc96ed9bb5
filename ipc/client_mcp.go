package ipc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// MCP opens a session of the Model Context Protocol: newline-delimited JSON both ways, until either side closes.
func (c *Client) MCP(ctx context.Context) (io.ReadWriteCloser, error) {
	conn, err := c.dial(ctx, "unix", c.Socket) // the port has no pipe
	if err != nil {
		return nil, err
	}
	interrupt := func() { _ = conn.SetDeadline(time.Unix(1, 0)) }
	stop := context.AfterFunc(ctx, interrupt)
	defer stop()
	late := time.AfterFunc(c.patience(), interrupt)
	defer late.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/mcp/pipe", nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", pipeProtocol)
	req.Header.Set("User-Agent", cmp.Or(c.Tool, "knowledged"))
	if c.Base != "" {
		req.Header.Set(baseHeader, url.PathEscape(c.Base))
	}
	p := &pipe{Conn: conn, read: bufio.NewReader(conn)}
	if err := req.Write(conn); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoDaemon, err), conn.Close())
	}
	resp, err := http.ReadResponse(p.read, req)
	switch {
	case !late.Stop() && ctx.Err() == nil: // the session would end at once
		return nil, errors.Join(noAnswer(c.patience()), conn.Close())
	case err != nil: // it hung up: a daemon about to go
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoDaemon, err), conn.Close())
	case resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, errors.Join(readProblem(resp), conn.Close())
	}
	return p, nil
}
