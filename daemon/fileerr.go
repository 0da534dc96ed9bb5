package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"knowledged/ipc"
)

// fileError turns a fault of the file system into the error the doors know, with what was being done.
func fileError(doing string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%s: %w)", ipc.ErrReadOnly, doing, reason(err))
	case noSpace(err):
		return fmt.Errorf("%w (%s)", ipc.ErrNoSpace, doing)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &ipc.InvalidError{Field: "fileName", Message: "is too long for this file system"}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// stateError is the same for a fault of the indexes, which lie in the state folder.
func stateError(doing string, err error) error {
	if noSpace(err) {
		return fmt.Errorf("%w for the state (%s: %w)", ipc.ErrNoSpace, doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// noSpace also knows the error that bbolt and bleve pass on as a text only.
func noSpace(err error) bool {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}
