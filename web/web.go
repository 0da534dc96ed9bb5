// Package web is the door for people: pages to search, to read a document, to see the daemon's state and to edit.
//
// All HTML is made here with html/template; htmx swaps fragments of it, and static/app.js and editor.js do what needs a
// memory: the token, keys, the text being edited. A page asked for by htmx (header HX-Request) is answered with its <main>
// alone, so every address works without JavaScript too, but for saving. Nothing comes from elsewhere and nothing is inline: the
// Content-Security-Policy says so and a test in a real browser holds every page to it.
//
// Where reading needs the token (ipc.http_auth: all), a page is answered with a field for it; app.js keeps the token in
// the tab's sessionStorage, sends it as a header and asks for the page again. It is never in an address or a cookie.
package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"knowledged/ipc"
	"knowledged/lookup"
)

// backend is what of the daemon the pages show. Errors are those of ipc.
type backend interface {
	Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error)
	Status(ctx context.Context) (ipc.Status, error)
	reader
	journal
}

type reader interface {
	Documents(ctx context.Context, q ipc.DocumentsQuery) (ipc.DocumentList, error)
	Document(ctx context.Context, docID string) (ipc.Record, error)
	BySource(ctx context.Context, source string) (ipc.Record, error)
	Content(ctx context.Context, docID string, q ipc.ContentQuery) (ipc.Content, error)
}

type journal interface {
	Lookups(ctx context.Context, since time.Time, limit int) ([]ipc.HistoryEntry, error)
	Stats(ctx context.Context, since time.Time) (ipc.Stats, error)
}

// Config says what the pages are about.
type Config struct {
	Backend     backend
	BaseName    string // the first part of every source
	Version     string
	Fallback    bool        // knowledge.front_matter.fallback, for lint
	HasToken    func() bool // a token is set: documents can be saved and the history read; a reload may set one
	MaxFileSize int64       // bytes of one document
}

// Server makes the pages. It starts nothing.
type Server struct {
	cfg    Config
	pages  map[language]*pageSet
	assets map[string]asset
	asked  asked
	log    *slog.Logger
}

// New parses the templates; an error in them is a fault of the build.
func New(cfg Config, log *slog.Logger) (*Server, error) {
	cfg.MaxFileSize = cmp.Or(cfg.MaxFileSize, 8<<20)
	s := &Server{cfg: cfg, log: log}
	var err error
	if s.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	if s.pages, err = parsePages(s.assets); err != nil {
		return nil, err
	}
	return s, nil
}

// Pages are the routes, as ipc mounts them.
func (s *Server) Pages() []ipc.Page {
	pages := []ipc.Page{
		{Method: "GET", Path: "/{$}", Access: ipc.Read, Handle: s.search},
		{Method: "POST", Path: "/asked", Access: ipc.Read, Handle: s.record},
		{Method: "GET", Path: "/docs/{path...}", Access: ipc.Read, Handle: s.document},
		{Method: "GET", Path: "/raw/{path...}", Access: ipc.Read, Handle: s.raw},
		{Method: "GET", Path: "/state", Access: ipc.Read, Handle: s.state},
		{Method: "GET", Path: "/state/asked", Access: ipc.History, Handle: s.history},
		{Method: "GET", Path: "/new", Access: ipc.Read, Handle: s.compose},
		{Method: "GET", Path: "/edit/{path...}", Access: ipc.Read, Handle: s.edit},
		{Method: "POST", Path: "/told", Access: ipc.Open, Handle: s.word},
		{Method: "POST", Path: "/lint", Access: ipc.Read, Handle: s.lint},
		{Method: "GET", Path: "/static/{file}", Access: ipc.Open, Handle: s.static},
	}
	for i := range pages {
		handle := pages[i].Handle
		pages[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			secure(w.Header())
			return handle(w, r)
		}
	}
	return pages
}

// secure lets a page load from here only, be framed by nobody and tell nobody where its reader came from. Documents are
// not trusted: whatever the sanitiser let through could still not run.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // no-referrer would make a POST's Origin null, which the guard refuses
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// pathOf is the slash path below the base folder.
func (s *Server) pathOf(source string) string { return strings.TrimPrefix(source, s.cfg.BaseName+"/") }

// fragment says whether htmx asks: it wants <main> alone.
func fragment(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }
