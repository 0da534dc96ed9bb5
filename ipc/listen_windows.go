package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maxSocketPath is what fits into Windows' sockaddr_un with its closing NUL.
const maxSocketPath = 107

// listenSocket binds an AF_UNIX socket (Windows 10 1803 and later). Files have no mode here: access is that of the folder,
// which below %LOCALAPPDATA% is the user's alone.
func listenSocket(path string) (net.Listener, error) {
	if err := CheckSocket(context.Background(), path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // nobody listens on it
		return nil, fmt.Errorf("remove stale socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on socket %s: %w", path, err)
	}
	return l, nil
}

// CheckSocket says whether a daemon could listen at path, without touching anything: an *InUseError if one already does.
func CheckSocket(ctx context.Context, path string) error {
	if len(path) > maxSocketPath {
		return &ConfigError{"ipc.socket", fmt.Sprintf("the path %s is too long for a socket: %d bytes, the limit is %d; choose a shorter one",
			path, len(path), maxSocketPath)}
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil
	}
	conn.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	client := Client{Socket: path}
	defer client.Close()
	st, _ := client.Status(ctx) // without an answer the pid is unknown: 0
	return &InUseError{Path: path, PID: st.PID}
}

// refused says that there is a socket and nobody takes connections on it now: WSAECONNREFUSED, which package syscall has no
// name for.
func refused(err error) bool { return errors.Is(err, syscall.Errno(10061)) }
