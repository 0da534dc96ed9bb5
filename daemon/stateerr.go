package daemon

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// StateError says that the state folder cannot be used now, whatever it holds: no rights to it, read-only, or full.
type StateError struct{ Err error }

func (e *StateError) Error() string { return e.Err.Error() }

func (e *StateError) Unwrap() error { return e.Err }

// NoSpace reports that the disk, or the user's share of it, is full.
func (e *StateError) NoSpace() bool { return noSpace(e.Err) }

// ofState makes a StateError of such an error in opening the state, and leaves others alone.
func ofState(err error) error {
	if err == nil || !denied(err) && !noSpace(err) {
		return err
	}
	return &StateError{err}
}

// denied also knows the error that bbolt and bleve pass on as a text only, as noSpace does.
func denied(err error) bool {
	for _, no := range []syscall.Errno{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		if errors.Is(err, no) || strings.Contains(err.Error(), no.Error()) {
			return true
		}
	}
	return errors.Is(err, fs.ErrPermission)
}
