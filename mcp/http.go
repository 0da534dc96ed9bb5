package mcp

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
)

const (
	// sessionless is the first revision of the protocol that has no sessions.
	sessionless = "2026-07-28"
	// maxMessage bounds one message, in bytes. The longest query, escaped, is a tenth of it.
	maxMessage = 1 << 20
	// idleSession is how long an HTTP session lives that neither asks nor listens. Its client is then told 404 and begins anew.
	idleSession = 30 * time.Minute
	// mostSessions bounds HTTP sessions whose clients never say goodbye; beyond it the longest idle go.
	mostSessions = 1000

	sessionHeader = "Mcp-Session-Id"
	idHeader      = "X-Request-Id"
)

func (s *Server) newHandlers(log *slog.Logger) {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	opt := sdk.StreamableHTTPOptions{
		Logger: log, MaxRequestBodyBytes: maxMessage,
		DisableLocalhostProtection: true, // ipc's guard has looked, and knows what a Host may be
	}
	s.stateful = sdk.NewStreamableHTTPHandler(get, &opt)
	opt.Stateless, opt.PropagateRequestCancellation = true, true
	s.stateless = sdk.NewStreamableHTTPHandler(get, &opt)
}

// ServeHTTP is streamable HTTP. Notifications need a session, and the newest revision has none: hence two handlers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.closing.Load() {
		withRefusals(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, errClosing.Error(), http.StatusServiceUnavailable)
		}), w, r)
		return
	}
	r.Header.Set(idHeader, ipc.RequestID(r.Context())) // a session's context is that of its first request
	if r.Header.Get("Mcp-Protocol-Version") >= sessionless {
		withRefusals(s.stateless, w, r)
		return
	}
	id := r.Header.Get(sessionHeader)
	s.sessions.begin(id)
	defer s.sessions.end(id)
	withRefusals(s.stateful, w, r)
	if id == "" {
		s.sessions.end(w.Header().Get(sessionHeader)) // one that was made just now
	}
}

// endIdle ends sessions that nobody uses.
func (s *Server) endIdle() {
	gone := s.sessions.idle(time.Now())
	for session := range s.sdk.Sessions() {
		if gone[session.ID()] {
			go session.Close() // waits for requests under way, of which an idle one has none but a late one may
		}
	}
}

// sessions knows when each HTTP session was used last. The SDK's own timeout would end those that only listen.
type sessions struct {
	mu   sync.Mutex // guards below
	used map[string]*usage
}

type usage struct {
	open int // requests under way; a listening client's never ends
	last time.Time
}

func (*sessions) ticker() *time.Ticker { return time.NewTicker(15 * time.Second) }

func (s *sessions) begin(id string) { s.touch(id, 1) }
func (s *sessions) end(id string)   { s.touch(id, -1) }

// touch counts requests of a session. One that is not known yet is made: its first request ends here without a beginning.
func (s *sessions) touch(id string, by int) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.used[id]
	if u == nil {
		if s.used == nil {
			s.used = map[string]*usage{}
		}
		u = &usage{}
		s.used[id] = u
	}
	u.open = max(0, u.open+by)
	u.last = time.Now()
}

// idle forgets the sessions to end and names them.
func (s *sessions) idle(now time.Time) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := map[string]bool{}
	for limit := idleSession; ; limit /= 2 {
		for id, u := range s.used {
			if u.open == 0 && now.Sub(u.last) >= limit {
				gone[id] = true
				delete(s.used, id)
			}
		}
		if len(s.used) <= mostSessions || limit < time.Second {
			return gone
		}
	}
}
