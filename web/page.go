package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"knowledged/document"
	"knowledged/ipc"
)

//go:embed templates
var templateFiles embed.FS

// pageSet is all templates in one language: layout.html around one of the others.
type pageSet struct {
	byName map[string]*template.Template
}

// view is what every template is given; Data is the page's own.
type view struct {
	Lang     language
	Page     string // the template's name; also which entry of the navigation is the present one
	Title    string
	Query    string // in the search field of the head
	Here     string // address of this page, for the switch of languages
	Other    language
	Version  string
	HasToken bool
	New      bool // the editor on a new document
	Data     any
}

func parsePages(assets map[string]asset) (map[language]*pageSet, error) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	sets := map[language]*pageSet{}
	for _, l := range []language{english, chinese} {
		set := &pageSet{byName: map[string]*template.Template{}}
		for _, file := range names {
			name := strings.TrimSuffix(path.Base(file), ".html")
			if name == "layout" || name == "parts" {
				continue
			}
			t, err := template.New("layout.html").Funcs(functions(l, assets)).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", file)
			if err != nil {
				return nil, fmt.Errorf("template %s: %w", name, err)
			}
			set.byName[name] = t
		}
		sets[l] = set
	}
	return sets, nil
}

func functions(l language, assets map[string]asset) template.FuncMap {
	return template.FuncMap{
		"t":          l.say,
		"ago":        l.ago,
		"took":       func(seconds float64) string { return l.duration(time.Duration(seconds * float64(time.Second))) },
		"bytes":      byteSize,
		"ms":         milliseconds,
		"percent":    func(f float64) string { return strconv.FormatFloat(100*f, 'f', 0, 64) + " %" },
		"percentage": func(f float64) string { return strconv.FormatFloat(100*f, 'f', 0, 64) },
		"num":        func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) },
		"stamp":      func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
		"iso":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"lang":       langOf,
		"asset":      func(name string) string { return "/static/" + name + "?v=" + assets[name].version },
		"doc":        func(p string) string { return address("/docs/", p) },
		"raw":        func(p string) string { return address("/raw/", p) },
		"edit":       func(p string) string { return address("/edit/", p) },
		"terms":      distinctTerms,
		"told":       l.tell,
		"detail":     l.detail,
		"brief":      func(s string) string { return cut(s, briefRunes) },
		"add":        func(a, b int) int { return a + b },
	}
}

// briefRunes is how much of what somebody typed a page repeats within its own words, in characters.
const briefRunes = 80

// distinctTerms are the words that counted, each once though several fields have it.
func distinctTerms(list []document.Contribution) (terms []string) {
	for _, c := range list {
		if !slices.Contains(terms, c.Term) {
			terms = append(terms, c.Term)
		}
	}
	return terms
}

func milliseconds(f float64) string {
	if f >= 100 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// address is the path of a document's page, each part escaped: names may hold # and ?.
func address(prefix, p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return prefix + strings.Join(parts, "/")
}

// show answers with a page, or with one of its parts if htmx asks. part is the template to run then.
func (s *Server) show(w http.ResponseWriter, r *http.Request, part string, v view) error {
	return s.showStatus(w, r, http.StatusOK, part, v)
}

func (s *Server) showStatus(w http.ResponseWriter, r *http.Request, status int, part string, v view) error {
	l := languageOf(r)
	v.Lang, v.Version, v.HasToken, v.Other = l, s.cfg.Version, s.cfg.HasToken(), english
	if l == english {
		v.Other = chinese
	}
	q := r.URL.Query()
	q.Del("typing")
	q.Set("lang", string(v.Other))
	v.Here = (&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}).String()
	name := "layout.html"
	var b bytes.Buffer // whole before it is sent: an error half-way must not look like a page
	if fragment(r) {
		name = part
		if part == "main" || part == "results" { // htmx takes it for the tab's title
			b.WriteString("<title>")
			template.HTMLEscape(&b, []byte(strings.TrimPrefix(v.Title+" · knowledged", " · ")))
			b.WriteString("</title>")
		}
	}
	if err := s.pages[l].byName[v.Page].ExecuteTemplate(&b, name, v); err != nil {
		return fmt.Errorf("page %s: %w", v.Page, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", l.Tag())
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	h.Add("Vary", "Accept-Language, Cookie, HX-Request")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails only if the client is gone
	return nil
}

// Refuse answers a request that failed. To one without the token it offers a field for it.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, p *ipc.Problem) {
	secure(w.Header())
	l := languageOf(r)
	title := l.say("error.title")
	switch {
	case p.NeedsToken():
		title = l.say("token.title")
	case p.Status == http.StatusNotFound:
		title = l.say("error.missing")
	}
	err := s.showStatus(w, r, p.Status, "main", view{Page: "problem", Title: title, Data: struct {
		*ipc.Problem
		NeedsToken bool
		Wrong      bool // a token was sent, and it is not the one
	}{p, p.NeedsToken(), p.NeedsToken() && r.Header.Get("Authorization") != ""}})
	if err != nil {
		s.log.ErrorContext(r.Context(), "request failed", "requestId", p.RequestID, "path", r.URL.Path, "err", err)
		http.Error(w, p.Detail, p.Status)
	}
}
