package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"knowledged/document"
	"knowledged/ipc"
	"knowledged/watcher"
)

// look reads one file of the source and judges it by itself: Target is where it would like to be.
func (p *Plan) look(file string) Item {
	item := Item{File: file, Target: path.Join(p.cfg.Category, file)}
	if item.Reason = p.judge(&item); item.Reason != "" {
		item.Result, item.Target = Failed, ""
	}
	return item
}

// judge says why a file can be no document of the base folder, "" if it can.
func (p *Plan) judge(item *Item) string {
	category := path.Dir(item.Target)
	if category == "." {
		category = ""
	}
	if err := ipc.CheckName(category, path.Base(item.Target)); err != nil {
		return err.Error()
	}
	data, err := readAtMost(filepath.Join(p.cfg.Source, filepath.FromSlash(item.File)), p.cfg.MaxFileSize)
	if err != nil {
		return reason(err)
	}
	if len(data) == 0 {
		return "is empty"
	}
	if _, err := document.Decode(data); err != nil {
		return "is " + err.Error()
	}
	item.size, item.hash = int64(len(data)), hashOf(data)
	return ""
}

// folder is what there is below the base folder, and what the plan adds to it.
type folder struct {
	cfg     Config
	names   *watcher.Watcher
	byName  map[string]string  // folded path → path
	unread  map[int64][]string // by size: documents are read when a file of their size comes
	byHash  map[string]string  // → path
	planned map[string]string  // hash → file of the source that is to be copied
}

// survey lists the base folder.
func survey(ctx context.Context, cfg Config, log *slog.Logger) (*folder, error) {
	f := &folder{cfg: cfg, byName: map[string]string{}, unread: map[int64][]string{}, byHash: map[string]string{}, planned: map[string]string{}}
	var err error
	if f.names, err = watcher.New(watcher.Config{Base: cfg.Base, Mode: watcher.ModePoll, FollowSymlinks: cfg.FollowSymlinks}, log); err != nil {
		return nil, err
	}
	if _, err := os.Stat(cfg.Base); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	documents, err := f.names.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", cfg.Base, err)
	}
	for _, p := range documents.Paths {
		f.byName[folded(p)] = p
		if info, err := f.names.Stat(p); err == nil {
			f.unread[info.Size()] = append(f.unread[info.Size()], p)
		}
	}
	return f, nil
}

// folded makes names equal that are the same file on some systems: case and the composition of letters don't count.
func folded(p string) string { return strings.ToLower(norm.NFC.String(p)) }

// place decides what becomes of a file that could be a document.
func (f *folder) place(item Item) Item {
	if item.Result == Failed || item.Result == Link {
		return item
	}
	if twin, in := f.planned[item.hash]; in {
		item.Result, item.Target, item.Other, item.Twin = Duplicate, "", twin, true
		return item
	}
	if twin := f.twin(item.size, item.hash); twin != "" {
		item.Result, item.Target, item.Other = Duplicate, "", twin
		return item
	}
	if why := f.hidden(item.Target); why != "" {
		item.Result, item.Target, item.Reason = Failed, "", why
		return item
	}
	item.Result = Imported
	if item.Other = f.taken(item.Target); item.Other != "" {
		if f.cfg.OnClash == ClashSkip {
			item.Result, item.Target = Skipped, ""
			return item
		}
		item.Result, item.Target = Renamed, f.free(item.Target)
	}
	f.byName[folded(item.Target)] = item.Target
	f.planned[item.hash] = item.File
	return item
}

// twin is a document of the base folder with these bytes.
func (f *folder) twin(size int64, hash string) string {
	for _, p := range f.unread[size] {
		if data, err := readAtMost(f.abs(p), size); err == nil {
			f.byHash[hashOf(data)] = p
		}
	}
	delete(f.unread, size)
	return f.byHash[hash]
}

// hidden says why a file would never be a document at target, although its name is one's.
func (f *folder) hidden(target string) string {
	if !f.names.IsDocument(target) {
		return "has the name of a backup or temporary file"
	}
	for at := target; at != "."; at = path.Dir(at) {
		if f.names.Ignored(at, at != target) {
			return fmt.Sprintf("would not be seen as %s: the ignore rules of the base folder name %q", target, at)
		}
	}
	return ""
}

// taken is what has the target's name: a document, or another file.
func (f *folder) taken(target string) string {
	if other := f.byName[folded(target)]; other != "" {
		return other
	}
	if _, err := os.Lstat(f.abs(target)); err == nil {
		return target
	}
	return ""
}

// free is target with the first number that makes it a name of its own.
func (f *folder) free(target string) string {
	ext := path.Ext(target)
	stem := strings.TrimSuffix(target, ext)
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s-%d%s", stem, n, ext); f.taken(name) == "" {
			return name
		}
	}
}

func (f *folder) abs(p string) string { return filepath.Join(f.cfg.Base, filepath.FromSlash(p)) }
