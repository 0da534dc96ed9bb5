package ipc

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer asks the kernel who is at the other end of a Unix socket. For a client that is who has bound the socket.
func peer(c net.Conn) (uid, pid int, ok bool) {
	u, isUnix := c.(*net.UnixConn)
	if !isUnix {
		return 0, 0, false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid, pid, ok = int(cred.Uid), int(cred.Pid), true
		}
	})
	return uid, pid, ok
}
