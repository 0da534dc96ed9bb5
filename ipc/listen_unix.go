//go:build unix

package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// maxSocketPath is what fits into sockaddr_un with its closing NUL: 107 bytes on Linux, 103 on macOS and the BSDs.
var maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketListener removes the socket's file when it closes, if the file is still its own.
type socketListener struct {
	*net.UnixListener
	path string
	file fs.FileInfo // as bound
}

// listenSocket binds a Unix socket that nobody else can ever open: its folder is made 0700, and the socket has mode 0600
// from the moment it exists, whatever the umask. A stale socket is replaced, a live one is an *InUseError.
func listenSocket(path string) (net.Listener, error) {
	if err := CheckSocket(context.Background(), path); err != nil {
		return nil, err // before a folder is made for nothing
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := ownFolder(dir); err != nil {
		return nil, err
	}
	unlock := lockFolder(dir)
	defer unlock()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := bindPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("listen on socket %s: %w", path, err)
	}
	file, err := secure(path)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("listen on socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	return &socketListener{l, path, file}, nil
}

// secure gives the owner what an odd umask took, and makes sure of the mode: some file systems ignore it.
func secure(path string) (fs.FileInfo, error) {
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	file, err := os.Lstat(path)
	if err == nil && file.Mode().Perm() != 0o600 {
		err = fmt.Errorf("its mode is %s, not 0600", file.Mode())
	}
	return file, err
}

// Close takes the file away before it stops listening. The other way round, a daemon that starts just then would find a
// stale socket, bind its own, and lose that to us.
func (l *socketListener) Close() error {
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.file) {
		_ = os.Remove(l.path)
	}
	return l.UnixListener.Close()
}

// ownFolder refuses a folder in which somebody else could put their own socket in place of ours: /tmp/knowledged-1000 made
// by another user. Sticky folders like /tmp itself protect what is in them.
func ownFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the socket's folder: %w", err)
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	sticky := info.Mode()&fs.ModeSticky != 0
	if owner != 0 && owner != uint32(os.Geteuid()) && !sticky {
		return &ConfigError{"ipc.socket", fmt.Sprintf("the folder %s belongs to uid %d, who could replace the socket: choose a folder of your own", dir, owner)}
	}
	if info.Mode().Perm()&0o002 != 0 && !sticky {
		return &ConfigError{"ipc.socket", fmt.Sprintf("anyone can write to the folder %s and replace the socket: choose another or take the right away", dir)}
	}
	return nil
}

// lockFolder makes two daemons that start at once look one after the other: else both find the same stale socket, and one
// removes what the other has just bound. The lock is on the folder itself and leaves nothing behind. It is a courtesy: one
// that cannot be had within two seconds is done without.
func lockFolder(dir string) (unlock func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for range 100 {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return func() { f.Close() }
}

// CheckSocket says whether a daemon could listen at path, without touching anything: an *InUseError if one already does.
func CheckSocket(ctx context.Context, path string) error {
	_, err := inspect(ctx, path)
	return err
}

// removeStale removes a socket that nobody listens on.
func removeStale(path string) error {
	stale, err := inspect(context.Background(), path)
	if err != nil || !stale {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stale socket: %w", err)
	}
	return nil
}

// inspect dials what is at path. It is stale if it is a socket on which nobody listens.
func inspect(ctx context.Context, path string) (stale bool, err error) {
	if len(path) > maxSocketPath {
		return false, &ConfigError{"ipc.socket", fmt.Sprintf("the path %s is too long for a socket: %d bytes, the limit is %d; choose a shorter one",
			path, len(path), maxSocketPath)}
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at socket %s: %w", path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return false, &ConfigError{"ipc.socket", path + " exists and is not a socket: it is left alone, choose another path"}
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		defer conn.Close()
		return false, &InUseError{Path: path, PID: listenerPID(ctx, conn, path)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // it went meanwhile
	case errors.Is(err, syscall.EAGAIN), os.IsTimeout(err):
		return false, &InUseError{Path: path} // it listens, but is too busy or stopped to take another connection
	}
	return false, fmt.Errorf("look who is on socket %s: %w", path, err)
}

// refused says that there is a socket and nobody takes connections on it now.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EAGAIN)
}

// listenerPID asks the kernel, which knows even of a stopped process, then the daemon itself: of a socket that it has
// inherited the kernel knows the service manager.
func listenerPID(ctx context.Context, conn net.Conn, path string) int {
	if _, pid, ok := peer(conn); ok && !serviceManager(pid) {
		return pid
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	client := Client{Socket: path}
	defer client.Close()
	st, err := client.Status(ctx)
	if err != nil {
		return 0
	}
	return st.PID
}

func serviceManager(pid int) bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.TrimSpace(string(name)) == "systemd"
}
