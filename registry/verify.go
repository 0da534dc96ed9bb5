package registry

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// Verify reads <dir>/registry.db as Open does, and changes nothing. It tells how many documents it has, and what is wrong
// with it; fs.ErrNotExist if it is not there, ErrLocked if another process has it.
func Verify(dir string) (documents int, err error) {
	file := filepath.Join(dir, "registry.db")
	if _, err := os.Stat(file); err != nil {
		return 0, err
	}
	r := &Registry{log: slog.New(slog.DiscardHandler)}
	l := newLoader(r)
	l.reset()
	err = guarded(func() error {
		var handle *os.File
		db, err := bolt.Open(file, 0o600, &bolt.Options{
			ReadOnly: true, Timeout: lockTimeout,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag, mode)
				handle = f
				return f, err
			},
		})
		if err != nil {
			return err
		}
		defer db.Close()
		return walkPages(handle, db.Info().PageSize, func(bucket string, key, value []byte) error {
			if bucket == bucketFormat {
				return checkFormat(key, value)
			}
			return l.visit(bucket, key, value)
		})
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("read registry %s: %w", file, classify(err))
	case len(l.damaged) > 0:
		return len(r.byPath), fmt.Errorf("read registry %s: %w: %d records", file, errDamaged, len(l.damaged))
	}
	return len(r.byPath), nil
}

// CheckFormats looks whether this version may open the files below dir, and changes nothing: ErrNewer if it may not,
// ErrLocked if another process has them. What else is wrong with them is Open's.
func CheckFormats(dir string) error {
	for _, name := range []string{"registry.db", "history.db"} {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			continue
		}
		err := guarded(func() error {
			db, err := bolt.Open(file, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
			if err != nil {
				return err
			}
			defer db.Close()
			return db.View(func(tx *bolt.Tx) error {
				b := tx.Bucket([]byte(bucketFormat))
				if b == nil {
					return nil
				}
				return checkFormat([]byte(formatKey), b.Get([]byte(formatKey)))
			})
		})
		if err == nil {
			continue
		}
		if err = classify(err); errors.Is(err, ErrNewer) || errors.Is(err, ErrLocked) {
			return fmt.Errorf("open %s: %w", file, err)
		}
	}
	return nil
}
