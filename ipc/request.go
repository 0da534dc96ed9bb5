package ipc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// door is where a connection came in. The zero value is the guarded one.
type door int

const (
	loopback door = iota
	socket
)

// connection is what is known of a connection for as long as it lives.
type connection struct {
	door   door
	caller string
}

// request is what is known of one request. Kept in the context by pointer: one allocation, one look-up.
type request struct {
	connection
	id   string
	tool string
}

type (
	connectionKey struct{}
	requestKey    struct{}
)

// RequestID is the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string { return requestOf(ctx).id }

// Caller says who asks: "uid=1000 pid=4711" on the socket where the system tells, else the address.
func Caller(ctx context.Context) string { return requestOf(ctx).caller }

// Tool is the program that asks, by its User-Agent: "knowledged-cli", "curl/8.5.0". It is what the client says of itself.
func Tool(ctx context.Context) string { return requestOf(ctx).tool }

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// newRequest gathers what ctx is to carry. The client's id is taken if it is harmless in a log line and a header.
func newRequest(r *http.Request) *request {
	c, _ := r.Context().Value(connectionKey{}).(connection)
	id := r.Header.Get("X-Request-Id")
	if !requestIDForm.MatchString(id) {
		id = newRequestID()
	}
	return &request{connection: c, id: id, tool: toolName(r.UserAgent())}
}

var requestIDForm = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,64}\z`)

func newRequestID() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// toolName is the first product of a User-Agent, without what could disturb a log line.
func toolName(agent string) string {
	name, _, _ := strings.Cut(agent, " ")
	name = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, name)
	const most = 64
	if r := []rune(name); len(r) > most {
		name = string(r[:most])
	}
	return name
}

// parameters reads a query string strictly and gathers what is wrong with it: a misspelt parameter would silently change
// what is asked.
type parameters struct {
	values map[string][]string
	faults []FieldError
}

// queryOf takes the parameters that the route knows; others are faults. Faults come in no particular order.
func queryOf(r *http.Request, known ...string) *parameters {
	p := &parameters{values: map[string][]string{}}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.fault("query string", "is not valid: "+err.Error())
		return p
	}
	for name, v := range values {
		switch {
		case !slices.Contains(known, name):
			message := "is not a parameter here"
			if len(known) > 0 {
				message += "; there are: " + strings.Join(known, ", ")
			}
			p.fault(shorten(name), message)
		case len(v) > 1:
			p.fault(name, "is given twice")
		case !utf8.ValidString(v[0]):
			p.fault(name, "is not valid UTF-8")
		default:
			p.values[name] = v
		}
	}
	return p
}

func (p *parameters) fault(field, message string) {
	p.faults = append(p.faults, FieldError{field, message})
}

// err is a Problem if anything was wrong.
func (p *parameters) err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return badFields(p.faults...)
}

func (p *parameters) text(name string) string {
	if v := p.values[name]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// flag takes 1, true, 0, false; a bare name (`?explain`) is true.
func (p *parameters) flag(name string) bool {
	if _, given := p.values[name]; !given {
		return false
	}
	switch p.text(name) {
	case "", "1", "true":
		return true
	case "0", "false":
		return false
	}
	p.fault(name, "must be true or false")
	return false
}

// number takes a whole number from low to high; missing, it is def.
func (p *parameters) number(name string, def, low, high int) int {
	if _, given := p.values[name]; !given {
		return def
	}
	n, err := strconv.Atoi(p.text(name))
	if err != nil || n < low || n > high {
		p.fault(name, "must be a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
		return def
	}
	return n
}

// choice takes one of the values; missing, it is "".
func (p *parameters) choice(name string, values ...string) string {
	s := p.text(name)
	if s == "" || slices.Contains(values, s) {
		return s
	}
	p.fault(name, "must be one of "+strings.Join(values, ", "))
	return ""
}

// spanForm is how openapi.json writes a duration: time.ParseDuration also takes signs, 0 and nanoseconds.
var spanForm = regexp.MustCompile(`\A([0-9]{1,5}(\.[0-9]{1,3})?(h|m|s|ms)){1,4}\z`)

// since takes a time (RFC 3339) or how long ago that was (24h); missing, it is the zero time.
func (p *parameters) since(name string) time.Time {
	s := p.text(name)
	if s == "" {
		return time.Time{}
	}
	if d, err := time.ParseDuration(s); err == nil && spanForm.MatchString(s) {
		return time.Now().Add(-d)
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t
	}
	p.fault(name, "must be a time like 2006-01-02T15:04:05Z or a duration like 24h")
	return time.Time{}
}
