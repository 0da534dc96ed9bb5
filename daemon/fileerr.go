package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	if isFault(err) { // of the disk, or of the server that it is on
		return fmt.Errorf("%w (%s: %w)", ipc.ErrReadOnly, doing, reason(err))
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// openBase opens the documents folder to write in it.
func (p *pipeline) openBase() (*os.Root, error) {
	if err := p.missing(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.base)
	if err != nil {
		return nil, p.fault("open the base folder", err)
	}
	return root, nil
}

// missing is the error of a documents folder that is not there, or is none any more.
func (p *pipeline) missing() error {
	info, err := os.Stat(p.base)
	if err == nil && info.IsDir() || err != nil && errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return &ipc.MissingError{Path: p.base, Err: err}
}

// fault is fileError, but for what comes of the whole folder being gone.
func (p *pipeline) fault(doing string, err error) error {
	if missing := p.missing(); missing != nil {
		return missing
	}
	return fileError(doing, err)
}

// stateError is the same for a fault of the indexes, which lie in the state folder.
func stateError(doing string, err error) error {
	if noSpace(err) {
		return fmt.Errorf("%w (%s: %w)", ipc.ErrStateFull, doing, err)
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
