package web

import (
	"net/http"
	"sync"
	"time"

	"knowledged/ipc"
	"knowledged/lookup"
)

// tool is what the history calls lookups made here.
const tool = "web"

const (
	// askedAgain is how long the same query of the same address counts as one: reloading a page or going back to it is
	// not asking again.
	askedAgain = 10 * time.Minute
	// mostAsked bounds the memory of asked; forgetting costs a double entry.
	mostAsked = 500
)

// asked knows which lookups are in the history already.
type asked struct {
	mu   sync.Mutex // guards below
	last map[lookup.Request]time.Time
}

// first notes a lookup and reports whether it is a new one.
func (a *asked) first(req lookup.Request, now time.Time) bool {
	key := keyOf(req)
	a.mu.Lock()
	defer a.mu.Unlock()
	at, known := a.last[key]
	if known && now.Sub(at) < askedAgain {
		return false
	}
	if a.last == nil || len(a.last) >= mostAsked {
		a.last = map[lookup.Request]time.Time{}
	}
	a.last[key] = now
	return true
}

// forget takes a lookup back that failed: it is not in the history, and what was refused may be as long as an address.
func (a *asked) forget(req lookup.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, keyOf(req))
}

func keyOf(req lookup.Request) lookup.Request {
	return lookup.Request{Query: req.Query, SectionTitle: req.SectionTitle, Category: req.Category, Caller: req.Caller}
}

// lookup asks for a page. What is still being typed is a preview: it leaves no entry in the history. A page that is
// opened, and a query that its reader stayed with (record), is one that was asked.
func (s *Server) lookup(r *http.Request, req lookup.Request) (*lookup.Answer, error) {
	ctx := r.Context()
	req.RequestID, req.Caller, req.Tool = ipc.RequestID(ctx), ipc.Caller(ctx), tool
	if !req.Preview {
		req.Preview = !s.asked.first(req, time.Now())
	}
	answer, err := s.cfg.Backend.Lookup(ctx, req)
	if err != nil && !req.Preview {
		s.asked.forget(req)
	}
	return answer, err
}

// record takes note of a query that was typed and then looked at: app.js sends it once the reader pauses, presses Enter
// or follows a result. It asks again, which costs a lookup, so that the history holds what the daemon measured.
func (s *Server) record(w http.ResponseWriter, r *http.Request) error {
	if !fragment(r) { // a header that a foreign page cannot send
		return ipc.ErrNotFound
	}
	req := requestOf(r.URL.Query())
	req.RequestID, req.Caller, req.Tool = ipc.RequestID(r.Context()), ipc.Caller(r.Context()), tool
	if s.asked.first(req, time.Now()) {
		if _, err := s.cfg.Backend.Lookup(r.Context(), req); err != nil {
			s.asked.forget(req)
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
