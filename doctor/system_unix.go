//go:build unix

package doctor

import "golang.org/x/sys/unix"

// writable asks the system, which knows of groups, lists and read-only mounts.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// freeSpace is in bytes, what is kept for root left out.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}
