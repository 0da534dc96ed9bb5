package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// conversation is what a bridge's client has said, as far as another daemon must be told it.
type conversation struct {
	answered chan struct{} // something was; capacity 1
	patience time.Duration // without an answer

	mu         sync.Mutex // guards below, and the order of lines to the client
	out        io.Writer
	initialize json.RawMessage            // answered well
	ready      json.RawMessage            // notifications/initialized
	subscribed map[string]json.RawMessage // by address
	pending    []*asked                   // requests without an answer, in order
	silenced   map[string]bool            // ids of what resume asked: the client did not, and gets no answer
	resumed    int
}

// asked is a request of the client.
type asked struct {
	message message
	raw     json.RawMessage
	sent    int         // how often it went to a daemon
	late    *time.Timer // fires when it has been without an answer for too long; nil: it may wait for ever
}

// mostSent is how often a request is sent again: one that ends the session each time is not worth a third.
const mostSent = 2

// message is as much of JSON-RPC as a bridge must understand.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Error   json.RawMessage `json:"error"`
}

func (m *message) hasID() bool   { return len(m.ID) > 0 && string(m.ID) != "null" }
func (m *message) request() bool { return m.Method != "" && m.hasID() }

// endless is a request whose answer is the end of its session.
func (m *message) endless() bool { return m.Method == "subscriptions/listen" }

// clientError says that the client's side of the bridge broke.
type clientError struct{ err error }

func (e *clientError) Error() string { return e.err.Error() }

func newConversation(out io.Writer, patience time.Duration) *conversation {
	return &conversation{out: out, patience: patience, answered: make(chan struct{}, 1), subscribed: map[string]json.RawMessage{}, silenced: map[string]bool{}}
}

// idle reports whether every request is answered.
func (c *conversation) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.pending, func(a *asked) bool { return !a.message.endless() })
}

// up hands a line to the daemon. What is no message is answered here: it would end the session there.
func (c *conversation) up(l line, daemon io.Writer) error {
	if l.long {
		return c.fail(nil, -32600, fmt.Sprintf("the message is longer than %d bytes", maxMessage))
	}
	parts, err := split(l.text)
	if err != nil {
		return c.fail(nil, -32700, err.Error())
	}
	for _, raw := range parts {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil || m.Version != "2.0" || !validID(m.ID) || m.Method == "" && !m.hasID() {
			return c.fail(nil, -32600, "that is not a JSON-RPC 2.0 message")
		}
		c.note(&m, raw)
	}
	return send(daemon, l.text)
}

// split gives the messages of a batch, or the one message.
func split(text []byte) ([]json.RawMessage, error) {
	if text[0] != '[' {
		if !json.Valid(text) {
			return nil, errors.New("that is not JSON")
		}
		return []json.RawMessage{text}, nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(text, &batch) != nil || len(batch) == 0 {
		return nil, errors.New("that is not a batch of messages")
	}
	return batch, nil
}

// validID takes strings and whole numbers, and that there is none.
func validID(id json.RawMessage) bool {
	if len(id) == 0 || id[0] == '"' || string(id) == "null" {
		return true
	}
	_, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil
}

// note remembers what the client says.
func (c *conversation) note(m *message, raw json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case m.request():
		a := &asked{message: *m, raw: raw, sent: 1}
		if !m.endless() {
			a.late = time.AfterFunc(c.patience, func() { c.giveUp(a) })
		}
		c.pending = append(c.pending, a)
	case m.Method == "notifications/initialized":
		c.ready = raw
	case m.Method == "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			c.take(p.RequestID)
		}
	}
}

// take removes a request from those without an answer. It needs mu.
func (c *conversation) take(id json.RawMessage) *asked {
	for i, a := range c.pending {
		if bytes.Equal(a.message.ID, id) {
			c.pending = slices.Delete(c.pending, i, i+1)
			if a.late != nil {
				a.late.Stop()
			}
			return a
		}
	}
	return nil
}

// signal says that something was answered.
func (c *conversation) signal() {
	select {
	case c.answered <- struct{}{}:
	default:
	}
}

// copyDown hands the daemon's messages to the client until either is gone.
func (c *conversation) copyDown(daemon io.Reader) error {
	r := bufio.NewReaderSize(daemon, 64<<10)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return err // half a line is none
		}
		if err := c.down(text); err != nil {
			return err
		}
	}
}

func (c *conversation) down(text []byte) error {
	parts, err := split(bytes.TrimSpace(text))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, raw := range parts {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Method == "" && c.silenced[string(m.ID)] {
			delete(c.silenced, string(m.ID))
			return nil
		}
		if m.Method == "" && m.hasID() {
			c.learn(c.take(m.ID), len(m.Error) > 0)
		}
	}
	c.signal()
	if _, err := c.out.Write(text); err != nil {
		return &clientError{fmt.Errorf("write to the client: %w", err)}
	}
	return nil
}

// learn keeps what a request that was answered has changed in its session. It needs mu.
func (c *conversation) learn(a *asked, failed bool) {
	if a == nil || failed {
		return
	}
	var p struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(a.message.Params, &p) // it was answered: it has the address if it needs one
	switch a.message.Method {
	case "initialize":
		c.initialize = a.raw
	case "resources/subscribe":
		c.subscribed[p.URI] = a.raw
	case "resources/unsubscribe":
		delete(c.subscribed, p.URI)
	}
}

// fail answers in the daemon's stead.
func (c *conversation) fail(id json.RawMessage, code int, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failLocked(id, code, text)
}

func (c *conversation) failLocked(id json.RawMessage, code int, text string) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return err
	}
	return c.write(data)
}

// write needs mu.
func (c *conversation) write(text []byte) error {
	if err := send(c.out, text); err != nil {
		return &clientError{fmt.Errorf("write to the client: %w", err)}
	}
	return nil
}

// send writes a line in one go: two halves could have another between them. A line break inside a message, which JSON
// allows between tokens, would end it.
func send(w io.Writer, text []byte) error {
	if bytes.ContainsAny(text, "\r\n") {
		var flat bytes.Buffer
		if json.Compact(&flat, text) == nil {
			text = flat.Bytes()
		}
	}
	_, err := w.Write(append(slices.Clone(text), '\n'))
	return err
}
