package ipc

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// fakePages has one page, which fails as a test says, and shows what Refuse was given.
type fakePages struct{ err error }

func (f *fakePages) Pages() []Page {
	return []Page{
		{Method: "GET", Path: "/page", Access: Read, Handle: func(http.ResponseWriter, *http.Request) error { return f.err }},
		{Method: "POST", Path: "/form", Access: Read, Handle: func(http.ResponseWriter, *http.Request) error { return f.err }},
	}
}

func (f *fakePages) Refuse(w http.ResponseWriter, _ *http.Request, p *Problem) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(p.Status)
	fmt.Fprintf(w, "%s logged=%t token=%t", p.Detail, p.Logged(), p.NeedsToken())
}

// At an address that is nobody's, people get a page and programs a Problem.
func TestPeopleGetAPageAtAWrongAddress(t *testing.T) {
	const chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	h := openHouse(t, func(c *Config) { c.Pages = &fakePages{} })
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
		page         bool
	}{
		{"GET", "/nope", []string{"Accept", chromium}, 404, true},
		{"HEAD", "/nope", []string{"Accept", chromium}, 404, true},
		{"GET", "/nope/deep", []string{"Accept", "*/*", "HX-Request", "true"}, 404, true},
		{"GET", "/form", []string{"Accept", chromium}, 405, true},
		{"GET", "/a//b", []string{"Accept", chromium}, 400, true},
		{"GET", "/v10", []string{"Accept", chromium}, 404, true},

		{"GET", "/nope", nil, 404, false},
		{"GET", "/nope", []string{"Accept", "*/*"}, 404, false},
		{"GET", "/nope", []string{"Accept", "application/json"}, 404, false},
		{"GET", "/a//b", nil, 400, false},
		{"GET", "/v1", []string{"Accept", chromium}, 404, false},
		{"GET", "/v1/nope", []string{"Accept", chromium}, 404, false},
		{"GET", "/v1/reconcile", []string{"Accept", chromium}, 405, false},
		{"POST", "/nope", []string{"Accept", chromium}, 403, false},
		{"GET", "/nope", []string{"Accept", chromium, "Host", "evil.invalid"}, 403, false},
		{"GET", "/a//b", []string{"Accept", chromium, "Host", "evil.invalid"}, 400, false},
	} {
		r := h.ask(c.method, h.url+c.path, "", c.headers...)
		if page := r.header.Get("Content-Type") == "text/html"; r.status != c.status || page != c.page {
			t.Errorf("%s %s with %q: %d %s", c.method, c.path, c.headers, r.status, r.header.Get("Content-Type"))
		}
		if !c.page {
			h.problem(r, c.status)
		}
		if c.status == 405 && r.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	h.problem(h.ask("GET", "/nope", "", "Accept", chromium), 404) // on the socket

	closed := openHouse(t, func(c *Config) {
		c.Pages, c.TokenFile, c.HTTPAuth = &fakePages{}, tokenFile(t, testToken), "all"
	})
	if r := closed.ask("GET", closed.url+"/nope", "", "Accept", chromium); r.status != 401 || !strings.Contains(r.body, "token=true") || r.header.Get("WWW-Authenticate") == "" {
		t.Errorf("without the token: %+v", r)
	}
}

// A page may point at the log only where the log has a line.
func TestLoggedIsTrueOfWhatIsLogged(t *testing.T) {
	pages := &fakePages{}
	h := openHouse(t, func(c *Config) { c.Pages = pages })
	for i, c := range []struct {
		err    error
		status int
	}{
		{errors.New("the disk is on fire"), 500},
		{ErrReadOnly, 503},
		{ErrNoSpace, 507},
		{ErrUnavailable, 503},
		{contextDeadline(), 504},
		{ErrNotFound, 404},
		{&InvalidError{"q", "is odd"}, 400},
	} {
		pages.err = c.err
		id := fmt.Sprintf("logged-%d", i)
		r := h.ask("GET", h.url+"/page", "", "X-Request-Id", id)
		logged := strings.Contains(h.logs.String(), `"msg":"request failed","requestId":"`+id+`"`)
		if r.status != c.status || !strings.Contains(r.body, fmt.Sprintf("logged=%t", logged)) {
			t.Errorf("%v: %d %s, and in the log: %t", c.err, r.status, r.body, logged)
		}
	}
}

func TestProblemMore(t *testing.T) {
	twice := FieldError{"query", "is given twice"}
	if got := badFields(twice).More(); len(got) != 0 {
		t.Errorf("the detail says it already: %v", got)
	}
	p := badFields(twice, FieldError{"topK", "is given twice"})
	if got := p.More(); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := p.Error(); !strings.Contains(got, "[query: is given twice] [topK: is given twice]") {
		t.Error(got)
	}
}
