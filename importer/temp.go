package importer

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Names of temporary files, which no rule takes for documents. What a crash leaves of them is removed by a later import.
const (
	tempPrefix = ".knowledged-import-"
	tempSuffix = ".tmp"
	tempAge    = 10 * time.Minute // far longer than a file takes: where nothing else tells, it is nobody's any more
)

var tempName = regexp.MustCompile(`^` + regexp.QuoteMeta(tempPrefix) + `[a-z2-7]{12}` + regexp.QuoteMeta(tempSuffix) + `$`)

// newTemp makes an empty temporary file in dir, held so that another import does not take it for a leftover.
func newTemp(base *os.Root, dir string) (*os.File, string, error) {
	for {
		name := filepath.Join(dir, tempPrefix+strings.ToLower(rand.Text()[:12])+tempSuffix)
		f, err := base.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, "", err
		}
		if _, taken := hold(f); !taken && isStill(base, name, f) {
			return f, name, nil
		}
		f.Close() // between making and holding it another import cleaned up
	}
}

func isStill(base *os.Root, name string, f *os.File) bool {
	is, err := f.Stat()
	at, atErr := base.Lstat(name)
	return err == nil && (atErr == nil && os.SameFile(is, at) || atErr != nil && !errors.Is(atErr, fs.ErrNotExist))
}

// removeLeftovers removes temporary files of imports that were killed: those that nobody holds, or, where that is not known, old
// ones.
func removeLeftovers(base *os.Root, dir string) {
	entries, err := fs.ReadDir(base.FS(), filepath.ToSlash(dir))
	if err != nil {
		return // not there yet
	}
	for _, e := range entries {
		if tempName.MatchString(e.Name()) && e.Type().IsRegular() {
			removeLeftover(base, filepath.Join(dir, e.Name()))
		}
	}
}

func removeLeftover(base *os.Root, name string) {
	f, err := base.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	held, taken := hold(f)
	info, err := f.Stat()
	if !renamesOpen {
		f.Close()
	}
	if !taken && err == nil && (held || time.Since(info.ModTime()) > tempAge) {
		_ = base.Remove(name) // while it is held: nobody else's
	}
	f.Close()
}
