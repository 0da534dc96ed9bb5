package ipc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"knowledged/lookup"
)

// ErrNoDaemon says that nobody answers on the socket.
var ErrNoDaemon = errors.New("no daemon is running")

// ErrNoAnswer says that somebody holds the socket and keeps silent. Nobody may take its place: it has the state.
var ErrNoAnswer = errors.New("the daemon does not answer")

// Client talks to a daemon through its Unix socket, or to URL. Only one of them must be set. It is safe for concurrent use
// and must not be copied. Error answers come back as *Problem.
type Client struct {
	Socket string
	URL    string        // of the loopback port, as http://127.0.0.1:7420, instead of Socket
	Token  string        // what ipc.token_file holds; the socket needs none
	Base   string        // the folder that is meant, absolute and without symbolic links: a daemon of another one refuses; empty for any
	Tool   string        // who asks, for the history; default "knowledged"
	Wait   time.Duration // how long to knock while there is no daemon yet; 0: not at all
	// Patience is how long an answer may take to begin, 30 s if 0. Calls that wait for work to be done (Put, Delete, Reindex,
	// Reconcile) may take as long as the daemon answers /healthz so soon.
	Patience time.Duration

	once sync.Once
	http *http.Client
}

// knock is how long a socket that is there but refuses is tried again in any case: its daemon is about to listen or to go.
const knock = 200 * time.Millisecond

// patience is far beyond what a daemon at work takes: only one that hangs, or was stopped, needs as long.
const patience = 30 * time.Second

// unhurried is the limit of calls that wait for work to be done: none, while the daemon lives.
const unhurried time.Duration = 0

func (c *Client) patience() time.Duration { return cmp.Or(c.Patience, patience) }

func noAnswer(limit time.Duration) error {
	return fmt.Errorf("%w: no answer within %s (a process that hangs, or was stopped?)", ErrNoAnswer, limit)
}

// Close lets kept-alive connections go.
func (c *Client) Close() { c.client().CloseIdleConnections() }

func (c *Client) client() *http.Client {
	c.once.Do(func() {
		c.http = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if c.URL == "" {
					network, address = "unix", c.Socket
				}
				return c.dial(ctx, network, address)
			},
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     time.Minute, // shorter than the daemon's: the client hangs up first
		}}
	})
	return c.http
}

// dial tries again for a while if there may be a daemon soon.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	start := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		missing := errors.Is(err, fs.ErrNotExist)
		if !missing && !refused(err) {
			return nil, err // no permission, too long a path: waiting will not help
		}
		patience := c.Wait
		if !missing {
			patience = max(patience, knock)
		}
		if time.Since(start)+pause > patience {
			return nil, fmt.Errorf("%w on %s: %w", ErrNoDaemon, address, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Lookup asks one question.
func (c *Client) Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error) {
	var a lookup.Answer
	return &a, c.send(ctx, c.patience(), "POST", "/v1/lookup", req, &a)
}

// Status is the daemon's state.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, "/v1/status")
}

// Ready says whether the first scan is done.
func (c *Client) Ready(ctx context.Context) (bool, error) {
	err := c.send(ctx, c.patience(), "GET", "/readyz", nil, nil)
	var p *Problem
	if errors.As(err, &p) && p.Status == http.StatusServiceUnavailable {
		return false, nil
	}
	return err == nil, err
}

// Lookups is the history, newest first.
func (c *Client) Lookups(ctx context.Context, since time.Time, limit int) ([]HistoryEntry, error) {
	l, err := get[HistoryList](ctx, c, "/v1/lookups"+query("limit", number(limit), "since", instant(since)))
	return l.Lookups, err
}

// Stats sums up the history.
func (c *Client) Stats(ctx context.Context, since time.Time) (Stats, error) {
	return get[Stats](ctx, c, "/v1/stats"+query("since", instant(since)))
}

// Events gives events until ctx ends or the caller breaks off; then, or if the daemon goes, an error ends the sequence.
func (c *Client) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		resp, err := c.do(ctx, c.patience(), "GET", "/v1/events", nil, nil)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, isData := strings.CutPrefix(lines.Text(), "data: ")
			if !isData {
				continue // the type is in the data as well; comments are heartbeats
			}
			var e Event
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				yield(Event{}, fmt.Errorf("read event: %w", err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		yield(Event{}, cmp.Or(ctx.Err(), lines.Err(), io.EOF))
	}
}

// get reads one JSON answer.
func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	var v T
	return v, c.send(ctx, c.patience(), "GET", path, nil, &v)
}

// send posts in as JSON (nil: no body) and reads the answer into out (nil: none is wanted).
func (c *Client) send(ctx context.Context, limit time.Duration, method, path string, in, out any) error {
	var body []byte
	header := http.Header{}
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("write request: %w", err)
		}
		header.Set("Content-Type", "application/json")
	}
	resp, err := c.do(ctx, limit, method, path, header, body)
	if err != nil {
		return err
	}
	return readAnswer(resp, out)
}

// do sends a request, whose answer must begin within limit, if there is one. The caller closes the body; an error answer is a
// *Problem already.
func (c *Client) do(ctx context.Context, limit time.Duration, method, path string, header http.Header, body []byte) (*http.Response, error) {
	if limit == unhurried {
		if err := c.alive(ctx); err != nil { // before anything is sent: a stopped daemon would do it when it goes on
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, cmp.Or(strings.TrimRight(c.URL, "/"), "http://localhost")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", cmp.Or(c.Tool, "knowledged"))
	if c.Base != "" {
		req.Header.Set(baseHeader, url.PathEscape(c.Base))
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.within(limit, req)
	if errors.Is(err, ErrNoAnswer) {
		return nil, err
	}
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its URL is made up, or the address is in it twice
		}
		return nil, fmt.Errorf("ask the daemon: %w", err)
	}
	if resp.StatusCode >= 400 {
		return nil, readProblem(resp)
	}
	return resp, nil
}

// within sends req and gives up if no answer begins in time: limit, and what may be waited for a daemon that is about to start.
func (c *Client) within(limit time.Duration, req *http.Request) (*http.Response, error) {
	if limit == unhurried {
		return c.watched(req)
	}
	ctx, cancel := context.WithCancel(req.Context())
	late := time.AfterFunc(limit+c.Wait, cancel)
	resp, err := c.client().Do(req.WithContext(ctx))
	switch inTime := late.Stop(); {
	case inTime && err == nil:
		resp.Body = &cancelling{resp.Body, cancel} // the body may take its time
		return resp, nil
	case inTime, req.Context().Err() != nil:
	case err == nil: // its body can't be read any more
		_ = resp.Body.Close()
		fallthrough
	case errors.Is(err, context.Canceled):
		err = noAnswer(limit)
	}
	cancel()
	return nil, err
}

// cancelling is a body whose request ends with it.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancelling) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func readAnswer(resp *http.Response, out any) error {
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is kept
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	return nil
}

func readProblem(resp *http.Response) error {
	defer resp.Body.Close()
	var p Problem
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || json.Unmarshal(data, &p) != nil || p.Status == 0 {
		return problem(resp.StatusCode, fmt.Sprintf("The daemon answered %s.", resp.Status))
	}
	return &p
}
