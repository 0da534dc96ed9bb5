package ipc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
)

// Inherited takes the socket over that the service manager has opened for this process (sd_listen_fds(3)): the one whose
// FileDescriptorName is InheritedName, or the only one. nil: there is none. It is to be asked once, before any process is
// started: the variables that tell of the socket are taken away.
func Inherited() (net.Listener, error) {
	files := activation.Files(true)
	defer func() {
		for _, f := range files {
			f.Close() // FileListener works on a copy
		}
	}()
	file, err := choose(files)
	if file == nil || err != nil {
		return nil, err
	}
	if err := takesConnections(file); err != nil {
		return nil, fmt.Errorf("socket %s from the service manager: %w; the .socket unit needs one ListenStream= with a path, and Accept=no", file.Name(), err)
	}
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("socket %s from the service manager: %w", file.Name(), err)
	}
	return l, nil
}

func choose(files []*os.File) (*os.File, error) {
	if len(files) <= 1 {
		return first(files), nil
	}
	var names []string
	for _, f := range files {
		if f.Name() == InheritedName {
			return f, nil
		}
		names = append(names, f.Name())
	}
	return nil, fmt.Errorf("the service manager passed %d sockets (%s), none with FileDescriptorName=%s: name one so", len(files), strings.Join(names, ", "), InheritedName)
}

func first(files []*os.File) *os.File {
	if len(files) == 0 {
		return nil
	}
	return files[0]
}

func takesConnections(f *os.File) error {
	fd := int(f.Fd())
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return err
	}
	if _, isUnix := name.(*syscall.SockaddrUnix); !isUnix {
		return errors.New("it is not a Unix socket") // whoever reaches it may do anything
	}
	if listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || listens == 0 {
		return errors.New("it does not listen")
	}
	return nil
}
