package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"knowledged/ipc"
)

// fileError turns a fault of the file system into the error the doors know, with what was being done.
func fileError(doing string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%s: %w)", ipc.ErrReadOnly, doing, reason(err))
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w (%s)", ipc.ErrNoSpace, doing)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &ipc.InvalidError{Field: "fileName", Message: "too long for this file system"}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
