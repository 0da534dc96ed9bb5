//go:build unix && !linux

package ipc

import (
	"net"
	"syscall"
)

// bindPrivate narrows the umask for the one call that makes the file: these systems take no mode from an unnamed socket.
// The daemon listens before it starts anything that makes files.
func bindPrivate(path string) (*net.UnixListener, error) {
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
