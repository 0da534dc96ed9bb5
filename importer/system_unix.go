//go:build unix

package importer

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite asks the system, which knows of groups, lists and read-only mounts.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// hold marks a file as one that a living process writes; the mark goes with the process. taken: another has it. Where the file
// system has no locks, neither is known.
func hold(f *os.File) (held, taken bool) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return err == nil, errors.Is(err, unix.EWOULDBLOCK)
}

// renamesOpen: a file that is open can be renamed here, so that it is held until it has its name.
const renamesOpen = true
