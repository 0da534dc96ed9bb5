package ipc

import (
	"context"
	"sync"
	"time"
)

// Kinds of events: Event.Type.
const (
	EventDocument = "document" // Action says what happened to it
	EventIndex    = "index"    // the keyword index has taken a batch
	EventL1       = "l1"       // State of the semantic index has changed
	EventLagged   = "lagged"   // this client was too slow; Dropped events are missing: ask for everything again
)

// Values of Event.Action.
const (
	ActionCreated = "created"
	ActionUpdated = "updated"
	ActionDeleted = "deleted"
	ActionFailed  = "failed"
)

// Event is something that happened in the daemon, as `GET /v1/events` sends it.
type Event struct {
	Type string    `json:"type"`
	Time time.Time `json:"time"`

	Action string `json:"action,omitempty"`
	DocID  string `json:"docId,omitempty"`
	Source string `json:"source,omitempty"`
	Title  string `json:"title,omitempty"`
	Error  string `json:"error,omitempty"`

	MovedFrom string `json:"movedFrom,omitempty"` // the source that this document, with this docId, had before

	State   string   `json:"state,omitempty"`
	Updates uint64   `json:"updates,omitempty"`
	Pending *Pending `json:"pending,omitempty"`
	Dropped int      `json:"dropped,omitempty"`
}

// eventBuffer is how many events wait for a client that does not read.
const eventBuffer = 256

// Hub hands events to subscribers. The zero value is ready. Publish never blocks: a subscriber whose buffer is full loses
// events and is told so.
type Hub struct {
	mu   sync.Mutex // guards below, and the closing of channels
	subs map[*subscriber]struct{}
}

type subscriber struct {
	ch      chan Event
	dropped int // since the last event that went through
}

// Publish hands e to every subscriber. A zero Time is now.
func (h *Hub) Publish(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.send(e)
	}
}

// send needs Hub.mu. One slot is kept so that the note on a gap goes before the first event after it.
func (s *subscriber) send(e Event) {
	free := cap(s.ch) - len(s.ch)
	switch {
	case s.dropped == 0 && free > 0:
		s.ch <- e
	case s.dropped > 0 && free > 1:
		s.ch <- Event{Type: EventLagged, Time: e.Time, Dropped: s.dropped}
		s.ch <- e
		s.dropped = 0
	default:
		s.dropped++
	}
}

// Subscribe gives the events from now on. The channel is closed when ctx ends.
func (h *Hub) Subscribe(ctx context.Context) <-chan Event {
	s := &subscriber{ch: make(chan Event, eventBuffer)}
	h.mu.Lock()
	if h.subs == nil {
		h.subs = map[*subscriber]struct{}{}
	}
	h.subs[s] = struct{}{}
	h.mu.Unlock()
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, s)
		close(s.ch)
	})
	return s.ch
}
