package daemon

import (
	"io/fs"

	"knowledged/registry"
)

// fileStat is what tells cheaply that a file is unchanged. Times are nanoseconds since 1970.
type fileStat struct {
	size, modified, changed int64
	inode                   uint64
}

func statOf(info fs.FileInfo) fileStat {
	s := fileStat{size: info.Size(), modified: info.ModTime().UnixNano()}
	s.changed, s.inode = sysStat(info)
	return s
}

func (s fileStat) equals(r *registry.Record) bool {
	return s == fileStat{r.FileSize, r.ModTime, r.ChangeTime, r.Inode}
}

func (s fileStat) into(r *registry.Record) {
	r.FileSize, r.ModTime, r.ChangeTime, r.Inode = s.size, s.modified, s.changed, s.inode
}
