// Package mcp is the door for agents: the Model Context Protocol over whatever carries it.
//
// One Server answers all sessions: streamable HTTP (http.go) and newline-delimited JSON on a hijacked socket connection
// (ServePipe), which `knowledged mcp` copies its standard streams to (bridge.go). The tool is in tool.go, its answer as text
// in text.go; documents are resources (resources.go, uri.go), and the daemon's events become notifications (notify.go).
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
	"knowledged/lookup"
)

// backend is the daemon as agents see it. All methods may be called at once.
type backend interface {
	Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error)
	Documents(ctx context.Context, q ipc.DocumentsQuery) (ipc.DocumentList, error)
	BySource(ctx context.Context, source string) (ipc.Record, error)
	Content(ctx context.Context, docID string, q ipc.ContentQuery) (ipc.Content, error)
	Subscribe(ctx context.Context) <-chan ipc.Event
}

// Config says what to serve.
type Config struct {
	Backend  backend
	BaseName string // the base folder's name, which every source begins with
	Version  string
}

// Server is all MCP sessions. New starts nothing; Run turns events into notifications.
type Server struct {
	backend  backend
	baseName string
	log      *slog.Logger

	sdk       *sdk.Server
	stateful  http.Handler // revisions up to 2025-11-25: a session with notifications
	stateless http.Handler // 2026-07-28 on: each request for itself
	sessions  sessions
	titles    map[string]string // what clients were told of each document; Run's own
	closing   atomic.Bool
	pipes     sync.WaitGroup
}

const instructions = "knowledged holds this team's own documents: APIs, error codes, domain terms, runbooks. Before you answer from " +
	"general knowledge, or search the code, for such a thing, ask " + ToolName + ". Cite the source of what you use. " +
	"Each document can be read whole as a kb:// resource."

// New makes a server that answers from cfg.Backend.
func New(cfg Config, log *slog.Logger) *Server {
	s := &Server{backend: cfg.Backend, baseName: cfg.BaseName, log: log, titles: map[string]string{}}
	quiet := slog.New(debugHandler{log.Handler()})
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "knowledged", Title: "knowledged", Version: cfg.Version}, &sdk.ServerOptions{
		Instructions:       instructions,
		Logger:             quiet,
		Capabilities:       &sdk.ServerCapabilities{}, // else the SDK claims logging, which nothing here does
		SetCacheable:       func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
		CompletionHandler:  s.complete,
		SubscribeHandler:   func(ctx context.Context, r *sdk.SubscribeRequest) error { return s.canonical(ctx, &r.Params.URI) },
		UnsubscribeHandler: func(ctx context.Context, r *sdk.UnsubscribeRequest) error { return s.canonical(ctx, &r.Params.URI) },
	})
	s.sdk.AddTool(lookupTool(), s.lookup)
	s.sdk.AddResourceTemplate(documentTemplate(), s.readDocument)
	s.sdk.AddReceivingMiddleware(s.resources)
	s.newHandlers(quiet)
	return s
}

// errClosing answers who comes while the daemon stops.
var errClosing = errors.New("the daemon is stopping")

// ServePipe serves one session of newline-delimited JSON on conn until either side ends it. It closes conn.
func (s *Server) ServePipe(ctx context.Context, conn io.ReadWriteCloser) error {
	s.pipes.Add(1)
	defer s.pipes.Done()
	if s.closing.Load() {
		return errors.Join(errClosing, conn.Close())
	}
	one := &closeOnce{ReadWriteCloser: conn} // the transport closes reader and writer: here they are one
	session, err := s.sdk.Connect(ctx, &sdk.IOTransport{Reader: one, Writer: one, MaxLineLength: maxMessage}, nil)
	if err != nil {
		return errors.Join(fmt.Errorf("open a session: %w", err), one.Close())
	}
	if s.closing.Load() { // Close may have looked before this session was there
		one.Close()
	}
	defer context.AfterFunc(ctx, func() { one.Close() })()
	err = session.Wait()
	return errors.Join(err, one.Close())
}

// Close ends all sessions, whose requests under way are answered first, and lets no more in. It returns when they have
// ended or ctx has.
func (s *Server) Close(ctx context.Context) {
	s.closing.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var closing sync.WaitGroup
		for session := range s.sdk.Sessions() {
			closing.Go(func() { session.Close() })
		}
		closing.Wait()
		s.pipes.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// closeOnce closes once: a second time would be an error that means nothing.
type closeOnce struct {
	io.ReadWriteCloser
	once sync.Once
	err  error
}

func (c *closeOnce) Close() error {
	c.once.Do(func() { c.err = c.ReadWriteCloser.Close() })
	return c.err
}

// debugHandler makes every record a DEBUG one: the SDK logs each session at INFO and clients' mistakes at ERROR.
type debugHandler struct{ slog.Handler }

func (h debugHandler) Enabled(ctx context.Context, _ slog.Level) bool {
	return h.Handler.Enabled(ctx, slog.LevelDebug)
}

func (h debugHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	r.Message = "mcp: " + r.Message
	return h.Handler.Handle(ctx, r)
}

func (h debugHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return debugHandler{h.Handler.WithAttrs(attrs)}
}

func (h debugHandler) WithGroup(name string) slog.Handler {
	return debugHandler{h.Handler.WithGroup(name)}
}
