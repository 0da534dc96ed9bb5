package watcher

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"
)

// stepEntries is how many entries are looked at before events and hand-overs get their turn.
const stepEntries = 256

// pass lists all folders, top down. A walk ends in a batch that lists the whole folder; any other pass is a comparison
// that hints at what differs from the snapshot.
type pass struct {
	walk    bool
	all     bool     // covers all folders
	queue   []string // folders yet to be listed
	scanned bool     // a walk has seen all and waits for files that are just being written,
	until   time.Time
}

// scan is the listing of one folder under way.
type scan struct {
	dir     string
	f       *folder
	entries []fs.DirEntry // sorted by name
	i       int
	seq     uint32
	fresh   bool // out of turn: a new folder
}

func (l *loop) walking() bool { return l.pass != nil && l.pass.walk }

// working tells whether step has something to do now.
func (l *loop) working() bool {
	if l.base.missing {
		return false
	}
	if l.cur != nil || len(l.fresh) > 0 {
		return true
	}
	if l.pass != nil {
		return !l.pass.scanned
	}
	return l.needWalk
}

// step does a bounded piece of the listing work.
func (l *loop) step(now time.Time) {
	for budget := stepEntries; budget > 0 && !l.base.missing; budget-- {
		if l.cur == nil && !l.pick(now) {
			return
		}
		if l.cur != nil {
			budget -= l.advance(now, budget)
		}
	}
}

// pick chooses the next folder to list: new ones first.
func (l *loop) pick(now time.Time) bool {
	if l.pass != nil && !l.pass.walk && l.needWalk {
		l.pass = nil // a walk does all that a comparison does
	}
	switch {
	case len(l.fresh) > 0:
		dir := l.fresh[0]
		l.fresh = l.fresh[1:]
		l.cur = l.begin(dir, true, now)
	case l.pass != nil && len(l.pass.queue) > 0:
		dir := l.pass.queue[0]
		l.pass.queue = l.pass.queue[1:]
		l.cur = l.begin(dir, false, now)
	case l.pass != nil:
		return l.endPass(now)
	case l.needWalk:
		l.needWalk = false
		if l.docs > 0 {
			l.base.had = l.docs
		}
		l.pass = &pass{walk: true, all: true, queue: []string{""}}
	case !l.nextPoll.IsZero() && !now.Before(l.nextPoll):
		l.startPoll()
	default:
		return false
	}
	return true
}

func (l *loop) startPoll() {
	l.nextPoll = time.Time{}
	if l.fsw == nil {
		l.openNotify()
	}
	if l.cfg.Mode != ModeFsnotify {
		l.pass = &pass{all: true, queue: []string{""}}
		return
	}
	l.pass = &pass{}
	for path, f := range l.folders {
		if !f.watched {
			l.pass.queue = append(l.pass.queue, path)
		}
	}
}

// endPass finishes a pass all of whose folders are listed; false means that a walk must wait.
func (l *loop) endPass(now time.Time) bool {
	p := l.pass
	if p.walk && !p.scanned {
		p.scanned, p.until = true, now.Add(l.cfg.MaxSettle)
	}
	if p.walk && l.deb.Waiting() > 0 && now.Before(p.until) {
		return false
	}
	l.pass = nil
	if p.all {
		l.mu.Lock()
		l.status.LastWalk = now
		l.mu.Unlock()
		l.verifyWatches()
	}
	if l.cfg.Mode != ModeFsnotify || l.unwatched > 0 {
		l.nextPoll = now.Add(l.cfg.PollInterval)
	}
	if p.walk && l.believe(now) {
		l.offerListing()
	}
	return true
}

func (l *loop) offerListing() {
	paths := make([]string, 0, l.docs)
	for dir, f := range l.folders {
		for name := range f.docs {
			paths = append(paths, join(dir, name))
		}
	}
	slices.Sort(paths)
	l.newSkips = nil
	l.mu.Lock()
	skipped := make([]Skipped, 0, len(l.skipped))
	for path, reason := range l.skipped {
		skipped = append(skipped, Skipped{Path: path, Reason: reason})
	}
	l.mu.Unlock()
	slices.SortFunc(skipped, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	l.base.had = len(paths)
	l.hand.offerAll(paths, skipped)
}

// begin lists a folder; nil if it cannot be.
func (l *loop) begin(dir string, fresh bool, now time.Time) *scan {
	f := l.folders[dir]
	if f == nil {
		return nil
	}
	f.queued = false
	l.watch(dir, f)
	entries, id, err := list(l.abs(dir), f.link || dir == "")
	if err != nil {
		l.unlistable(dir, f, err, now)
		return nil
	}
	if f.failed {
		f.failed = false
		l.reported(dir, func(path string, in *folder, name string) { l.unskip(path, in, name) })
	}
	if f.id != (fileID{}) && f.id != id { // another folder took the name, unnoticed: what was known below is void
		for name := range f.subs {
			l.forgetTree(join(dir, name), now)
		}
		l.unwatch(dir, f)
		l.watch(dir, f)
	}
	f.id = id
	l.scanSeq++
	l.loadRules(dir, f, entries)
	return &scan{dir: dir, f: f, entries: entries, seq: l.scanSeq, fresh: fresh}
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
		f.failed = true
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
