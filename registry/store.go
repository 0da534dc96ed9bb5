package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	bucketFormat  = "format" // first in key order, so that it is met before what it governs
	bucketRecords = "records"
	bucketTexts   = "texts"

	formatKey = "version"
	format    = 1

	maxPath     = bolt.MaxKeySize
	lockTimeout = 500 * time.Millisecond
	keepBroken  = 2 // files set aside that stay; each may be as big as the index
)

// errBroken says that the file is not one this package wrote, or no longer.
var errBroken = errors.New("broken")

type storeConfig struct {
	file    string
	buckets []string                                     // made if missing
	reset   func()                                       // forget what visit saw: the file is new
	visit   func(bucket string, key, value []byte) error // called for every value at open; must not keep them
	lost    string                                       // what a broken file means to the user
}

// store is one bbolt file that has been checked page by page and can't take the process down.
type store struct {
	storeConfig
	db     *bolt.DB
	handle *os.File // db's own, to read around its memory map
	broken atomic.Bool
}

func openStore(cfg storeConfig, log *slog.Logger) (*store, error) {
	s := &store{storeConfig: cfg}
	s.reset()
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return nil, err
	}
	defer func() { s.visit, s.reset = nil, nil }() // and what they hold
	err := s.open(log)
	if !errors.Is(err, errBroken) {
		return s, err
	}
	s.reset()
	aside, asideErr := setAside(s.file)
	if asideErr != nil {
		return nil, errors.Join(err, asideErr)
	}
	log.Warn("file was broken and is set aside; "+s.lost, "path", s.file, "set_aside", aside, "err", err)
	return s, s.open(log)
}

// open leaves s.db nil on any error.
func (s *store) open(log *slog.Logger) error {
	info, err := os.Stat(s.file)
	empty := err == nil && info.Size() == 0
	if err := guarded(s.openChecked); err != nil {
		s.abandon()
		return classify(err)
	}
	if empty {
		log.Warn("file was empty; "+s.lost, "path", s.file)
	}
	return nil
}

func (s *store) openChecked() error {
	db, err := bolt.Open(s.file, 0o600, &bolt.Options{
		Timeout: lockTimeout,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag, mode)
			s.handle = f
			return f, err
		},
	})
	if err != nil {
		return err
	}
	s.db = db
	known := false
	err = walkPages(s.handle, db.Info().PageSize, func(bucket string, key, value []byte) error {
		if bucket == bucketFormat {
			known = true
			return checkFormat(key, value)
		}
		if !known {
			return fmt.Errorf("%w: not a file of knowledged", errBroken)
		}
		return s.visit(bucket, key, value)
	})
	if err != nil || known {
		return err
	}
	return db.Update(func(tx *bolt.Tx) error {
		for _, name := range append([]string{bucketFormat}, s.buckets...) {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(bucketFormat)).Put([]byte(formatKey), []byte(strconv.Itoa(format)))
	})
}

func checkFormat(key, value []byte) error {
	n, err := strconv.Atoi(string(value))
	switch {
	case string(key) != formatKey || err != nil || n < 1:
		return fmt.Errorf("%w: no format version", errBroken)
	case n > format:
		return fmt.Errorf("%w: format %d, this one reads up to %d; install the newer version again, or name another state_dir", ErrNewer, n, format)
	}
	return nil
}

// classify tells a broken file, which is replaced, from one that can't be had now, which is not.
func classify(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%w (is another knowledged running on this state folder?)", ErrLocked)
	case errors.Is(err, errBroken), errors.Is(err, ErrNewer):
		return err
	case errors.Is(err, syscall.EIO):
		return fmt.Errorf("%w: %w", errBroken, err)
	case errors.As(err, &errno), errors.Is(err, fs.ErrPermission):
		return err
	}
	return fmt.Errorf("%w: %w", errBroken, err)
}

// view reads one value under a key, which use must not keep.
func (s *store) view(bucket, key string, use func(value []byte) error) error {
	return guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			value := tx.Bucket([]byte(bucket)).Get([]byte(key))
			if value == nil {
				return errDamaged
			}
			return use(value)
		})
	})
}

// each hands the entries of a bucket to use, last key first, until it returns false.
func (s *store) each(bucket string, use func(key, value []byte) bool) error {
	return guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			c := tx.Bucket([]byte(bucket)).Cursor()
			for k, v := c.Last(); k != nil && use(k, v); k, v = c.Prev() {
			}
			return nil
		})
	})
}

func (s *store) update(do func(tx *bolt.Tx) error) error {
	if s.broken.Load() {
		// bbolt may still hold its write lock from the transaction that went wrong: another would wait for ever.
		return fmt.Errorf("%w while in use; restart to index anew", errBroken)
	}
	err := guarded(func() error { return s.db.Update(do) })
	if errors.Is(err, errBroken) {
		s.broken.Store(true)
	}
	return err
}

func (s *store) close() error {
	if s.db == nil {
		return nil
	}
	if s.broken.Load() {
		s.abandon()
		return nil
	}
	db := s.db
	s.db, s.handle = nil, nil
	return guarded(db.Close)
}

// abandon lets go of a file that bbolt may not be able to close. Where it isn't, its memory map stays, and with it the
// lock, until the process ends.
func (s *store) abandon() {
	if s.db != nil && !s.broken.Load() {
		_ = guarded(s.db.Close) // the reason for leaving is the error that counts
	}
	if s.handle != nil {
		_ = s.handle.Close()
	}
	s.db, s.handle = nil, nil
}

// guarded turns a panic in bbolt, or a fault in its memory map when the file got shorter, into errBroken.
func guarded(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errBroken, p)
		}
	}()
	return do()
}

// setAside renames a broken file, so that someone may look into it, and removes those set aside long before.
func setAside(file string) (string, error) {
	aside := file + ".broken-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(file, aside); err != nil {
		return "", err
	}
	old, _ := filepath.Glob(globQuote(file) + ".broken-*") // sorted by name, so by time
	for len(old) > keepBroken {
		_ = os.Remove(old[0]) // tidying only
		old = old[1:]
	}
	return aside, nil
}

// globQuote escapes what Glob would take for a pattern in a folder's name.
func globQuote(path string) string {
	var b []rune
	for _, c := range path {
		if c == '*' || c == '?' || c == '[' || c == '\\' && filepath.Separator == '/' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return string(b)
}
