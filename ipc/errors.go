package ipc

import (
	"errors"
	"fmt"
)

// Errors of the backend and the statuses they become. Anything else is a 500 whose cause is logged and not told.
var (
	ErrNotFound    = errors.New("no such document")                       // 404
	ErrTooLarge    = errors.New("larger than knowledge.max_file_size")    // 413
	ErrReadOnly    = errors.New("the documents folder cannot be written") // 503
	ErrNoSpace     = errors.New("no space left")                          // 507
	ErrStateFull   = fmt.Errorf("%w for the state", ErrNoSpace)           // 507, of the state folder's disk
	ErrUnavailable = errors.New("not available right now")                // 503, worth trying again
)

// TooLargeError is an ErrTooLarge that says how large, where that is known, and what the limit is.
type TooLargeError struct{ Size, Limit int64 } // bytes; Size 0: not known

func (e *TooLargeError) Error() string {
	if e.Size > e.Limit {
		return fmt.Sprintf("it has %d bytes, the limit is %d", e.Size, e.Limit)
	}
	return fmt.Sprintf("the limit is %d bytes", e.Limit)
}

// Is makes it an ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// The texts of the errors below become sentences: none begins with a name of the user's, which a capital would change.

// ExistsError says that the same bytes are indexed at another place, or that a document there has as good as the same
// name: 409 with that record.
type ExistsError struct {
	Record Record
	Alike  bool // it is the names that are the same, but for case or the composition of letters
}

func (e *ExistsError) Error() string {
	if e.Alike {
		return fmt.Sprintf("another document has as good as this name: %s; on some systems that is the same file", e.Record.Source)
	}
	return fmt.Sprintf("the same document exists already as %s", e.Record.Source)
}

// StaleError says that the document is not what If-Match or If-None-Match supposed: 412.
type StaleError struct {
	Hash   string // as it is now; empty if there is none
	Exists bool   // If-None-Match wanted no document there, or not this one
}

func (e *StaleError) Error() string {
	switch {
	case e.Hash == "":
		return "the document does not exist"
	case e.Exists:
		return "the document exists already"
	}
	return "the document has changed since it was read"
}

// MissingError says that the documents folder is not there, or is none: 503. Nothing was written.
type MissingError struct {
	Path string
	Err  error // nil, or what the system says
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the documents folder %s is missing: put it back, or mount its disk; the daemon sees that by itself", e.Path)
}

func (e *MissingError) Unwrap() error { return e.Err }

// InvalidError is input that cannot be accepted: 400. Field is named as the request names it.
type InvalidError struct{ Field, Message string }

func (e *InvalidError) Error() string { return e.Field + " " + e.Message }

// ConfigError is a setting that the doors cannot open with. The daemon exits with code 2.
type ConfigError struct{ Key, Message string }

func (e *ConfigError) Error() string { return e.Key + ": " + e.Message }

// InUseError says that another daemon answers on the socket. The daemon exits with code 5.
type InUseError struct {
	Path string
	PID  int // 0 if it cannot be told
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("socket %s is in use by another process that is running", e.Path)
	}
	return fmt.Sprintf("socket %s is in use: another knowledged is running as pid %d", e.Path, e.PID)
}
