package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	kd "knowledged/daemon"
	"knowledged/ipc"
	"knowledged/watcher"
)

// folder is what a walk of the base folder found.
type folder struct {
	documents, folders int
	skipped            []watcher.Skipped
	future             []string // documents saved later than now
	unread             []string // documents that may not be read, and why
}

// skew is how far a file's time may be ahead of the clock: coarse file systems round up.
const skew = 2 * time.Second

func (x *examination) baseFolder(ctx context.Context) {
	const name = "base folder"
	base := x.cfg.Knowledge.BasePath
	err := kd.CheckBase(base)
	var bad *ipc.ConfigError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.warn(name, base+" is not there", "`knowledged run` makes it; if that is not the folder you mean, set knowledge.base_path or --base")
		return
	case errors.As(err, &bad):
		x.fail(name, bad.Message, "name a folder that you may read: knowledge.base_path or --base")
		return
	case err != nil:
		x.fail(name, err.Error(), "check the folder and its rights")
		return
	}
	if x.folder, err = x.walk(ctx, base); err != nil {
		x.fail(name, err.Error(), "check the folder and its rights")
		return
	}
	switch {
	case len(x.folder.skipped) > 0:
		var named []string
		for _, s := range x.folder.skipped[:min(3, len(x.folder.skipped))] {
			named = append(named, s.Path+" ("+s.Reason+")")
		}
		x.warn(name, fmt.Sprintf("%d files or folders of %s are passed over: %s", len(x.folder.skipped), base, strings.Join(named, "; ")), "give the daemon's account the right to read them, or name them in .knowledgeignore")
	case !writable(base):
		x.warn(name, base+" may be read, not written: uploads and deletions fail", "if documents are to be uploaded, give the daemon's account the right to write there")
	default:
		x.ok(name, "%s: %d documents in %d folders", base, x.folder.documents, x.folder.folders)
	}
}

func (x *examination) walk(ctx context.Context, base string) (*folder, error) {
	w, err := watcher.New(watcher.Config{Base: base, Mode: watcher.ModePoll, FollowSymlinks: x.cfg.Watch.FollowSymlinks}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	batch, err := w.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", base, err)
	}
	f := &folder{documents: len(batch.Paths), folders: w.Status().Folders, skipped: batch.Skipped}
	now := time.Now()
	for _, p := range batch.Paths {
		if info, err := w.Stat(p); err == nil && info.ModTime().Sub(now) > skew {
			f.future = append(f.future, p)
		}
		if x.open == nil {
			continue
		}
		if err := x.open(filepath.Join(base, filepath.FromSlash(p))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.unread = append(f.unread, fmt.Sprintf("%s (%v)", p, reason(err)))
		}
	}
	return f, nil
}

func openable(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return f.Close()
}

// reason is an error without the path: that is told beside it.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func (x *examination) stateFolder(context.Context) {
	const name = "state folder"
	dir := x.cfg.StateDir
	info, err := os.Stat(dir)
	switch {
	case x.stateElsewhere():
		x.ok(name, "not looked at: %s is not there. The daemon has another (STATE_DIRECTORY=/var/lib/knowledged names a service's), or its own was deleted: then restart it", dir)
		return
	case errors.Is(err, fs.ErrNotExist):
		above := existing(dir)
		if !writable(above) {
			x.fail(name, fmt.Sprintf("%s is not there, and cannot be made in %s", dir, above), "give the right to write there, or name another place: state_dir or --state")
			return
		}
		x.ok(name, "%s is made at the first start", dir)
		return
	case err != nil:
		x.fail(name, err.Error(), "give the daemon's account the right to use it, or name another: state_dir or --state")
		return
	case !info.IsDir():
		x.fail(name, dir+" is a file", "move it away, or name another place: state_dir or --state")
		return
	case !writable(dir):
		x.fail(name, dir+" cannot be written", "give the daemon's account the right to, or name another: state_dir or --state")
		return
	}
	if broken, _ := filepath.Glob(filepath.Join(globQuoted(dir), "*.broken-*")); len(broken) > 0 {
		x.warn(name, fmt.Sprintf("%s holds what was damaged and set aside: %s", dir, filepath.Base(broken[len(broken)-1])), "check the disk; the index was rebuilt, and the *.broken-* may be deleted")
		return
	}
	if info.Mode().Perm()&0o077 != 0 {
		x.warn(name, fmt.Sprintf("%s may be read by others (mode %04o): it holds texts and questions", dir, info.Mode().Perm()), "chmod 700 "+dir)
		return
	}
	x.ok(name, "%s", dir)
}

// globQuoted escapes what Glob would take for a pattern.
func globQuoted(dir string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(dir)
}

// existing is the nearest folder above that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// Free space below these is told. An index is rebuilt beside the old one.
const (
	littleSpace = 1 << 30
	noSpace     = 64 << 20
)

// stateElsewhere: the folder's daemon runs, and not with the state folder that this caller's environment gives.
func (x *examination) stateElsewhere() bool {
	_, err := os.Stat(x.cfg.StateDir)
	return x.here && errors.Is(err, fs.ErrNotExist)
}

func (x *examination) space(context.Context) {
	const name = "disk space"
	worst, where := int64(-1), ""
	dirs := []string{x.cfg.Knowledge.BasePath}
	if !x.stateElsewhere() {
		dirs = append(dirs, x.cfg.StateDir)
	}
	for _, dir := range dirs {
		free, err := x.free(existing(dir))
		if err != nil {
			x.warn(name, fmt.Sprintf("cannot be told for %s: %v", dir, err), "look with df")
			return
		}
		if worst < 0 || free < worst {
			worst, where = free, dir
		}
	}
	message := fmt.Sprintf("%.1f GB free for %s", float64(worst)/1e9, where)
	switch {
	case worst < noSpace:
		x.fail(name, message, "make room: without it saves are not kept over a restart, and uploads fail")
	case worst < littleSpace:
		x.warn(name, message, "make room: a rebuild of the index needs its size once more")
	default:
		x.ok(name, "%s", message)
	}
}

// clock compares file times with the clock: saves are told from what is indexed by them.
func (x *examination) clock(context.Context) {
	const name = "clock"
	if time.Now().Year() < 2024 {
		x.fail(name, "it is "+time.Now().Format(time.DateTime)+", it says", "set the clock (timedatectl set-ntp true)")
		return
	}
	if x.folder != nil && len(x.folder.future) > 0 {
		x.warn(name, fmt.Sprintf("%d documents were saved in the future, such as %s", len(x.folder.future), x.folder.future[0]),
			"set this clock, or that of the machine that saves them (timedatectl set-ntp true); else `touch` them")
		return
	}
	x.ok(name, "%s; no document is from the future", time.Now().Format(time.RFC3339))
}
