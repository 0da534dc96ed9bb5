package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// errTooSlow is that a call took longer than its own timeout, not its caller's.
var errTooSlow = errors.New("no answer within embedding.openai.timeout")

// server is where embeddings are asked for.
type server struct {
	url     *url.URL
	keyFile string
	timeout time.Duration
	http    *http.Client
	gate    gate
}

func newServer(base, keyFile string, timeout time.Duration) (*server, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("embedding.openai.base_url: %q is not a URL such as http://127.0.0.1:11434/v1", base)
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/embeddings") {
		u = u.JoinPath("embeddings")
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   maxBatches,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	return &server{url: u, keyFile: keyFile, timeout: timeout, http: &http.Client{
		Transport: transport,
		// Followed, a POST would become a GET, or the texts go where nobody has set them to go.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// post makes one call, and refuses an answer of more than limit bytes.
func (s *server) post(ctx context.Context, body []byte, limit int64) ([]byte, error) {
	if wait := s.gate.left(); wait > 0 {
		return nil, &RetryError{After: wait, Err: fmt.Errorf("%s has asked for a pause", s.url.Redacted())}
	}
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	call, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	reply, err := s.exchange(call, key, body, limit)
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case call.Err() != nil:
		err = fmt.Errorf("%w (%s)", errTooSlow, s.timeout)
	}
	return nil, fmt.Errorf("ask %s: %w", s.url.Redacted(), err)
}

func (s *server) exchange(ctx context.Context, key string, body []byte, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// Asking twice does no harm. An empty value is not sent; it lets net/http ask again on another connection when the
	// server had closed an idle one.
	req.Header["Idempotency-Key"] = []string{}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		var outer *url.Error // says the address again
		if errors.As(err, &outer) {
			err = outer.Err
		}
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "dial" { // somebody was there
			err = &oddAnswer{error: err, none: true}
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, s.refused(resp, key)
	}
	reply, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, &oddAnswer{error: fmt.Errorf("read answer: %w", err)}
	}
	if int64(len(reply)) > limit {
		return nil, &oddAnswer{error: fmt.Errorf("answer is longer than %d bytes", limit)}
	}
	return redact(reply, key), nil
}

// key reads the API key. It is small, and a call costs far more than the read.
func (s *server) key() (string, error) {
	if s.keyFile == "" {
		return "", nil
	}
	data, err := os.ReadFile(s.keyFile)
	if err != nil {
		return "", fmt.Errorf("embedding.openai.api_key_file: %w", err)
	}
	key := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	if key == "" {
		return "", fmt.Errorf("embedding.openai.api_key_file: %s is empty", s.keyFile)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return "", fmt.Errorf("embedding.openai.api_key_file: %s holds more than a key", s.keyFile)
		}
	}
	return key, nil
}

// redact takes the key out of what a server says, who may quote it, since that is logged.
func redact(data []byte, key string) []byte {
	if key == "" || !bytes.Contains(data, []byte(key)) {
		return data
	}
	return bytes.ReplaceAll(data, []byte(key), []byte("***"))
}

// refusal is an answer with another status than 200.
type refusal struct {
	status  int
	message string // the server's, short
	hint    string
}

func (r *refusal) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)))
	if r.message != "" {
		text += ": " + r.message
	}
	if r.hint != "" {
		text += " (" + r.hint + ")"
	}
	return text
}

// Is makes a proxy's time-out, while the server behind it works on, one like our own.
func (r *refusal) Is(target error) bool {
	const cloudflareTimeout = 524
	return target == errTooSlow && (r.status == http.StatusRequestTimeout || r.status == http.StatusGatewayTimeout || r.status == cloudflareTimeout)
}

// refused makes an error of a refusal. One that says when to come back shuts the gate until then.
func (s *server) refused(resp *http.Response, key string) error {
	const enough = 64 << 10 // what a connection is worth that is used again
	data, _ := io.ReadAll(io.LimitReader(resp.Body, enough))
	r := &refusal{status: resp.StatusCode, message: message(redact(data, key))}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		r.hint = "check the key in embedding.openai.api_key_file"
		if key == "" {
			r.hint = "the server wants a key: set embedding.openai.api_key_file"
		}
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		r.hint = "check embedding.openai.model, and that embedding.openai.base_url is right, as a rule up to /v1"
	case code >= 300 && code < 400:
		r.hint = "redirects are not followed: set embedding.openai.base_url to where it points, " + resp.Header.Get("Location")
	case code == http.StatusTooManyRequests || code >= 500:
		if wait, ok := retryAfter(resp.Header, time.Now()); ok {
			s.gate.shut(wait)
			return &RetryError{After: wait, Err: r}
		}
	}
	return r
}

// message is what a refusal says, in one short line. Servers put it into different fields.
func message(data []byte) string {
	var fields struct {
		Error           json.RawMessage
		Message, Detail string
	}
	text := string(data)
	if json.Unmarshal(data, &fields) == nil {
		var inner struct{ Message string }
		var plain string
		switch {
		case json.Unmarshal(fields.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case fields.Message != "":
			text = fields.Message
		case fields.Detail != "":
			text = fields.Detail
		case json.Unmarshal(fields.Error, &plain) == nil && plain != "":
			text = plain
		}
	}
	return excerpt(text)
}

// excerpt is the beginning of a text, in one printable line.
func excerpt(text string) string {
	const longest = 200 // characters
	text = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, text[:min(len(text), 8*longest)])
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}

// longestPause bounds a Retry-After; a longer one is taken for a mistake.
const longestPause = time.Hour

// retryAfter reads the header: seconds, or a date, which is taken by the server's own clock where it tells that.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(seconds) {
		return time.Duration(min(max(seconds, 0), longestPause.Seconds()) * float64(time.Second)), true
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return min(max(until.Sub(now), 0), longestPause), true
}

// gate is shut for the time a server has asked for, to passages and queries alike.
type gate struct {
	mu    sync.Mutex
	until time.Time
}

func (g *gate) left() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.until)
}

func (g *gate) shut(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(wait); until.After(g.until) {
		g.until = until
	}
}
