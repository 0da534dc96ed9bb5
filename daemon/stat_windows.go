package daemon

import (
	"io/fs"
	"os"
)

func openNonblock(path string) (*os.File, error) { return os.Open(path) }

func isNotDir(error) bool { return false }

// sysStat: Windows tells neither a change time nor a file number here, so the time of writing stands in.
func sysStat(info fs.FileInfo) (changed int64, inode uint64) { return info.ModTime().UnixNano(), 0 }
