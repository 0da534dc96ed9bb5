// Package folder reads a folder of documents for lint by the rules of the daemon's watcher, without a daemon.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"knowledged/document"
	"knowledged/l0"
	"knowledged/lint"
	"knowledged/synonyms"
	"knowledged/watcher"
)

// Config says which folder is read and how.
type Config struct {
	Base           string // absolute
	MaxFileSize    int64  // bytes
	Fallback       bool   // knowledge.front_matter.fallback
	FollowSymlinks bool
}

// reader reads one folder.
type reader struct {
	cfg   Config
	names *watcher.Watcher
}

// Read reads all documents of the folder.
func Read(ctx context.Context, cfg Config, log *slog.Logger) (lint.Folder, error) {
	w, err := watcher.New(watcher.Config{Base: cfg.Base, Mode: watcher.ModePoll, FollowSymlinks: cfg.FollowSymlinks}, log)
	if err != nil {
		return lint.Folder{}, err
	}
	batch, err := w.List(ctx)
	if err != nil {
		return lint.Folder{}, fmt.Errorf("list %s: %w", cfg.Base, err)
	}
	r := &reader{cfg, w}
	f := lint.Folder{Exists: r.exists, NewMatcher: newMatcher}
	for _, s := range batch.Skipped {
		f.Rejected = append(f.Rejected, lint.Rejected{Path: s.Path, Rule: lint.NotRead, Reason: "not read: " + s.Reason})
	}
	if f.Synonyms, err = r.synonyms(); err != nil {
		return lint.Folder{}, fmt.Errorf("read synonyms: %w", err)
	}
	if f.Copies, err = r.copies(); err != nil {
		return lint.Folder{}, fmt.Errorf("list %s: %w", cfg.Base, err)
	}
	return r.inspect(ctx, f, batch.Paths)
}

// inspect reads the documents side by side; the outcome does not depend on their order.
func (r *reader) inspect(ctx context.Context, f lint.Folder, paths []string) (lint.Folder, error) {
	pages, rejected := make([]*lint.Page, len(paths)), make([]*lint.Rejected, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range paths {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			pages[i], rejected[i] = r.document(p)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return lint.Folder{}, err
	}
	for i := range paths {
		if pages[i] != nil {
			f.Pages = append(f.Pages, *pages[i])
		}
		if rejected[i] != nil {
			f.Rejected = append(f.Rejected, *rejected[i])
		}
	}
	return f, nil
}

// document reads one document. Neither is returned for a file that is gone meanwhile.
func (r *reader) document(p string) (*lint.Page, *lint.Rejected) {
	data, rejected := r.file(p)
	if data == nil {
		return nil, rejected
	}
	text, err := document.Decode(data)
	if err != nil {
		return nil, &lint.Rejected{Path: p, Rule: lint.NotText, Reason: err.Error()}
	}
	doc, err := document.Parse(p, data, document.Options{BaseName: filepath.Base(r.cfg.Base), Fallback: r.cfg.Fallback})
	if err != nil {
		return nil, &lint.Rejected{Path: p, Rule: lint.NotText, Reason: err.Error()}
	}
	page := lint.Inspect(doc, text)
	return &page, nil
}

func (r *reader) file(p string) ([]byte, *lint.Rejected) {
	reject := func(rule, reason string) *lint.Rejected { return &lint.Rejected{Path: p, Rule: rule, Reason: reason} }
	info, err := r.names.Stat(p) // before opening: what became a FIFO would block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, reject(lint.NotRead, "not read: "+reason(err))
	case info.Size() > r.cfg.MaxFileSize:
		return nil, reject(lint.TooLarge, fmt.Sprintf("%d bytes are more than knowledge.max_file_size (%d bytes)", info.Size(), r.cfg.MaxFileSize))
	}
	file, err := os.Open(r.abs(p))
	if err != nil {
		return nil, reject(lint.NotRead, "not read: "+reason(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, r.cfg.MaxFileSize))
	if err != nil {
		return nil, reject(lint.NotRead, "not read: "+reason(err))
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// reason strips the path from an error: the finding names it.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// copies lists the Markdown files that the name rules keep out though nothing hides them: sync-conflict copies.
func (r *reader) copies() ([]string, error) {
	var found []string
	err := filepath.WalkDir(r.cfg.Base, func(file string, entry fs.DirEntry, err error) error {
		below, relErr := filepath.Rel(r.cfg.Base, file)
		p := filepath.ToSlash(below)
		switch {
		case relErr != nil:
			return relErr
		case p == ".":
			return err
		case err != nil, strings.HasPrefix(entry.Name(), "."), r.names.Ignored(p, entry.IsDir()):
			if entry.IsDir() {
				return fs.SkipDir // an unreadable folder is among the watcher's Skipped
			}
			return nil
		case !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), "~"): // locks and transfers under way
			return nil
		}
		if ext := strings.ToLower(path.Ext(p)); (ext == ".md" || ext == ".markdown") && !r.names.IsDocument(p) {
			found = append(found, p)
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// synonyms reads the folder's synonyms, a byte more than there may be; nil if it has none.
func (r *reader) synonyms() ([]byte, error) {
	file := r.abs(synonyms.FileName)
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, synonyms.MaxBytes+1))
	if data == nil {
		data = []byte{}
	}
	return data, err
}

func (r *reader) abs(p string) string { return filepath.Join(r.cfg.Base, filepath.FromSlash(p)) }

func (r *reader) exists(p string) bool {
	_, err := os.Stat(r.abs(p))
	return err == nil
}

// newMatcher is the exact table of lookups with a document for each name.
func newMatcher(keywords []string) lint.Matcher {
	put := make([]l0.Put, len(keywords))
	for i, k := range keywords {
		put[i] = l0.Put{Path: strconv.Itoa(i), InTable: true, Names: l0.Names{Keywords: []string{k}}}
	}
	return l0.NewNameTable(put)
}
