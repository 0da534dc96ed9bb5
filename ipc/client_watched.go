package ipc

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// watched sends req and waits for as long as the daemon lives. At work, stopped or hanging, it is silent on this connection; only
// another one tells which.
func (c *Client) watched(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	watch, stop := context.WithCancel(ctx)
	lost := make(chan error, 1)
	go func() {
		err := c.silence(watch)
		if err != nil {
			cancel()
		}
		lost <- err
	}()
	resp, err := c.client().Do(req.WithContext(ctx))
	stop()
	silent := <-lost
	switch {
	case silent == nil && err == nil:
		resp.Body = &cancelling{resp.Body, cancel}
		return resp, nil
	case silent == nil:
	case err == nil: // its body can't be read any more
		_ = resp.Body.Close()
		fallthrough
	default:
		err = silent
	}
	cancel()
	return nil, err
}

// silence asks for a sign of life now and then, until there is none or ctx ends, which is no error. A daemon that takes no
// connections any more may be finishing its work.
func (c *Client) silence(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(c.patience()):
		}
		if err := c.alive(ctx); errors.Is(err, ErrNoAnswer) {
			return err
		}
	}
}

// alive asks for a sign of life. A refusal is one.
func (c *Client) alive(ctx context.Context) error {
	err := c.send(ctx, c.patience(), http.MethodGet, "/healthz", nil, nil)
	if _, refusal := errors.AsType[*Problem](err); refusal {
		return nil
	}
	return err
}
