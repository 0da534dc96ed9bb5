package watcher

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"
)

// scan is the listing of one folder under way.
type scan struct {
	dir     string
	f       *folder
	entries []fs.DirEntry // sorted by name
	i       int
	seq     uint32
	fresh   bool // out of turn: a new folder
}

// begin watches a folder and then lists it, so that whatever is put into it from now on is either listed or reported; nil
// if it cannot be listed.
func (l *loop) begin(dir string, fresh bool, now time.Time) *scan {
	f := l.folders[dir]
	if f == nil {
		return nil
	}
	f.queued = false
	if _, ok := l.ids[f.id]; f.twice && !ok {
		f.twice, l.ids[f.id] = false, dir
	}
	var entries []fs.DirEntry
	for {
		l.watch(dir, f)
		found, id, err := list(l.abs(dir), f.link || dir == "")
		if err != nil {
			l.unlistable(dir, f, err, now)
			return nil
		}
		if !l.stale(dir, f, id, now) {
			entries = found
			break
		}
		if l.folders[dir] != f {
			return nil // it was below what was forgotten
		}
	}
	if f.failed {
		f.failed = false
		l.reported(dir, func(path string, in *folder, name string) { l.unskip(path, in, name) })
	}
	l.scanSeq++
	l.loadRules(dir, f, entries)
	if dir == "" {
		l.compareBeside(entries, now)
	}
	return &scan{dir: dir, f: f, entries: entries, seq: l.scanSeq, fresh: fresh}
}

// stale tells whether the watch of a folder being listed was of no use, because of renames whose events are still to come:
// then it was replaced, and what happened until now must be listed again.
func (l *loop) stale(dir string, f *folder, id fileID, now time.Time) bool {
	before := f.id
	f.id = id
	if id == (fileID{}) || id == before {
		return false
	}
	if before != (fileID{}) { // another folder took the name, unnoticed: what was known below is void
		for name := range f.subs {
			l.forgetTree(join(dir, name), now)
		}
		delete(l.ids, before)
	}
	other, known := l.ids[id]
	if known && other != dir {
		if fi, err := os.Lstat(l.abs(other)); err == nil && idOf(fi) == id {
			l.unwatch(dir, f) // mounted twice: the system reports changes under one name only
			f.twice = true
			return false
		}
		// The system goes on to report the folder's changes under its old name, until that watch ends.
		l.forgetTree(other, now)
		l.look(other, now)
	}
	l.ids[id] = dir
	if before == (fileID{}) && !known {
		return false
	}
	l.unwatch(dir, f)
	return true
}

func list(name string, link bool) ([]fs.DirEntry, fileID, error) {
	d, err := openDir(name, link)
	if err != nil {
		return nil, fileID{}, err
	}
	defer d.Close()
	fi, err := d.Stat()
	if err != nil {
		return nil, fileID{}, err
	}
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, idOf(fi), err
}

// unlistable sees to a folder that is gone or cannot be read. Of an unreadable one, the last known state stays.
func (l *loop) unlistable(dir string, f *folder, err error, now time.Time) {
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
	switch {
	case gone && dir == "":
		l.checkBase(now)
	case gone:
		l.forgetTree(dir, now)
		l.look(dir, now)
	default:
		f.failed, l.retry = true, true
		reason := "the folder cannot be read: " + cause(err).Error()
		l.reported(dir, func(path string, in *folder, name string) { l.skip(path, in, name, reason) })
	}
}

// reported calls fn with the path under which a folder itself is reported as skipped, and with where that is kept.
func (l *loop) reported(dir string, fn func(path string, in *folder, name string)) {
	if dir == "" {
		fn(".", l.folders[""], ".")
		return
	}
	parent, name := split(dir)
	fn(dir, l.folders[parent], name)
}

// cause strips the path off an error: whoever reports it names it.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// compareBeside finds out by the listing of the base folder whether the file beside the documents has changed: there may be
// no events.
func (l *loop) compareBeside(entries []fs.DirEntry, now time.Time) {
	var m mark
	at, ok := slices.BinarySearchFunc(entries, l.cfg.Beside, func(e fs.DirEntry, name string) int { return cmp.Compare(e.Name(), name) })
	if ok {
		if fi, err := entries[at].Info(); err == nil {
			m = markOf(fi)
		}
	}
	if m != l.beside {
		l.beside = m
		l.hint(l.cfg.Beside, now)
	}
}

// loadRules reads the ignore files of a folder if there is reason to, before any of its entries is judged.
func (l *loop) loadRules(dir string, f *folder, entries []fs.DirEntry) {
	var marks [len(ignoreFiles)]mark
	for i, name := range ignoreFiles {
		at, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return cmp.Compare(e.Name(), name) })
		if !ok {
			continue
		}
		if fi, err := entries[at].Info(); err == nil {
			marks[i] = markOf(fi)
		}
	}
	none := [len(ignoreFiles)]mark{}
	if marks == f.rules && (marks == none || !l.walking()) {
		return // a walk reads even what looks the same: it may be what was asked for
	}
	f.rules = marks
	l.rules.load(dir)
	if f.scanned && !l.walking() {
		l.needWalk = true
	}
}

// advance looks at up to n entries of the folder being listed and returns how many it were.
func (l *loop) advance(now time.Time, n int) int {
	s := l.cur
	start := s.i
	for ; s.i < len(s.entries) && s.i-start < n; s.i++ {
		l.visit(s, s.entries[s.i], now)
		if l.cur != s { // the folder was forgotten meanwhile
			return n
		}
	}
	if s.i == len(s.entries) {
		l.finish(s, now)
		l.cur = nil
	}
	return s.i - start
}

// visit looks at one entry of a listing.
func (l *loop) visit(s *scan, e fs.DirEntry, now time.Time) {
	name := e.Name()
	if hiddenName(name) {
		return
	}
	path := join(s.dir, name)
	known := false
	switch _, sub := s.f.subs[name]; {
	case e.IsDir() && sub:
		if !l.rules.excludes(path, true) {
			l.visitFolder(s, name, path)
		}
		return
	case e.Type().IsRegular() && !sub:
		if !documentName(name) || l.rules.excludes(path, false) || !utf8.ValidString(path) {
			break
		}
		fi, err := e.Info()
		if err != nil {
			return // gone meanwhile: finish looks for itself
		}
		m := markOf(fi)
		if changed := l.note(path, s.f, name, m); changed && !l.walking() || m.fresh(now) {
			l.hint(path, now)
		}
		return
	case e.Type().IsRegular() && !documentName(name):
		return
	default:
		_, known = s.f.docs[name]
	}
	if present, changed := l.look(path, now); (present && changed || known && !present) && !l.walking() {
		l.hint(path, now)
	}
	if _, sub := s.f.subs[name]; sub { // a link to a folder
		l.visitFolder(s, name, path)
	}
}

// visitFolder notes a folder that is in the snapshot already; a pass goes on into it.
func (l *loop) visitFolder(s *scan, name, path string) {
	s.f.subs[name] = s.seq
	if !s.fresh && l.pass != nil && l.pass.all && !l.folders[path].queued {
		l.pass.queue = append(l.pass.queue, path)
	}
}

// finish looks for what the snapshot has and the listing lacks.
func (l *loop) finish(s *scan, now time.Time) {
	for name, d := range s.f.docs {
		if d.seen >= s.seq {
			continue
		}
		path := join(s.dir, name)
		if present, changed := l.look(path, now); (!present || changed) && !l.walking() {
			l.hint(path, now)
		}
	}
	for name, seen := range s.f.subs {
		if seen < s.seq {
			l.look(join(s.dir, name), now)
		}
	}
	for name := range s.f.skips {
		if path := join(s.dir, name); s.f.subs[name] == 0 && name != "." {
			l.look(path, now)
		}
	}
	s.f.scanned = true
}
