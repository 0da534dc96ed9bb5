package vecfile

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const newSuffix = ".new"

// Rewrite replaces the file by one that holds the records write adds, durably and at once: a process killed meanwhile leaves
// the old one. If it fails, the old file goes on. No ReadAt may run beside it.
func (x *File) Rewrite(write func(add func(payload []byte) (at int64, err error)) error) error {
	size, err := x.writeNew(write)
	if err != nil {
		_ = os.Remove(x.path + newSuffix)
		return fmt.Errorf("compact %s: %w", x.path, err)
	}
	// Windows replaces no open file; so both are closed.
	err = errors.Join(x.f.Close(), os.Rename(x.path+newSuffix, x.path))
	f, openErr := os.OpenFile(x.path, os.O_RDWR, 0o600)
	if openErr != nil {
		return fmt.Errorf("compact %s: %w", x.path, errors.Join(err, openErr))
	}
	x.f = f
	if err != nil {
		_ = os.Remove(x.path + newSuffix)
		return fmt.Errorf("compact %s: %w", x.path, err)
	}
	x.size = size
	syncDir(filepath.Dir(x.path))
	return nil
}

func (x *File) writeNew(write func(add func([]byte) (int64, error)) error) (size int64, err error) {
	f, err := os.OpenFile(x.path+newSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	head := x.encodeHeader()
	if _, err := w.Write(head); err != nil {
		return 0, err
	}
	size = int64(len(head))
	var buf []byte
	err = write(func(payload []byte) (int64, error) {
		buf = appendRecord(buf[:0], payload)
		at := size
		size += int64(len(buf))
		_, err := w.Write(buf)
		return at, err
	})
	if err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	return size, f.Sync()
}

// syncDir makes a rename durable where the system can; where not, the old file may come back after a power cut, which is
// merely older.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // where a folder cannot be synced, the system sees to it
		d.Close()
	}
}
