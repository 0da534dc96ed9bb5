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
	if len(path) > maxSocketPath {
		return nil, &ConfigError{"ipc.socket", fmt.Sprintf("the path %s is too long for a socket: %d bytes, the limit is %d; choose a shorter one",
			path, len(path), maxSocketPath)}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		if err := removeStale(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on socket %s: %w", path, err)
	}
	return l, nil
}

// removeStale dials what is at path: only what does not answer is removed.
func removeStale(path string) error {
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		client := Client{Socket: path}
		defer client.Close()
		st, _ := client.Status(ctx) // without an answer the pid is unknown: 0
		return &InUseError{Path: path, PID: st.PID}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stale socket: %w", err)
	}
	return nil
}

// refused says that there is a socket and nobody takes connections on it now: WSAECONNREFUSED, which package syscall has no
// name for.
func refused(err error) bool { return errors.Is(err, syscall.Errno(10061)) }
