package importer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// way gives a finished temporary file its name, or writes it anew under that name. fs.ErrExist: something has the name.
type way func(base *os.Root, temp, target string, data []byte) error

// ways from the best to the last. None replaces what came meanwhile, as a plain rename would.
var ways = []way{linkNew, renameNew, createNew}

// appear makes target of temp by the first way that the file system knows.
func appear(base *os.Root, temp, target string, data []byte, ways []way) (err error) {
	for _, way := range ways {
		switch err = way(base, temp, target, data); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return errCame
		}
	}
	return err
}

func linkNew(base *os.Root, temp, target string, _ []byte) error { return base.Link(temp, target) }

// renameNew serves file systems without hard links, such as FAT and many network drives.
func renameNew(base *os.Root, temp, target string, _ []byte) error {
	dir, err := base.Open(filepath.Dir(target))
	if err != nil {
		return err
	}
	defer dir.Close()
	return renameExclusive(dir, filepath.Base(temp), filepath.Base(target))
}

// createNew is for where the system has no rename that refuses either. It overwrites nothing, but who looks may see a part of
// the file (a daemon waits until a file is quiet), and a crash leaves that part.
func createNew(base *os.Root, _, target string, data []byte) error {
	f, err := base.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, base.Remove(target)) // it is ours: it was not there
	}
	return nil
}
