package ipc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"
)

// Config says what to serve and where. Durations left zero take their defaults.
type Config struct {
	Backend backend
	Agents  agents   // nil: no MCP
	Pages   pages    // nil: no web page
	Metrics *Metrics // nil: none
	Version string
	Base    func() string // the folder served, absolute and, as they lead now, without symbolic links; nil: requests may not name one

	Socket    string       // path of the Unix socket; empty: none
	Inherited net.Listener // a listening socket from the service manager, instead of Socket; its file is left alone

	HTTP        string // host:port of the loopback door; empty or "off": none
	HTTPAuth    string // "writes" (default) or "all": what needs the token
	TokenFile   string // empty: no token
	AllowRemote bool   // HTTP may be beyond loopback, if there is a token

	MaxFileSize int64 // bytes of one document; default 8 MiB

	HeaderTimeout time.Duration // until a request's headers must be in; default 30 s
	BodyTimeout   time.Duration // until a body must flow at a sensible rate; default 30 s
	WriteTimeout  time.Duration // for a client to take each part of an answer; default 60 s
	Heartbeat     time.Duration // between comments in an event stream; default 15 s
	SocketCheck   time.Duration // between two looks whether the socket's file is still there; default 5 s
	Grace         time.Duration // for requests under way when the daemon stops; default 3 s
}

// Server is all doors into the daemon.
type Server struct {
	cfg     Config
	handler *handler
	log     *slog.Logger
	remote  bool
	bind    func(path string) (net.Listener, error) // a Unix socket

	socket net.Listener // nil until Listen, or without one
	http   net.Listener // nil if off or taken
}

// New checks the configuration and reads the token file; errors are *ConfigError. Nothing is opened yet.
func New(cfg Config, log *slog.Logger) (*Server, error) {
	cfg.HTTPAuth = cmp.Or(cfg.HTTPAuth, "writes")
	cfg.MaxFileSize = cmp.Or(cfg.MaxFileSize, 8<<20)
	cfg.HeaderTimeout = cmp.Or(cfg.HeaderTimeout, 30*time.Second)
	cfg.BodyTimeout = cmp.Or(cfg.BodyTimeout, 30*time.Second)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 60*time.Second)
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	cfg.SocketCheck = cmp.Or(cfg.SocketCheck, 5*time.Second)
	cfg.Grace = cmp.Or(cfg.Grace, 3*time.Second)
	if cfg.HTTP == "off" {
		cfg.HTTP = ""
	}
	if cfg.HTTPAuth != "writes" && cfg.HTTPAuth != "all" {
		return nil, &ConfigError{"ipc.http_auth", fmt.Sprintf("%q is neither writes nor all", cfg.HTTPAuth)}
	}
	token, err := readToken(cfg.TokenFile)
	if err != nil {
		return nil, err
	}
	remote, err := beyondLoopback(cfg.HTTP)
	switch {
	case err != nil:
		return nil, err
	case remote && !cfg.AllowRemote:
		return nil, &ConfigError{"ipc.http", cfg.HTTP + " is beyond loopback: set ipc.allow_remote (--allow-remote) and ipc.token_file, or use 127.0.0.1"}
	case remote && token == "":
		return nil, &ConfigError{"ipc.token_file", "is needed to serve " + cfg.HTTP + ", which is beyond loopback"}
	}
	h := newHandler(cfg, newGuard(token, cfg.HTTPAuth == "all", remote), log)
	return &Server{cfg: cfg, handler: h, log: log, remote: remote, bind: listenSocket}, nil
}

// SetAccess reads the token again and says anew what it is needed for. After an error, a *ConfigError, all is as it was.
func (s *Server) SetAccess(tokenFile, httpAuth string) error {
	token, err := readToken(tokenFile)
	if err != nil {
		return err
	}
	if s.remote && token == "" {
		return &ConfigError{"ipc.token_file", "is needed to serve " + s.cfg.HTTP + ", which is beyond loopback"}
	}
	s.handler.guard.set(token, httpAuth == "all")
	return nil
}

func readToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", &ConfigError{"ipc.token_file", err.Error()}
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", &ConfigError{"ipc.token_file", file + " must hold one token, without blanks"}
	}
	return token, nil
}

// beyondLoopback judges by the address alone. A name other than localhost may resolve to anything.
func beyondLoopback(address string) (bool, error) {
	if address == "" {
		return false, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, &ConfigError{"ipc.http", fmt.Sprintf("%q is not host:port or off", address)}
	}
	if host == "localhost" {
		return false, nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsLoopback(), nil
	}
	return true, nil
}

// Listen opens the doors: from here on clients can connect, and wait until Serve. An *InUseError means that another daemon
// owns the socket. A loopback port that cannot be had is a WARN: the socket serves alone.
func (s *Server) Listen() error {
	s.socket = s.cfg.Inherited
	if s.socket == nil && s.cfg.Socket != "" {
		l, err := s.bind(s.cfg.Socket)
		if err != nil {
			return err
		}
		s.socket = l
	}
	if s.cfg.HTTP == "" {
		return nil
	}
	l, err := net.Listen("tcp", s.cfg.HTTP)
	if err == nil && !s.remote && !l.Addr().(*net.TCPAddr).IP.IsLoopback() { // what localhost resolved to
		l.Close()
		err = fmt.Errorf("%s is %s, beyond loopback", s.cfg.HTTP, l.Addr())
	}
	if err != nil {
		s.log.Warn("loopback HTTP is off: its address cannot be had", "http", s.cfg.HTTP, "err", err)
		return nil
	}
	s.http = l
	return nil
}

// HTTPAddr is the loopback door's address, with the port that was given for port 0; empty if there is none.
func (s *Server) HTTPAddr() string {
	if s.http == nil {
		return ""
	}
	return s.http.Addr().String()
}

// Serve answers until ctx ends, then ends streams, lets requests under way finish for Config.Grace and waits for them.
func (s *Server) Serve(ctx context.Context) error {
	if s.socket == nil && s.http == nil {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	// Requests must outlive ctx, which ends first; abort ends those that do not finish within the grace.
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	var servers []*http.Server
	var running sync.WaitGroup
	failed := make(chan error, 1) // the first ends it
	serve := func(srv *http.Server, l net.Listener) func() {
		return func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				select {
				case failed <- fmt.Errorf("serve %s: %w", l.Addr(), err):
				default:
				}
			}
		}
	}
	open := func(l net.Listener, d door) {
		if l == nil {
			return
		}
		srv := s.server(requests, d)
		servers = append(servers, srv)
		running.Go(serve(srv, l))
	}
	open(s.socket, socket)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	if s.socket != nil && s.cfg.Inherited == nil {
		srv := servers[0]
		running.Go(func() {
			s.keepSocket(serving, func(l net.Listener) { running.Go(serve(srv, l)) }) // shutdown closes l
		})
	}
	open(s.http, loopback)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop()
	s.shutdown(servers, abort)
	running.Wait()
	return err
}

func (s *Server) shutdown(servers []*http.Server, abort func()) {
	close(s.handler.stopping)
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Grace)
	defer cancel()
	var closing sync.WaitGroup
	if s.cfg.Agents != nil {
		closing.Go(func() {
			if s.cfg.Agents.Close(ctx); ctx.Err() != nil {
				abort() // hijacked connections are not the servers' any more
			}
		})
	}
	for _, srv := range servers {
		closing.Go(func() {
			if srv.Shutdown(ctx) != nil {
				srv.Close()
				abort()
			}
		})
	}
	closing.Wait()
	s.handler.close()
}

func (s *Server) server(requests context.Context, d door) *http.Server {
	return &http.Server{
		BaseContext:       func(net.Listener) context.Context { return requests },
		Handler:           s.handler,
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		IdleTimeout:       3 * time.Minute,
		MaxHeaderBytes:    128 << 10, // room for the longest query in a GET, percent-encoded
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, connection{door: d, caller: callerOf(c)})
		},
	}
}

// callerOf says who is at the other end: the process where the system tells, else the address.
func callerOf(c net.Conn) string {
	if uid, pid, ok := peer(c); ok {
		return fmt.Sprintf("uid=%d pid=%d", uid, pid)
	}
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.IP.String()
	}
	return "socket"
}
