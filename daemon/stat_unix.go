//go:build unix

package daemon

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openNonblock opens for reading; a FIFO opens at once instead of waiting for a writer.
func openNonblock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func sysStat(info fs.FileInfo) (changed int64, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime().UnixNano(), 0
	}
	return changeTime(st), st.Ino
}
