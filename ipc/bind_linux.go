package ipc

import (
	"context"
	"net"
	"syscall"
)

// bindPrivate sets the mode on the socket before it has a name: Linux gives the file the mode of the socket's own inode,
// less the umask. So there is no moment at which the file is open to others, and the umask of the process, which other
// goroutines rely on, stays as it is.
func bindPrivate(path string) (*net.UnixListener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if e := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return err
	}}
	l, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	return l.(*net.UnixListener), nil
}
