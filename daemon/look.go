package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"knowledged/chunker"
	"knowledged/document"
	"knowledged/registry"
)

// racyAge: a file written this shortly before it was indexed may have been written once more within the same tick of
// the file system's clock, so equal times prove nothing (git's "racy" rule).
const racyAge = 2 * time.Second

// look reads one path and says what the indexes should hold of it. It is called from several goroutines and writes
// nothing.
func (p *pipeline) look(path string, trust bool) finding {
	f := finding{path: path}
	f.old, _ = p.registry.Get(path)
	return p.lookAt(f, trust)
}

func (p *pipeline) lookAt(f finding, trust bool) finding {
	path := f.path
	abs := filepath.Join(p.base, filepath.FromSlash(path))
	info, err := os.Lstat(abs)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		// The watcher names only links it follows.
		info, err = os.Stat(abs)
	}
	switch {
	case err == nil && info.IsDir(), errors.Is(err, fs.ErrNotExist), isNotDir(err):
		f.gone = true
		return f
	case err != nil:
		return p.failed(f, nil, fmt.Errorf("cannot be read: %w", reason(err)))
	case !info.Mode().IsRegular():
		return p.failed(f, info, errNotRegular)
	case !p.folder.IsDocument(path) || p.folder.Ignored(path, false):
		f.gone = true
		return f
	}
	stat := statOf(info)
	if trust && f.old != nil && stat.equals(f.old) && f.old.IndexedAt.Sub(time.Unix(0, f.old.ChangeTime)) > racyAge {
		f.same = true
		return f
	}
	if info.Size() > p.maxSize {
		return p.failed(f, info, fmt.Errorf("%d bytes is more than knowledge.max_file_size (%d bytes)", info.Size(), p.maxSize))
	}
	start := time.Now()
	data, info, err := readFile(abs, p.maxSize)
	f.took.read = time.Since(start)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.gone = true
		return f
	case err != nil:
		return p.failed(f, info, fmt.Errorf("cannot be read: %w", reason(err)))
	}
	return p.parse(f, info, data)
}

// parse turns the bytes of a file into the record and chunks the indexes should hold.
func (p *pipeline) parse(f finding, info fs.FileInfo, data []byte) finding {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	stat := statOf(info)
	if f.old != nil && f.old.FileHash == hash && f.old.FormatVersion == formatVersion {
		f.same = true
		if !stat.equals(f.old) || f.old.IndexedAt.Sub(time.Unix(0, stat.changed)) <= racyAge {
			rec := *f.old // records are immutable once stored: note the new times in a copy
			stat.into(&rec)
			rec.IndexedAt = time.Now()
			f.record = &rec
		}
		return f
	}
	start := time.Now()
	doc, err := document.Parse(f.path, data, p.docOpt)
	f.took.parse = time.Since(start)
	if err != nil {
		f = p.failed(f, info, err)
		f.record.FileHash = hash
		return f
	}
	if p.halfWritten(f.path, f.old, doc, info.Size(), info.ModTime()) {
		f.held = true
		return f
	}
	start = time.Now()
	f.doc = doc
	f.chunks = chunker.Split(doc, p.chunks)
	f.took.chunk = time.Since(start)
	f.record = newRecord(f.old, f.path, stat)
	f.record.FileHash = hash
	fillRecord(f.record, doc)
	return f
}

// failed makes the record of a file that can't be a document: named in status, in no index.
func (p *pipeline) failed(f finding, info fs.FileInfo, err error) finding {
	stat := fileStat{}
	if info != nil {
		stat = statOf(info)
	}
	if f.old != nil && f.old.Error == err.Error() {
		f.same = true // said once already
		if stat.equals(f.old) {
			return f
		}
		rec := *f.old
		stat.into(&rec)
		f.record = &rec
		return f
	}
	f.record = newRecord(f.old, f.path, stat)
	f.record.Error = err.Error()
	f.record.Title = strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path))
	f.chunks = nil
	return f
}

// formatVersion is raised when parsing or chunking changes what a file's records hold, so that unchanged files are read
// again after an upgrade.
const formatVersion = 1

func newRecord(old *registry.Record, path string, stat fileStat) *registry.Record {
	now := time.Now()
	rec := &registry.Record{Path: path, IndexedAt: now, CreatedAt: now, UpdatedAt: now, FormatVersion: formatVersion}
	if old != nil {
		rec.DocID, rec.CreatedAt = old.DocID, old.CreatedAt
	} else {
		rec.DocID = uuid.NewString()
	}
	stat.into(rec)
	return rec
}

func fillRecord(rec *registry.Record, doc *document.Document) {
	rec.Title, rec.Summary, rec.Category = doc.Title, doc.Summary, doc.Category
	rec.Keywords, rec.Aliases = doc.Keywords, doc.Aliases
	rec.Metadata, rec.HasFrontmatter, rec.InL0 = doc.Metadata, doc.HasFrontmatter, doc.InL0
	rec.Chinese, rec.Warnings, rec.SectionNames = doc.Chinese, doc.Warnings, doc.SectionNames
	rec.Sections = doc.SectionTitles()
}

// readFile reads a regular file of at most limit bytes without ever blocking on a FIFO put in its place.
func readFile(abs string, limit int64) ([]byte, fs.FileInfo, error) {
	file, err := openNonblock(abs)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, info, err
	}
	if int64(len(data)) > limit {
		return nil, info, fmt.Errorf("more than knowledge.max_file_size (%d bytes)", limit)
	}
	return data, info, nil
}

// reason strips the path from a file error: the log line and the record name it already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
