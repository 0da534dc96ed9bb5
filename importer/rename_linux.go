package importer

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameExclusive renames within dir and refuses where the new name is taken. EINVAL: the file system does not know how.
func renameExclusive(dir *os.File, from, to string) error {
	return unix.Renameat2(int(dir.Fd()), from, int(dir.Fd()), to, unix.RENAME_NOREPLACE)
}
