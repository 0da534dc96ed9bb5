package ipc

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// access is what a route is to those who come in by the loopback port. On the socket everything is open.
type access int

const (
	write      access = iota // changes documents or the index; the zero value, so that a forgotten one is closed
	read                     // lookups and documents
	history                  // what others asked: a token always
	open                     // health checks: a token never
	socketOnly               // not there by any other door
)

// guard decides who may come in by the loopback port. Any page in any browser on this machine can send requests there: it
// can't forge Host, Origin and Sec-Fetch-Site, and doesn't know the token.
type guard struct {
	secret atomic.Pointer[secret] // another one after a reload
	remote bool                   // bound beyond loopback: names are the network's, and a token is asked for everything
	origin http.CrossOriginProtection
}

// secret is the token and what it is needed for.
type secret struct {
	token [sha256.Size]byte // digest: comparing digests hides the token's length too
	known bool              // a token is set
	all   bool              // it is asked for reading as well
}

func newGuard(token string, all, remote bool) *guard {
	g := &guard{remote: remote}
	g.set(token, all)
	return g
}

func (g *guard) set(token string, all bool) {
	g.secret.Store(&secret{token: sha256.Sum256([]byte(token)), known: token != "", all: all || g.remote})
}

// check returns the Problem that a request is refused with, or nil.
func (g *guard) check(r *http.Request, need access) *Problem {
	switch {
	case requestOf(r.Context()).door == socket:
		return nil
	case need == socketOnly:
		return problem(http.StatusNotFound, "There is nothing here.")
	}
	if p := g.enter(r); p != nil {
		return p
	}
	return g.checkToken(r, need)
}

// enter refuses requests that a foreign page has a hand in.
func (g *guard) enter(r *http.Request) *Problem {
	switch {
	case !g.remote && !loopbackHost(r.Host):
		return problem(http.StatusForbidden, "The Host header is not a loopback name: use localhost, 127.0.0.1 or [::1].")
	case !g.sameOrigin(r):
		return problem(http.StatusForbidden, "Requests from other origins are not answered.")
	}
	return nil
}

func (g *guard) checkToken(r *http.Request, need access) *Problem {
	if need == open {
		return nil // a probe that sends yesterday's token is told how the daemon is, not that the token is old
	}
	s := g.secret.Load()
	header := r.Header.Get("Authorization")
	if header != "" && s.known {
		scheme, token, _ := strings.Cut(header, " ")
		sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], s.token[:]) != 1 {
			return problem(http.StatusUnauthorized, "The token is not the one in ipc.token_file.")
		}
		return nil
	}
	if need == read && !s.all {
		return nil
	}
	if !s.known {
		return problem(http.StatusForbidden, "This needs a token, and none is set: set ipc.token_file, or use the Unix socket.")
	}
	return problem(http.StatusUnauthorized, "This needs a token: send Authorization: Bearer and what ipc.token_file holds.")
}

// sameOrigin refuses what a page of another origin sends. CrossOriginProtection lets every GET through, and judges by Host
// alone, which a rebound name passes: hence Host first, and Origin for all methods.
func (g *guard) sameOrigin(r *http.Request) bool {
	if origins, given := r.Header["Origin"]; given {
		return len(origins) == 1 && g.ownOrigin(origins[0], r.Host)
	}
	if g.origin.Check(r) != nil {
		return false
	}
	// Without Origin: an <img> or <script> of a foreign page, or of another port of this machine, whose answer it might
	// still read in part or time. A person who follows a link here is welcome.
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Header.Get("Sec-Fetch-Mode") == "navigate"
	}
	return true
}

// ownOrigin knows our own page: the same host and port, where all loopback names are one host.
func (g *guard) ownOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false // "null" and extensions
	}
	if strings.EqualFold(u.Host, host) {
		return true
	}
	return !g.remote && u.Scheme == "http" && loopbackHost(u.Host) && portOf(u.Host) == portOf(host)
}

func loopbackHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil { // no port
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.EqualFold(name, "localhost") || name == "127.0.0.1" || name == "::1"
}

func portOf(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil {
		return port
	}
	return "80"
}
