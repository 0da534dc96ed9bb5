package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// An archive is a gzipped tar: the manifest first, then the files that it lists, in its order. The keyword index is not
// among them: it is filled from the documents, which takes seconds, and vectors may have cost money.
const (
	manifestName  = "manifest.json"
	archiveFormat = 1
	maxManifest   = 1 << 20
	maxBytes      = 256 << 30 // of all files
	maxRatio      = 400       // of what is in an archive to its size; bbolt's free pages are zeros
	freeBytes     = 1 << 30   // that much may be in any archive
)

// named are the files that a backup may hold. Nothing else is written, whatever an archive says.
var named = regexp.MustCompile(`^(registry\.db|history\.db|l1/[a-z0-9_-][a-z0-9_.-]*\.vec|l1/embeddings\.cache|l1/dimensions\.json)$`)

// Manifest tells what an archive holds.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of knowledged
	Base    string    `json:"basePath"`
	Made    time.Time `json:"made"`
	Files   []File    `json:"files"`
}

// File is one of an archive's.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// check refuses a manifest that nothing of ours has written, or that would fill the disk.
func (m *Manifest) check(archiveSize int64) error {
	if m.Format != archiveFormat {
		return fmt.Errorf("the archive has format %d, this version reads %d", m.Format, archiveFormat)
	}
	var total int64
	var names []string
	for _, f := range m.Files {
		if !named.MatchString(f.Name) || slices.Contains(names, f.Name) || f.Size < 0 || f.Size > maxBytes {
			return fmt.Errorf("the archive lists %q, which no backup holds", f.Name)
		}
		names = append(names, f.Name)
		total += f.Size
	}
	if total > maxBytes || total > freeBytes && total/maxRatio > archiveSize {
		return fmt.Errorf("the archive of %d bytes would unpack to %d: it is no backup", archiveSize, total)
	}
	if !slices.Contains(names, "registry.db") {
		return errors.New("the archive holds no registry.db")
	}
	return nil
}

// snapshot copies the files worth keeping from dir to a folder of the caller's, as they are at one moment each, while a
// daemon may write them: it compares vectors with documents when it starts.
func snapshot(dir, to string) ([]File, error) {
	var list []File
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !e.Type().IsRegular() || !named.MatchString(name) {
			return nil
		}
		copied := copyFile
		if filepath.Ext(name) == ".db" {
			copied = copyBolt
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := copied(path, target); err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
		sum, size, err := sumOf(target)
		list = append(list, File{Name: name, Size: size, SHA256: sum})
		return err
	})
	return list, err
}

// copyFile copies what the file holds now; vectors are only appended to, and a rewritten file is another one.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, info.Size()))
	return errors.Join(err, out.Close())
}

func sumOf(file string) (sum string, size int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
