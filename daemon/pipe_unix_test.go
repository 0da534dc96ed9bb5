//go:build unix

package daemon

import "syscall"

// makePipe makes a file that no one may read from: it would wait for a writer for ever.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o644) }
