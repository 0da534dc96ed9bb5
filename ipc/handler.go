package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// handler serves all routes for all doors.
type handler struct {
	cfg      Config
	guard    *guard
	mux      *http.ServeMux
	log      *slog.Logger
	stopping chan struct{} // closed when streams should end

	gate   sync.RWMutex // every request holds it for reading; guards closed
	closed bool
}

// handlerFunc answers, or returns the error to answer with. It must not return one after it has begun to write.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

func newHandler(cfg Config, g *guard, log *slog.Logger) *handler {
	h := &handler{cfg: cfg, guard: g, mux: http.NewServeMux(), log: log, stopping: make(chan struct{})}
	for _, rt := range h.routes() {
		h.mux.Handle(strings.TrimSpace(rt.method+" "+rt.path), h.guarded(rt.access, rt.handle))
	}
	h.mountPages()
	for _, pattern := range shadowed {
		h.mux.HandleFunc(pattern, h.unmatched)
	}
	h.mux.HandleFunc("/", h.unmatched)
	return h
}

// ServeHTTP is what all requests have in common: an id, deadlines, a log line, and that a panic ends only this request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.gate.RLock()
	defer h.gate.RUnlock()
	if h.closed {
		panic(http.ErrAbortHandler) // read off its connection at the last moment; the backend may be gone
	}
	start := time.Now()
	req := newRequest(r)
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, req))
	conn := http.NewResponseController(w)
	paceBody(r, conn, h.cfg.BodyTimeout)
	a := &answer{ResponseWriter: w, conn: conn, timeout: h.cfg.WriteTimeout}
	a.Header().Set("X-Request-Id", req.id)
	a.Header().Set("X-Content-Type-Options", "nosniff")
	a.Header().Set("Cache-Control", "no-store")
	defer func() { // of a panic as well
		h.cfg.Metrics.count(r, a.status)
		h.log.DebugContext(r.Context(), "request", "requestId", req.id, "method", r.Method, "path", r.URL.Path,
			"status", a.status, "took", time.Since(start), "caller", req.caller)
	}()
	defer h.recovered(a, r)
	if plainPath(r.URL) {
		h.mux.ServeHTTP(a, r)
	} else {
		h.turnAway(a, r, badRequest("The path has an empty part, or one that leads elsewhere."))
	}
}

// close waits for the requests under way and lets no more in. The backend's methods end with their contexts.
func (h *handler) close() {
	h.gate.Lock()
	h.closed = true
	h.gate.Unlock()
}

// plainPath refuses what ServeMux would answer with a redirect to a "cleaned" path: for a PUT that is another document.
func plainPath(u *url.URL) bool {
	p, rooted := strings.CutPrefix(u.EscapedPath(), "/")
	if !rooted {
		return false
	}
	for p != "" {
		segment, rest, more := strings.Cut(p, "/")
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
		if p = rest; !more {
			break
		}
	}
	return true
}

func (h *handler) guarded(need access, handle handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p := h.guard.check(r, need); p != nil {
			h.refuse(w, r, p)
			return
		}
		if err := h.misdirected(r); err != nil {
			h.refuse(w, r, err)
			return
		}
		if err := handle(w, r); err != nil {
			h.refuse(w, r, err)
		}
	}
}

// unmatched tells a wrong path from a wrong method. What is not a route is guarded as one: nothing can be probed from afar.
func (h *handler) unmatched(w http.ResponseWriter, r *http.Request) {
	need := write
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		need = read
	}
	if p := h.guard.check(r, need); p != nil {
		h.turnAway(w, r, p)
		return
	}
	var allowed []string
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE"} {
		other := *r
		other.Method = method
		if _, pattern := h.mux.Handler(&other); pattern != "/" && !slices.Contains(shadowed, pattern) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		detail := "There is nothing here; /openapi.json lists what there is."
		if h.wantsPage(r) {
			detail = "No page has this address."
		}
		h.turnAway(w, r, problem(http.StatusNotFound, detail))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	last := len(allowed) - 1
	use := allowed[last]
	if last > 0 {
		use = strings.Join(allowed[:last], ", ") + " or " + use
	}
	detail := fmt.Sprintf("%s is not for this path, but %s.", shorten(r.Method), use)
	if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/v1/documents") {
		detail += " A file is saved with PUT /v1/documents/{category}/{fileName}; without a category with POST /v1/documents."
	}
	h.turnAway(w, r, problem(http.StatusMethodNotAllowed, detail))
}

// refuse answers with a Problem.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if p := h.problemFor(w, r, err); p != nil {
		_ = writeBody(w, p.Status, "application/problem+json", p) // a Problem can be marshalled
	}
}

// problemFor is the Problem to answer err with, its headers set, logged if it is the daemon's fault; nil if nobody is
// there to read it.
func (h *handler) problemFor(w http.ResponseWriter, r *http.Request, err error) *Problem {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return nil //nolint:nilerr // the client is gone: nobody reads an answer, and it is no fault of ours
	}
	p := *problemOf(err) // a copy: the same value may be another request's
	p.RequestID = RequestID(r.Context())
	if p.cause != nil {
		level := slog.LevelWarn // the disk, say: the operator's to mend
		if p.Status == http.StatusInternalServerError {
			level = slog.LevelError
		}
		h.log.Log(r.Context(), level, "request failed", "requestId", p.RequestID, "method", r.Method, "path", r.URL.Path,
			"status", p.Status, "err", p.cause)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="knowledged"`)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestEntityTooLarge:
		if !drained(r) {
			w.Header().Set("Connection", "close") // the rest of the body is not wanted
		}
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close")
	}
	w.Header().Del("ETag")
	if p.etag != "" {
		w.Header().Set("ETag", etag(p.etag))
	}
	return &p
}

// drainBytes is how much of a body that is too large is read all the same.
const drainBytes = 1 << 20

// drained reads on to the end of a body that is only a little too large, and reports whether it got there. A client that
// is still sending would otherwise wait for net/http's half second before a close, or see a broken pipe and no answer.
func drained(r *http.Request) bool {
	_, err := io.CopyN(io.Discard, r.Body, drainBytes)
	return errors.Is(err, io.EOF)
}

// recovered ends a request that panicked, and only that.
func (h *handler) recovered(a *answer, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // asked for: net/http closes the connection and says nothing
	}
	cause := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if a.status == 0 {
		h.refuse(a, r, cause)
		return
	}
	h.log.ErrorContext(r.Context(), "request failed after it was half answered", "requestId", RequestID(r.Context()),
		"method", r.Method, "path", r.URL.Path, "err", cause)
	panic(http.ErrAbortHandler) // the client must not take half an answer for a whole one
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	return writeBody(w, status, "application/json", v)
}

// writeBody marshals before it writes, so that what cannot be marshalled is a proper error.
func writeBody(w http.ResponseWriter, status int, contentType string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails only if the client is gone
	return nil
}
