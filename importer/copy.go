package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Run copies what is planned and tells each item as it is done, also those with nothing to do. It ends early only with ctx;
// a file that cannot be copied is told as failed.
func (p *Plan) Run(ctx context.Context, done func(Item)) error {
	if err := os.MkdirAll(p.cfg.Base, 0o755); err != nil {
		return fmt.Errorf("make the base folder: %w", err)
	}
	base, err := os.OpenRoot(p.cfg.Base) // a link below it that leads out is not followed
	if err != nil {
		return fmt.Errorf("open the base folder: %w", err)
	}
	defer base.Close()
	cleaned := map[string]bool{}
	failed := map[string]bool{} // files whose copy others were to be the same as
	for _, item := range p.Items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if item.Twin && failed[item.Other] {
			if p.there.planned[item.hash] == item.Other { // else another took its place
				delete(p.there.planned, item.hash)
			}
			item = p.there.place(Item{File: item.File, Target: path.Join(p.cfg.Category, item.File), size: item.size, hash: item.hash})
		}
		// Also where nothing is left to do: what was killed may have given a file its name already.
		if dir := path.Dir(path.Join(p.cfg.Category, item.File)); !cleaned[dir] {
			cleaned[dir] = true
			removeLeftovers(base, filepath.FromSlash(dir))
		}
		if item.Copies() {
			if err := p.copy(base, &item); err != nil {
				item.Result, item.Reason, item.Target = Failed, reason(err), ""
				failed[item.File] = true
			}
		}
		done(item)
	}
	return nil
}

// Rehearse tells what Run would do, and changes nothing.
func (p *Plan) Rehearse(done func(Item)) {
	shut := map[string]string{} // folder → why nothing could be made there
	for _, item := range p.Items {
		if item.Copies() {
			dir := path.Dir(item.Target)
			why, known := shut[dir]
			if !known {
				why = whyShut(filepath.Join(p.cfg.Base, filepath.FromSlash(dir)))
				shut[dir] = why
			}
			if why != "" {
				item.Result, item.Reason, item.Target = Failed, why, ""
			}
		}
		done(item)
	}
}

// whyShut says why no file could be made in a folder, which need not be there yet.
func whyShut(dir string) string {
	for {
		info, err := os.Stat(dir)
		switch above := filepath.Dir(dir); {
		case errors.Is(err, fs.ErrNotExist) && above != dir:
			dir = above
			continue
		case err != nil:
			return fmt.Sprintf("%s cannot be looked at: %v", dir, cause(err))
		case !info.IsDir():
			return dir + " is no folder"
		case !mayWrite(dir):
			return dir + " cannot be written"
		}
		return ""
	}
}

var (
	errChanged = errors.New("changed while it was read: import again")
	errCame    = errors.New("a file of that name was made meanwhile")
)

// copy copies one file.
func (p *Plan) copy(base *os.Root, item *Item) error {
	data, err := readAtMost(filepath.Join(p.cfg.Source, filepath.FromSlash(item.File)), p.cfg.MaxFileSize)
	if err != nil {
		return err
	}
	if hashOf(data) != item.hash {
		return errChanged
	}
	return write(base, item.Target, data)
}

// Write makes one new file at a slash path below the base folder, which is made if it is missing, in one step. It fails
// where there is a file already.
func Write(base, target string, data []byte) error {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return fmt.Errorf("make the base folder: %w", err)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return fmt.Errorf("open the base folder: %w", err)
	}
	defer root.Close()
	if err := write(root, target, data); err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	return nil
}

// write makes a new file: whoever looks at it sees nothing or all of it.
func write(base *os.Root, slashed string, data []byte) error {
	target := filepath.FromSlash(slashed)
	if err := base.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return cause(err)
	}
	f, temp, err := newTemp(base, filepath.Dir(target))
	if err != nil {
		return cause(err)
	}
	defer func() {
		f.Close()
		_ = base.Remove(temp) // not there any more, where all went well
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err == nil && !renamesOpen {
		err = f.Close()
	}
	if err == nil {
		err = appear(base, temp, target, data, ways)
	}
	return cause(err)
}

// readAtMost reads a regular file of at most limit bytes. What became a FIFO would block: it is looked at first.
func readAtMost(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	tooLarge := func(size int64) error {
		return fmt.Errorf("has %d bytes and is larger than knowledge.max_file_size (%d bytes)", size, limit)
	}
	if info.Size() > limit {
		return nil, tooLarge(info.Size())
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = tooLarge(int64(len(data))) // it grew
	}
	return data, err
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// cause strips the path from an error: it may be that of a temporary file, and the item names the one that is meant.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}

func reason(err error) string { return cause(err).Error() }
