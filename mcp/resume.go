package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// resume tells a daemon what an earlier one was told; to the first one it says nothing.
func (c *conversation) resume(daemon io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resumed++
	if c.resumed == 1 {
		return nil
	}
	clear(c.silenced)
	var again []json.RawMessage
	if c.initialize != nil {
		again = append(again, c.silently(c.initialize))
		if c.ready != nil {
			again = append(again, c.ready)
		}
		for _, uri := range slices.Sorted(maps.Keys(c.subscribed)) {
			again = append(again, c.silently(c.subscribed[uri]))
		}
	}
	for _, a := range slices.Clone(c.pending) {
		if a.sent++; a.sent > mostSent && !a.message.endless() {
			c.take(a.message.ID)
			if err := c.failLocked(a.message.ID, -32603, "the daemon hung up on this request"); err != nil {
				return err
			}
			continue
		}
		if a.late != nil {
			a.late.Reset(c.patience) // another daemon, another chance
		}
		again = append(again, a.raw)
	}
	for _, raw := range again {
		if err := send(daemon, raw); err != nil {
			return err
		}
	}
	return c.missed()
}

// missed tells a client that may have missed something that anything may have changed: what happened in between is unknown.
// It needs mu.
func (c *conversation) missed() error {
	if c.ready == nil {
		return nil // it has heard of nothing yet
	}
	if err := c.notify("notifications/resources/list_changed", nil); err != nil {
		return err
	}
	for _, uri := range slices.Sorted(maps.Keys(c.subscribed)) {
		if path, ok := pathOf(uri); ok {
			uri = uriOf(path) // as the daemon's own notifications spell it
		}
		if err := c.notify("notifications/resources/updated", map[string]any{"uri": uri}); err != nil {
			return err
		}
	}
	return nil
}

// notify needs mu.
func (c *conversation) notify(method string, params map[string]any) error {
	m := map[string]any{"jsonrpc": "2.0", "method": method}
	if params != nil {
		m["params"] = params
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.write(data)
}

// silently is a request under an id of our own, whose answer the client does not see. It needs mu.
func (c *conversation) silently(raw json.RawMessage) json.RawMessage {
	id := fmt.Sprintf(`"knowledged-resume-%d-%d"`, c.resumed, len(c.silenced))
	c.silenced[id] = true
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // note has parsed it
	fields["id"] = json.RawMessage(id)
	out, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return out
}
