//go:build !linux && !darwin

package watcher

import (
	"io/fs"
	"os"
)

// markOf reads what tells one state of a file from another.
func markOf(fi fs.FileInfo) mark {
	return mark{size: fi.Size(), mtime: fi.ModTime().UnixNano()}
}

func idOf(fs.FileInfo) fileID { return fileID{} }

func openDir(name string, _ bool) (*os.File, error) { return os.Open(name) }
