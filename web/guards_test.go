package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"knowledged/config"
)

// SPEC 6.2: the page has the guards of the API: Host, Origin, the token, and no other door.
func TestGuards_6_2(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for _, headers := range [][]string{
		{"Host", "evil.example"},
		{"Origin", "http://evil.example"},
		{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"},
	} {
		for _, path := range []string{"/", "/?q=refund", "/docs/api/refund.md", "/static/app.js"} {
			if a := h.get(path, headers...); a.status != 403 || strings.Contains(a.body, "<html") || strings.Contains(a.body, "180 days") {
				t.Errorf("%s with %q: %d", path, headers, a.status)
			}
		}
	}
	if a := h.get("/docs/api/refund.md", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); a.status != 200 {
		t.Errorf("a link from elsewhere: %d", a.status)
	}
	closed := newHouse(t, documents(), func(c *config.Config) { c.IPC.HTTPAuth = "all" })
	for _, path := range []string{"/", "/?q=refund", "/docs/api/refund.md", "/raw/api/refund.md", "/state", "/edit/api/refund.md"} {
		if a := closed.get(path); a.status != 401 || !strings.Contains(a.body, "data-needs-token") || strings.Contains(a.body, "180 days") {
			t.Errorf("%s without the token: %d", path, a.status)
		}
		if a := closed.get(path, "Authorization", "Bearer wrong"); a.status != 401 || !strings.Contains(a.body, "That is not the token.") {
			t.Errorf("%s with a wrong token: %d", path, a.status)
		}
		if a := closed.get(path, "Authorization", "Bearer "+token, "HX-Request", "true"); a.status != 200 {
			t.Errorf("%s with the token: %d", path, a.status)
		}
	}
	if a := closed.get("/static/app.js"); a.status != 200 {
		t.Errorf("the script that asks for the token: %d", a.status)
	}
	if a := closed.ask("POST", "/lint", "text=x", "HX-Request", "true"); a.status != 401 {
		t.Errorf("lint without the token: %d", a.status)
	}
}

// Browsers don't open Unix sockets: there the API answers alone.
func TestNoPageOnTheSocket(t *testing.T) {
	var socket string
	newHouse(t, documents(), func(c *config.Config) { socket = c.IPC.Socket })
	client := unixClient(socket)
	defer client.CloseIdleConnections()
	res, err := client.Get("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound || res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %s", res.Status, res.Header.Get("Content-Type"))
	}
}

func TestStaticFiles(t *testing.T) {
	h := newHouse(t, documents(), nil)
	page := h.get("/").body
	for _, m := range regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		if a := h.get(m[1]); a.status != 200 || !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %s", m[1], a.status, a.header.Get("Cache-Control"))
		}
	}
	if a := h.get("/static/app.js?v=old"); a.status != 200 || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("an old address is kept: %v", a.header)
	}
	if a := h.get("/static/licences"); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}
