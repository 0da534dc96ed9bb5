package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// watchLimits reads the system's limits, and counts what this user's processes take of them, as far as they may be looked
// into.
func watchLimits() (l limits, known bool) {
	var err error
	if l.watches, err = number("/proc/sys/fs/inotify/max_user_watches"); err != nil {
		return l, false
	}
	if l.instances, err = number("/proc/sys/fs/inotify/max_user_instances"); err != nil {
		return l, false
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		info, err := os.Stat(process)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		files, err := os.ReadDir(process + "/fd")
		if err != nil {
			continue // it ended, or is nobody's to look into
		}
		for _, f := range files {
			if to, err := os.Readlink(process + "/fd/" + f.Name()); err != nil || to != "anon_inode:inotify" {
				continue
			}
			l.usedInstances++
			about, _ := os.ReadFile(process + "/fdinfo/" + f.Name()) // a line for each watch
			l.usedWatches += bytes.Count(about, []byte("inotify wd:"))
		}
	}
	return l, true
}

func number(file string) (int, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(bytes.TrimSpace(data)))
}

// eventless names the kind of file system of a folder if it is one whose changes may come from another machine.
func eventless(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
		unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "FUSE", 0x786f4256: "a shared folder of VirtualBox",
	}[uint32(s.Type)]
}
