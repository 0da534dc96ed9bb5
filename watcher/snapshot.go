package watcher

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unicode/utf8"
)

// mark tells one state of a file from another, as far as that goes without reading it. Times are in ns.
type mark struct {
	size         int64
	mtime, ctime int64 // ctime is 0 where the system has none
	inode        uint64
}

// fileID identifies a file whatever its path.
type fileID struct{ dev, inode uint64 }

// folder is a folder of the snapshot, by names without slashes.
type folder struct {
	docs    map[string]doc
	subs    map[string]uint32 // name → scan that saw it last
	skips   map[string]struct{}
	rules   [len(ignoreFiles)]mark // of its ignore files as loaded
	id      fileID                 // of the folder that was listed last
	link    bool                   // reached through a link
	queued  bool                   // in fresh
	watched bool
	scanned bool
	failed  bool // could not be listed
	twice   bool // is watched under another name too, which gets the events
}

type doc struct {
	mark mark
	seen uint32 // scan that saw it last
}

// tick is longer than any step of a file system's clock: a file this fresh may change once more without showing it.
const tick = 20 * time.Millisecond

func (m mark) fresh(now time.Time) bool {
	age := now.UnixNano() - m.ctime
	return 0 <= age && age < int64(tick)
}

// forgetAll empties the snapshot and drops all work; the watches are left to the caller.
func (l *loop) forgetAll() {
	if l.docs > 0 {
		l.base.had = l.docs
	}
	l.folders = map[string]*folder{"": {}}
	l.docs, l.unwatched = 0, 1
	l.fresh, l.pass, l.cur, l.newSkips = nil, nil, nil, nil
	l.ids = map[fileID]string{}
	l.links, l.linkRoots, l.linkDocs, l.inside = map[fileID]string{}, map[string]string{}, map[string]fileID{}, nil
	l.rules.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.skipped)
}

// newFolder takes a folder into the snapshot and has it listed.
func (l *loop) newFolder(path string, link bool) {
	dir, name := split(path)
	parent := l.folders[dir]
	if parent.subs == nil {
		parent.subs = map[string]uint32{}
	}
	parent.subs[name] = l.scanSeq
	f := &folder{link: link, queued: true}
	l.folders[path] = f
	l.unwatched++
	l.fresh = append(l.fresh, path)
}

// forgetTree removes a folder and all below from the snapshot, hints at its documents and ends its watches, which would
// go on to report the old names of a moved folder.
func (l *loop) forgetTree(path string, now time.Time) {
	f := l.folders[path]
	if f == nil {
		return
	}
	for name := range f.docs {
		l.docs--
		l.hint(join(path, name), now)
	}
	for name := range f.subs {
		l.forgetTree(join(path, name), now)
	}
	for name := range f.skips {
		l.unskip(join(path, name), f, name)
	}
	dir, name := split(path)
	if parent := l.folders[dir]; parent != nil {
		delete(parent.subs, name)
		l.unskip(path, parent, name)
	}
	l.unwatch(path, f)
	l.unwatched--
	delete(l.folders, path)
	if l.ids[f.id] == path {
		delete(l.ids, f.id)
	}
	delete(l.linkRoots, path)
	l.rules.forget(path)
	if l.cur != nil && l.cur.f == f {
		l.cur = nil
	}
}

// look compares the snapshot with one path and brings it up to date. present: there is a document (or nobody can tell);
// changed: it is not what it was at the last look.
func (l *loop) look(path string, now time.Time) (present, changed bool) {
	dir, name := split(path)
	f := l.folders[dir]
	if f == nil { // gone, or about to be listed
		_, err := l.Stat(path)
		if err == nil {
			l.discover(dir, now)
		}
		return err == nil, false
	}
	e := l.inspect(path, name)
	old, known := f.docs[name]
	switch e.kind {
	case unknown:
		return true, false
	case document:
		l.forgetTree(path, now) // in case a folder had the name
		return true, l.note(path, f, name, e.mark)
	}
	if known {
		delete(f.docs, name)
		l.docs--
	}
	if _, sub := f.subs[name]; sub && e.kind != directory {
		l.forgetTree(path, now)
	} else if !sub && e.kind == directory {
		l.newFolder(path, e.link)
	}
	if e.reason != "" {
		l.skip(path, f, name, e.reason)
	} else if l.folders[path] == nil || !l.folders[path].failed {
		l.unskip(path, f, name)
	}
	return false, known && old.mark != (mark{})
}

// discover has the first folder on the way to dir looked at that the snapshot lacks.
func (l *loop) discover(dir string, now time.Time) {
	for i := range len(dir) + 1 {
		if (i == len(dir) || dir[i] == '/') && l.folders[dir[:i]] == nil {
			l.look(dir[:i], now)
			return
		}
	}
}

// note takes a document into the snapshot and tells whether it is new or differs.
func (l *loop) note(path string, f *folder, name string, m mark) (changed bool) {
	old, known := f.docs[name]
	if !known {
		l.docs++
		if f.docs == nil {
			f.docs = map[string]doc{}
		}
	}
	f.docs[name] = doc{mark: m, seen: l.scanSeq}
	l.unskip(path, f, name)
	return !known || old.mark != m
}

// hint holds a path back until it is quiet, then has it handed over.
func (l *loop) hint(path string, now time.Time) {
	if utf8.ValidString(path) { // others are reported as skipped
		l.deb.Add(path, now)
	}
}

// distrust spoils the mark of a file so fresh that its next change may not show, so that the next comparison reports it.
func (l *loop) distrust(path string, now time.Time) {
	dir, name := split(path)
	if f := l.folders[dir]; f != nil {
		if d, ok := f.docs[name]; ok && d.mark.fresh(now) {
			d.mark.ctime = 0
			f.docs[name] = d
		}
	}
}

func (l *loop) skip(path string, f *folder, name, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.skipped[path] == reason {
		return
	}
	l.skipped[path] = reason
	if f.skips == nil {
		f.skips = map[string]struct{}{}
	}
	f.skips[name] = struct{}{}
	l.newSkips = append(l.newSkips, Skipped{Path: path, Reason: reason})
}

func (l *loop) unskip(path string, f *folder, name string) {
	if _, ok := f.skips[name]; !ok {
		return
	}
	delete(f.skips, name)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.skipped, path)
}

// kind says what an entry is to the watcher.
type kind int

const (
	nothing   kind = iota // absent, or none of our business
	unknown               // cannot be told now
	document              // to be read
	directory             // to be listed
)

// entry is the outcome of an inspection.
type entry struct {
	kind   kind
	mark   mark   // of a document
	link   bool   // reached through a link
	reason string // why something that looks like a document or a folder is nothing
}

// inspect says what is at path, whose folder is known. It opens nothing.
func (l *loop) inspect(path, name string) entry {
	if hiddenName(name) {
		return entry{}
	}
	fi, err := os.Lstat(l.abs(path))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return entry{}
	case err != nil:
		return entry{kind: unknown}
	}
	mode := fi.Mode()
	if mode.IsDir() {
		if l.rules.excludes(path, true) {
			return entry{}
		}
		return entry{kind: directory}
	}
	link := mode&fs.ModeSymlink != 0
	if !link && !documentName(name) || l.rules.excludes(path, false) {
		return entry{}
	}
	switch {
	case link:
		return l.inspectLink(path, name)
	case !mode.IsRegular():
		return entry{reason: kindOf(mode)}
	case !utf8.ValidString(path):
		return entry{reason: "its name is not UTF-8"}
	}
	return entry{kind: document, mark: markOf(fi)}
}

// kindOf names what is neither a regular file nor a folder.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe, not a file"
	case mode&fs.ModeSocket != 0:
		return "a socket, not a file"
	case mode&fs.ModeDevice != 0:
		return "a device, not a file"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	}
	return "not a regular file"
}
