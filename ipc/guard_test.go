package ipc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testToken = "s3cret-token-s3cret"

func tokenFile(t testing.TB, content string) string {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// SPEC 6.2: Host and Origin are checked on the port, whatever the method.
func TestHostAndOrigin_6_2(t *testing.T) {
	h := openHouse(t, nil)
	port := h.url[strings.LastIndex(h.url, ":")+1:]
	for _, c := range []struct {
		host, origin, fetchSite string
		ok                      bool
	}{
		{"127.0.0.1:PORT", "", "", true},
		{"localhost:PORT", "", "", true},
		{"LOCALHOST:PORT", "", "", true},
		{"[::1]:PORT", "", "", true},
		{"localhost", "", "", true},
		{"localhost:1", "", "", true}, // a forwarded port
		{"127.0.0.1:PORT", "http://127.0.0.1:PORT", "same-origin", true},
		{"127.0.0.1:PORT", "http://localhost:PORT", "", true},
		{"localhost:PORT", "http://localhost:PORT", "", true},

		{"evil.invalid", "", "", false}, // a rebound name
		{"evil.invalid:PORT", "http://evil.invalid:PORT", "same-origin", false},
		{"localhost.evil.invalid:PORT", "", "", false},
		{"127.0.0.1.evil.invalid", "", "", false},
		{"127.0.0.2:PORT", "", "", false},
		{"0.0.0.0:PORT", "", "", false},
		{"127.0.0.1:PORT", "http://evil.invalid", "", false},
		{"127.0.0.1:PORT", "null", "", false},
		{"127.0.0.1:PORT", "file://", "", false},
		{"127.0.0.1:PORT", "http://localhost:1", "", false}, // somebody else's page on this machine
		{"127.0.0.1:PORT", "https://localhost", "", false},
		{"127.0.0.1:PORT", "chrome-extension://abc", "", false},
		{"127.0.0.1:PORT", "http://127.0.0.1:PORT.evil.invalid", "", false},
		{"127.0.0.1:PORT", "", "cross-site", false},
		{"127.0.0.1:PORT", "", "same-site", false},
	} {
		headers := []string{"Host", strings.ReplaceAll(c.host, "PORT", port), "Content-Type", "application/json"}
		if c.origin != "" {
			headers = append(headers, "Origin", strings.ReplaceAll(c.origin, "PORT", port))
		}
		if c.fetchSite != "" {
			headers = append(headers, "Sec-Fetch-Site", c.fetchSite)
		}
		for _, ask := range [][3]string{{"GET", "/v1/status", ""}, {"GET", "/v1/lookup?query=q", ""}, {"POST", "/v1/lookup", `{"query":"q"}`}, {"GET", "/healthz", ""}, {"GET", "/nothing", ""}} {
			r := h.ask(ask[0], h.url+ask[1], ask[2], headers...)
			if refused := r.status == 403; refused == c.ok {
				t.Errorf("%s %s, Host %q, Origin %q, Sec-Fetch-Site %q: %d", ask[0], ask[1], c.host, c.origin, c.fetchSite, r.status)
			}
			if !c.ok {
				h.problem(r, 403)
			}
		}
	}
	r := h.ask("GET", h.url+"/v1/status", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if r.status != 200 {
		t.Errorf("following a link: %d", r.status)
	}
	r = h.ask("POST", h.url+"/v1/lookup", `{"query":"q"}`, "Content-Type", "application/json", "Sec-Fetch-Site", "same-site")
	h.problem(r, 403)
	if r = h.ask("GET", "/v1/status", "", "Host", "anything", "Origin", "http://evil.invalid"); r.status != 200 {
		t.Errorf("the socket has its mode: %d", r.status)
	}
}

// The requests of the case sv-csrf-simple and more: all that writes is refused on the port without a token.
func TestWritesNeedAToken_6_2(t *testing.T) {
	h := openHouse(t, nil)
	multipartBody, multipartType := form(t, part{"file", "x.md", "x"})
	for _, c := range []struct{ method, path, contentType, body string }{
		{"POST", "/v1/documents", "text/plain", "x"},
		{"POST", "/v1/documents", multipartType, multipartBody},
		{"PUT", "/v1/documents/ops/x.md", "text/plain", "x"},
		{"PUT", "/v1/documents/ops/y.md", "text/markdown", "x"},
		{"DELETE", "/v1/documents/ops-a.md", "", ""},
		{"POST", "/v1/documents/ops-a.md/reindex", "", ""},
		{"POST", "/v1/reconcile", "text/plain", ""},
		{"POST", "/v1/reconcile", "", ""},
		{"DELETE", "/v1/status", "", ""},
		{"GET", "/v1/lookups", "", ""},
		{"GET", "/v1/stats", "", ""},
	} {
		for _, headers := range [][]string{{}, {"Origin", "http://evil.invalid"}, {"Authorization", "Bearer x"}, {"Authorization", "Bearer "}} {
			h.problem(h.ask(c.method, h.url+c.path, c.body, append(headers, "Content-Type", c.contentType)...), 403)
		}
	}
	if len(h.puts) != 0 {
		t.Errorf("written: %+v", h.puts)
	}
	h.problem(h.ask("GET", h.url+"/v1/reconcile?x=1", ""), 405)
}

func TestToken(t *testing.T) {
	for _, mode := range []string{"writes", "all"} {
		h := openHouse(t, func(c *Config) { c.TokenFile, c.HTTPAuth = tokenFile(t, testToken+"\n"), mode })
		for _, c := range []struct {
			method, path string
			need         access
		}{
			{"GET", "/healthz", open},
			{"GET", "/readyz", open},
			{"GET", "/v1/status", read},
			{"GET", "/v1/lookup?query=q", read},
			{"GET", "/v1/lookups", history},
			{"GET", "/v1/stats", history},
			{"PUT", "/v1/documents/ops/x.md", write},
			{"POST", "/v1/reconcile", write},
		} {
			for authorization, good := range map[string]bool{
				"": false, "Bearer " + testToken: true, "bearer " + testToken: true, "Bearer " + testToken + "x": false,
				"Bearer " + testToken[1:]: false, "Basic " + testToken: false, testToken: false, "Bearer": false,
			} {
				want := good || c.need == open || authorization == "" && c.need == read && mode == "writes"
				r := h.ask(c.method, h.url+c.path, "", "Authorization", authorization)
				if ok := r.status/100 == 2; ok != want {
					t.Errorf("%s: %s %s with %q: %d", mode, c.method, c.path, authorization, r.status)
				}
				if !want {
					h.problem(r, 401)
					if !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
						t.Errorf("no WWW-Authenticate")
					}
				}
			}
		}
		h.problem(h.ask("PUT", h.url+"/v1/documents/ops/z.md", "z", "Authorization", "Bearer "+testToken, "Origin", "http://evil.invalid"), 403)
		if r := h.ask("GET", "/v1/lookups", ""); r.status != 200 {
			t.Errorf("the socket needs no token: %d", r.status)
		}
	}
}

// A token is asked for and none is set: closed, not open.
func TestAuthAllWithoutToken(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.HTTPAuth = "all" })
	h.problem(h.ask("GET", h.url+"/v1/status", ""), 403)
	if r := h.ask("GET", h.url+"/healthz", ""); r.status != 200 {
		t.Errorf("healthz: %d", r.status)
	}
}

// SPEC 6.2: never beyond loopback without --allow-remote and a token.
func TestNeverBeyondLoopback_6_2(t *testing.T) {
	token := tokenFile(t, testToken)
	for _, c := range []struct {
		http, auth, token string
		remote            bool
		key               string // of the ConfigError
	}{
		{"127.0.0.1:0", "", "", false, ""},
		{"[::1]:0", "", "", false, ""},
		{"localhost:0", "writes", "", false, ""},
		{"off", "", "", false, ""},
		{"0.0.0.0:0", "", token, true, ""},
		{"example.invalid:0", "all", token, true, ""},

		{"0.0.0.0:0", "", token, false, "ipc.http"},
		{":7420", "", token, false, "ipc.http"},
		{"[::]:0", "", "", false, "ipc.http"},
		{"192.0.2.1:0", "", token, false, "ipc.http"},
		{"example.invalid:0", "", token, false, "ipc.http"},
		{"0.0.0.0:0", "", "", true, "ipc.token_file"},
		{"7420", "", "", false, "ipc.http"},
		{"127.0.0.1:0", "none", "", false, "ipc.http_auth"},
		{"127.0.0.1:0", "", filepath.Join(t.TempDir(), "none"), false, "ipc.token_file"},
		{"127.0.0.1:0", "", tokenFile(t, " \n"), false, "ipc.token_file"},
		{"127.0.0.1:0", "", tokenFile(t, "two words"), false, "ipc.token_file"},
	} {
		_, err := New(Config{HTTP: c.http, HTTPAuth: c.auth, TokenFile: c.token, AllowRemote: c.remote}, testLog(t))
		var bad *ConfigError
		if c.key == "" && err != nil || c.key != "" && (!errors.As(err, &bad) || bad.Key != c.key) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Beyond loopback everything asks for the token, and names are the network's.
func TestRemote(t *testing.T) {
	h := openHouse(t, func(c *Config) {
		c.HTTP, c.AllowRemote, c.TokenFile = "0.0.0.0:0", true, tokenFile(t, testToken)
	})
	port := h.url[strings.LastIndex(h.url, ":")+1:]
	url := "http://127.0.0.1:" + port
	h.problem(h.ask("GET", url+"/v1/status", "", "Host", "kb.example.com"), 401)
	auth := []string{"Host", "kb.example.com", "Authorization", "Bearer " + testToken}
	if r := h.ask("GET", url+"/v1/status", "", auth...); r.status != 200 {
		t.Errorf("%+v", r)
	}
	if r := h.ask("GET", url+"/v1/status", "", append(auth, "Origin", "https://kb.example.com")...); r.status != 200 {
		t.Errorf("own page behind TLS: %+v", r)
	}
	h.problem(h.ask("GET", url+"/v1/status", "", append(auth, "Origin", "https://evil.invalid")...), 403)
}
