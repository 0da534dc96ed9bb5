package l0

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/util"
	index "github.com/blevesearch/bleve_index_api"
	"github.com/blevesearch/mmap-go"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// lockTimeout is how long Open waits for another process that has the index open.
const lockTimeout = 2 * time.Second

// errDamaged marks what rebuilding mends; other errors (no permission, in use) are the operator's.
var errDamaged = errors.New("damaged")

// openOrRebuild opens the full text; what is damaged is set aside first.
func (x *Index) openOrRebuild() error {
	err := x.verify()
	if err == nil {
		err = x.open()
	}
	if !errors.Is(err, errDamaged) {
		return err
	}
	aside := fmt.Sprintf("%s.broken-%s", x.dir, time.Now().UTC().Format("20060102T150405.000"))
	if err := os.Rename(x.dir, aside); err != nil {
		return fmt.Errorf("set the damaged index aside: %w", err)
	}
	x.setAside = true
	x.log.Warn("keyword index is damaged; set aside, rebuilding from the documents", "path", x.dir, "aside", aside, "err", err)
	return x.open()
}

// open starts scorch on x.dir.
func (x *Index) open() error {
	x.health = newHealth(x.dir, x.log)
	x.queue = index.NewAnalysisQueue(2)
	var opened *scorch.Scorch
	err := guard(func() error {
		idx, err := scorch.NewScorch(scorch.Name, map[string]any{
			"path":                   x.dir,
			"unsafe_batch":           true, // the registry makes it safe: IDs are compared at start
			"bolt_timeout":           lockTimeout.String(),
			"asyncErrorCallbackName": callbackName,
			"scorchPersisterOptions": map[string]any{"PersisterNapTimeMSec": persisterNap.Milliseconds()},
		}, x.queue)
		if err != nil {
			return err
		}
		opened = idx.(*scorch.Scorch)
		return opened.Open()
	})
	if err != nil {
		if opened != nil {
			_ = guard(opened.Close) // half open: whatever it says, the cause is err
		}
		x.queue.Close()
		x.health.stop()
		if blameless(err) {
			return err
		}
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	x.scorch = opened
	return nil
}

// blameless errors say nothing of the files' content.
func blameless(err error) bool {
	if errors.Is(err, bolterrors.ErrTimeout) || errors.Is(err, fs.ErrPermission) {
		return true
	}
	for _, of := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} { // bleve passes some on as a text
		if strings.Contains(err.Error(), of.Error()) {
			return true
		}
	}
	return false
}

// Verify reads the full text below dir and changes nothing: nil if it is whole, or not there.
func Verify(dir string) error {
	x := &Index{dir: filepath.Join(dir, indexVersion)}
	if err := x.verify(); err != nil {
		return fmt.Errorf("read keyword index %s: %w", x.dir, err)
	}
	return nil
}

// verify reads what the newest state on disk consists of and checks that all of it is there, sum by sum: bleve itself
// opens an older state, or an empty one, without a word.
func (x *Index) verify() error {
	path := filepath.Join(x.dir, "root.bolt")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(x.dir); err == nil && hasSegments(x.dir) {
			return fmt.Errorf("%w: %s is missing", errDamaged, path)
		}
		return nil
	}
	var files []string
	err := guard(func() error {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout})
		if err != nil {
			return err
		}
		defer db.Close()
		return db.View(func(tx *bbolt.Tx) (err error) {
			// A file that was cut may have all that reading walks through; the first write would break on what is missing.
			if info, err := os.Stat(path); err != nil {
				return err
			} else if info.Size() < tx.Size() {
				return fmt.Errorf("%s has %d of %d bytes", path, info.Size(), tx.Size())
			}
			files, err = segmentFiles(tx)
			return err
		})
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("another process has it open: %w", err)
	}
	if err == nil {
		for _, name := range files {
			if err = checkSum(filepath.Join(x.dir, name)); err != nil {
				break
			}
		}
	}
	if err == nil || blameless(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// segmentFiles lists the files of the newest snapshot.
func segmentFiles(tx *bbolt.Tx) (files []string, err error) {
	snapshots := tx.Bucket(util.BoltSnapshotsBucket)
	if snapshots == nil {
		return nil, nil
	}
	epoch, _ := snapshots.Cursor().Last()
	if epoch == nil {
		return nil, nil
	}
	newest := snapshots.Bucket(epoch)
	if newest == nil {
		return nil, fmt.Errorf("snapshot %x has no content", epoch)
	}
	err = newest.ForEachBucket(func(k []byte) error {
		if k[0] == util.BoltInternalKey[0] || k[0] == util.BoltMetaDataKey[0] {
			return nil
		}
		name := newest.Bucket(k).Get(util.BoltPathKey)
		if name == nil {
			return fmt.Errorf("segment %x has no file", k)
		}
		files = append(files, string(name))
		return nil
	})
	return files, err
}

// checkSum compares a segment file with the CRC that is its last four bytes. It runs at some GB/s, and the pages will be
// wanted soon anyway.
func checkSum(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Size() < 4 {
		return fmt.Errorf("%s is cut off", path)
	}
	return guard(func() error {
		data, err := mmap.Map(f, mmap.RDONLY, 0)
		if err != nil {
			return fmt.Errorf("map %s: %w", path, err)
		}
		defer func() { _ = data.Unmap() }()
		body, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
		if crc32.ChecksumIEEE(body) != sum {
			return fmt.Errorf("%s does not have its checksum", path)
		}
		return nil
	})
}

func hasSegments(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*.zap"))
	return len(found) > 0
}

var (
	versionFolder = regexp.MustCompile(`^v\d+$`)
	brokenFolder  = regexp.MustCompile(`^v\d+\.broken-\d{8}T\d{6}\.\d{3}$`)
)

// Newer is the folder below dir of a form that this version does not know, as a later one made it, or "".
func Newer(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("list keyword indexes %s: %w", dir, err)
	}
	for _, e := range entries {
		if name := e.Name(); versionFolder.MatchString(name) && versionOf(name) > versionOf(indexVersion) {
			return filepath.Join(dir, name), nil
		}
	}
	return "", nil
}

// Version is the folder of the form that this version makes, and the newest that it knows.
const Version = indexVersion

// versionOf is the number of a version's folder; one that is too long for a number is newer than any.
func versionOf(folder string) int {
	n, err := strconv.Atoi(folder[1:])
	if err != nil {
		return math.MaxInt
	}
	return n
}

// removeOldVersions deletes other versions' indexes, and of the damaged ones all but the newest, which is evidence.
func removeOldVersions(dir string, log *slog.Logger) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Warn("old keyword indexes cannot be listed", "path", dir, "err", err)
		return
	}
	var old, broken []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name != indexVersion && versionFolder.MatchString(name):
			old = append(old, name)
		case brokenFolder.MatchString(name):
			broken = append(broken, name)
		}
	}
	if len(broken) > 1 {
		slices.SortFunc(broken, func(a, b string) int { // by time, whatever the version
			return strings.Compare(a[strings.IndexByte(a, '.'):], b[strings.IndexByte(b, '.'):])
		})
		old = append(old, broken[:len(broken)-1]...)
	}
	for _, name := range old {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			log.Warn("an old keyword index cannot be removed", "path", filepath.Join(dir, name), "err", err)
		}
	}
}
