package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
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
	// The watcher says what is a document: a link that took a file's place, or an ignore rule, ends one.
	info, err := p.folder.Stat(f.path)
	switch {
	case err != nil && isFault(err):
		return p.unreadable(f, nil, err)
	case err != nil:
		f.gone = true
		return f
	}
	if trust && p.unchanged(f.old, statOf(info)) {
		f.same = true
		return f
	}
	if info.Size() > p.maxSize {
		return p.failed(f, info, fmt.Errorf("%d bytes is more than knowledge.max_file_size (%d bytes)", info.Size(), p.maxSize))
	}
	start := time.Now()
	data, opened, err := p.read(p.abs(f.path), p.maxSize)
	f.took.read = time.Since(start)
	if opened != nil {
		info = opened
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.gone = true
		return f
	case err != nil:
		return p.unreadable(f, info, err)
	}
	return p.parse(f, info, data)
}

// unchanged reports whether a file need not be read: it is as it was when it was indexed, by the rules of now. What failed
// is looked at again: a limit may have been raised.
func (p *pipeline) unchanged(rec *registry.Record, stat fileStat) bool {
	return rec != nil && !rec.Failed() && rec.FormatVersion == p.format && stat.equals(rec) && !racy(rec.IndexedAt, stat)
}

func racy(indexed time.Time, stat fileStat) bool {
	return indexed.Sub(time.Unix(0, stat.changed)) <= racyAge
}

// isFault reports whether the system refused to say what a path is; else it just is no document any more.
func isFault(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) && !isNotDir(err)
}

// parse turns the bytes of a file into the record and chunks the indexes should hold.
func (p *pipeline) parse(f finding, info fs.FileInfo, data []byte) finding {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	stat := statOf(info)
	if f.old != nil && f.old.FileHash == hash && !f.old.Failed() && f.old.FormatVersion == p.format {
		f.same = true
		if !stat.equals(f.old) || racy(f.old.IndexedAt, stat) {
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
	if p.halfWritten(f.path, f.old, doc, data, info.ModTime()) {
		f.held = true
		return f
	}
	if err != nil {
		if f = p.failed(f, info, err); f.record != nil {
			f.record.FileHash = hash
		}
		return f
	}
	start = time.Now()
	f.doc = doc
	f.chunks = chunker.Split(doc, p.chunks)
	f.took.chunk = time.Since(start)
	f.record = p.newRecord(f.old, f.path, stat)
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
	f.record = p.newRecord(f.old, f.path, stat)
	f.record.Error = err.Error()
	f.record.Title = strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path))
	f.record.Category, _, _ = strings.Cut(f.path, "/")
	if f.record.Category == f.path { // a file in the base folder itself
		f.record.Category = ""
	}
	f.chunks = nil
	return f
}

// formatVersion is raised when parsing or chunking changes what a file's records hold, so that unchanged files are read
// again after an upgrade.
const formatVersion = 2

// formatOf is formatVersion together with the settings that have the same effect.
func formatOf(doc document.Options, chunks chunker.Options) int {
	all := fmt.Sprintf("%d %q %t %d %d", formatVersion, doc.BaseName, doc.Fallback, chunks.Target, chunks.Max)
	return int(crc32.ChecksumIEEE([]byte(all)))
}

func (p *pipeline) newRecord(old *registry.Record, path string, stat fileStat) *registry.Record {
	now := time.Now()
	rec := &registry.Record{Path: path, IndexedAt: now, CreatedAt: now, UpdatedAt: now, FormatVersion: p.format}
	if old != nil {
		rec.DocID, rec.CreatedAt = old.DocID, old.CreatedAt
	} else {
		rec.DocID = uuid.NewString()
	}
	stat.into(rec)
	return rec
}

func fillRecord(rec *registry.Record, doc *document.Document) {
	// Copies: L0 keeps these, and a part of the file's text would keep all of it in memory.
	rec.Title, rec.Summary, rec.Category = strings.Clone(doc.Title), doc.Summary, doc.Category
	rec.Keywords, rec.Aliases = clones(doc.Keywords), clones(doc.Aliases)
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

func clones(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = strings.Clone(s)
	}
	return out
}
