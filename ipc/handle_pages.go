package ipc

import (
	"net/http"
	"strings"
)

// pages is the door for people, package web.
type pages interface {
	Pages() []Page
	// Refuse answers with p as a page: the token is missing, the handler failed. p.Status is not written yet.
	Refuse(w http.ResponseWriter, r *http.Request, p *Problem)
}

// Page is one address of the web page. It is on the loopback port alone, behind the guard of the API: browsers don't open
// Unix sockets. Pages are for people and change with each version, so openapi.json doesn't list them.
type Page struct {
	Method, Path string
	Access       access // Open, Read or History
	Handle       func(w http.ResponseWriter, r *http.Request) error
}

// Values of Page.Access.
const (
	Open    = open    // what holds nothing of the documents: styles, scripts
	Read    = read    // documents and lookups
	History = history // what others asked
)

func (h *handler) page(p Page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if requestOf(r.Context()).door == socket {
			h.refuse(w, r, problem(http.StatusNotFound, "The web page is on the HTTP port; /openapi.json lists what there is here."))
			return
		}
		if p := h.guard.enter(r); p != nil {
			h.refuse(w, r, p) // no page for these: a foreign name in the address bar must not show a field for the token
			return
		}
		var err error
		if refused := h.guard.checkToken(r, p.Access); refused != nil {
			err = refused
		} else if err = p.Handle(w, r); err == nil {
			return
		}
		if answer := h.problemFor(w, r, err); answer != nil {
			h.cfg.Pages.Refuse(w, r, answer)
		}
	}
}

// wantsPage tells people from programs, where the address does not: at an address that is nobody's. htmx accepts anything.
func (h *handler) wantsPage(r *http.Request) bool {
	return h.cfg.Pages != nil && requestOf(r.Context()).door != socket && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.URL.Path != "/v1" && !strings.HasPrefix(r.URL.Path, "/v1/") &&
		(strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/html") || r.Header.Get("HX-Request") == "true") &&
		h.guard.enter(r) == nil // no page for these, as in page
}

// turnAway refuses what is no route: people get a page, programs a Problem.
func (h *handler) turnAway(w http.ResponseWriter, r *http.Request, err error) {
	if !h.wantsPage(r) {
		h.refuse(w, r, err)
		return
	}
	if p := h.problemFor(w, r, err); p != nil {
		h.cfg.Pages.Refuse(w, r, p)
	}
}

// mountPages adds the web page's routes to those of the API.
func (h *handler) mountPages() {
	if h.cfg.Pages == nil {
		return
	}
	for _, p := range h.cfg.Pages.Pages() {
		h.mux.Handle(strings.TrimSpace(p.Method+" "+p.Path), h.page(p))
	}
}

// NeedsToken says whether a Problem is one that the right token would solve.
func (p *Problem) NeedsToken() bool { return p.Status == http.StatusUnauthorized }
