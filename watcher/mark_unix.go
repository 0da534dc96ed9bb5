//go:build linux || darwin

package watcher

import (
	"io/fs"
	"os"
	"syscall"
)

// markOf reads what tells one state of a file from another.
func markOf(fi fs.FileInfo) mark {
	m := mark{size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		m.ctime, m.inode = changeTime(st), st.Ino
	}
	return m
}

func idOf(fi fs.FileInfo) fileID {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return fileID{dev: device(st), inode: st.Ino}
	}
	return fileID{}
}

// openDir opens a folder for listing. It never blocks on a FIFO that took the folder's place, nor follows a link there,
// unless the folder is known to be one.
func openDir(name string, link bool) (*os.File, error) {
	flags := syscall.O_DIRECTORY | syscall.O_NONBLOCK
	if !link {
		flags |= syscall.O_NOFOLLOW
	}
	return os.OpenFile(name, os.O_RDONLY|flags, 0)
}
