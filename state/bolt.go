package state

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// metaBytes covers bbolt's two meta pages, whatever the page size (up to 64 KiB).
const metaBytes = 128 << 10

// copyBolt copies a bbolt file that another process may be writing, and has locked. bbolt never writes over a page that the
// last transaction reaches, and commits by writing one of the two meta pages: if those are the same before and after, the
// pages that they reach were, too. Pages of a transaction under way may be torn; nothing reaches them.
func copyBolt(from, to string) error {
	const attempts = 100
	for range attempts {
		before, err := metas(from)
		if err != nil {
			return err
		}
		if err := copyFile(from, to); err != nil {
			return err
		}
		after, err := metas(from)
		if err != nil {
			return err
		}
		copied, err := metas(to)
		if err != nil {
			return err
		}
		if bytes.Equal(before, after) && bytes.Equal(before, copied) {
			return nil
		}
		if err := os.Remove(to); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond) // between two commits of the daemon there is a pause
	}
	return errors.New("it is written to all the time: try again when less is going on, or stop the daemon for it")
}

// metas reads the first bytes of the two meta pages, where all that a commit changes is.
func metas(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, metaBytes)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	buf = buf[:n]
	// A meta page begins with a page header of 16 bytes and has 64 of its own; pages are of 4 KiB to 64 KiB.
	var out []byte
	for at := 0; at+80 <= len(buf); at += 4 << 10 {
		if bytes.Equal(buf[at+16:at+20], []byte{0xed, 0xda, 0x0c, 0xed}) {
			out = append(out, buf[at:at+80]...)
		}
	}
	return out, nil
}
