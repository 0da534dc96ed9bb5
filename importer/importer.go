// Package importer copies a folder of Markdown into the base folder. What is copied, and what is not and why, is planned
// before anything is written; the source is only read. Run again, it goes on where it was interrupted: what has arrived is
// known by its bytes.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"knowledged/watcher"
)

// What becomes of a file whose name is another document's in the base folder.
const (
	ClashRename = "rename" // it gets a number: both are kept
	ClashSkip   = "skip"   // it stays where it is
	ClashFail   = "fail"   // nothing at all is copied
)

// Results of an Item.
const (
	Imported  = "imported"
	Renamed   = "renamed"   // imported, under another name
	Duplicate = "duplicate" // Other has the same bytes
	Skipped   = "skipped"   // its name is taken by Other
	Failed    = "failed"    // Reason says why
	Link      = "link"      // a link that is not followed; Reason says why
)

// Config says what is copied where. Source and Base are absolute.
type Config struct {
	Source, Base   string
	Category       string // folder below the base; empty: the base folder itself
	OnClash        string // a Clash… constant
	MaxFileSize    int64  // bytes
	FollowSymlinks bool
}

// Item is what becomes of one file of the source.
type Item struct {
	File   string // slash path below the source
	Target string // slash path below the base; empty if there is none
	Result string
	Other  string // the document in the way: slash path below the base, or Twin's below the source
	Twin   bool   // Other is in the source as well
	Reason string

	size int64
	hash string
}

// Copies reports whether the file is one to copy.
func (i *Item) Copies() bool { return i.Result == Imported || i.Result == Renamed }

// Plan is what an import does.
type Plan struct {
	Items []Item // in order of their paths

	cfg   Config
	there *folder
}

// Clashes counts the files whose name is taken.
func (p *Plan) Clashes() (n int) {
	for i := range p.Items {
		if p.Items[i].Result == Renamed || p.Items[i].Result == Skipped {
			n++
		}
	}
	return n
}

// New looks at source and base and plans. read is told how many of how many files have been read.
func New(ctx context.Context, cfg Config, read func(done, all int), log *slog.Logger) (*Plan, error) {
	if err := apart(cfg.Source, cfg.Base); err != nil {
		return nil, err
	}
	source, err := watcher.New(watcher.Config{Base: cfg.Source, Mode: watcher.ModePoll, FollowSymlinks: cfg.FollowSymlinks}, log)
	if err != nil {
		return nil, err
	}
	files, err := source.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", cfg.Source, err)
	}
	there, err := survey(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	p := &Plan{cfg: cfg, there: there}
	for i, file := range files.Paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Items = append(p.Items, there.place(p.look(file)))
		read(i+1, len(files.Paths))
	}
	for _, s := range files.Skipped {
		p.Items = append(p.Items, there.place(p.passedOver(s)))
	}
	return p, nil
}

// passedOver judges what a base folder would not read. A link to a file of the source is copied as that file: the base folder
// gets no links.
func (p *Plan) passedOver(s watcher.Skipped) Item {
	item := Item{File: s.Path, Result: Failed, Reason: s.Reason}
	full := filepath.Join(p.cfg.Source, filepath.FromSlash(s.Path))
	if info, err := os.Lstat(full); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return item
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return item // a broken one
	}
	info, err := os.Stat(real)
	source, sourceErr := filepath.EvalSymlinks(p.cfg.Source)
	if err = errors.Join(err, sourceErr); err != nil {
		item.Reason = reason(err)
		return item
	}
	switch inside := below(real, source); {
	case inside && info.Mode().IsRegular():
		return p.look(s.Path)
	case !info.IsDir() && !info.Mode().IsRegular():
		return item
	case inside:
		item.Reason = "a link to a folder that is copied at its own place"
	case below(source, real):
		item.Reason = "a link loop: it leads to a folder that holds the one to copy"
	case !p.cfg.FollowSymlinks:
		item.Reason = "a link out of the folder (watch.follow_symlinks follows it)"
	}
	item.Result = Link
	return item
}

// apart refuses folders of which one holds the other: a copy would be copied again.
func apart(source, base string) error {
	for _, dir := range []*string{&source, &base} {
		real, err := filepath.EvalSymlinks(*dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // the base folder is made when something is copied
		}
		if err != nil {
			return err
		}
		*dir = real
	}
	if below(source, base) || below(base, source) {
		return &OverlapError{source, base}
	}
	return nil
}

func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// OverlapError says that source and base are not two folders.
type OverlapError struct{ Source, Base string }

func (e *OverlapError) Error() string {
	if e.Source == e.Base {
		return e.Source + " is the base folder: its documents need no import"
	}
	return fmt.Sprintf("%s and the base folder %s lie within each other", e.Source, e.Base)
}
