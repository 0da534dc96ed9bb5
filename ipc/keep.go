package ipc

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"time"
)

// keepSocket binds the socket anew when its file is gone, until ctx ends: what cleans temporary folders takes sockets that
// look old, and a daemon that nobody can reach would still hold its state. Another file in that place is left alone. The
// former listener stays open until the server ends, for who is just connecting.
func (s *Server) keepSocket(ctx context.Context, serve func(net.Listener)) {
	tick := time.NewTicker(s.cfg.SocketCheck)
	defer tick.Stop()
	said := false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := os.Lstat(s.cfg.Socket); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		l, err := s.bind(s.cfg.Socket)
		if err != nil {
			if !said {
				s.log.Info("the socket's file was removed and cannot be made anew yet", "path", s.cfg.Socket, "err", err)
			}
			said = true
			continue
		}
		said = false
		s.log.Info("the socket's file was removed: made anew", "path", s.cfg.Socket)
		serve(l)
	}
}
