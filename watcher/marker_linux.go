package watcher

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// marker makes an event of our own. The kernel queues events in order, so once it comes out of fsnotify, so have all
// events of changes made before it. The file lives in memory only and has no name that anyone else could touch.
type marker struct {
	file *os.File
	name string // under which fsnotify knows it
}

func newMarker() (*marker, error) {
	fd, err := unix.MemfdCreate("knowledged-marker", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	first := os.NewFile(uintptr(fd), "knowledged-marker")
	defer first.Close()
	// Writes through the first descriptor make no events, those of a file that was opened by name do.
	file, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	m := &marker{file: file}
	err = conn.Control(func(fd uintptr) { m.name = fmt.Sprintf("/proc/self/fd/%d", fd) })
	if err != nil {
		file.Close()
		return nil, err
	}
	return m, nil
}

// set makes the event.
func (m *marker) set() error {
	_, err := m.file.WriteAt([]byte{0}, 0)
	return err
}

func (m *marker) close() { m.file.Close() }
