package mcp

import (
	"fmt"
	"slices"
)

// giveUp answers a request that the daemon keeps silent on: it hangs or was stopped, and its session lasts. Should it go on
// after all, its answer comes too late.
func (c *conversation) giveUp(a *asked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.pending, a) {
		return
	}
	c.take(a.message.ID)
	c.silenced[string(a.message.ID)] = true
	text := fmt.Sprintf("the daemon does not answer: no answer within %s (a process that hangs, or was stopped?)", c.patience)
	_ = c.failLocked(a.message.ID, -32603, text) // whoever reads from the client notices that it went
	c.signal()
}

// close ends the waiting for answers: nothing is written any more.
func (c *conversation) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) > 0 {
		c.take(c.pending[0].message.ID)
	}
}
