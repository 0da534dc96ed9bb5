package watcher

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// linkInterval is how often links that are read are looked at, by stat(2) alone: a change of what they lead to makes no
// event where the link is.
const linkInterval = 500 * time.Millisecond

// inspectLink says what a symbolic link is to the watcher. A file is a document once: at its own place if it counts there,
// else under the first link that leads to it. Links out of the base folder count if links are followed at all.
func (l *loop) inspectLink(path, name string) entry {
	full := l.abs(path)
	fi, err := os.Stat(full)
	if err != nil {
		switch {
		case !documentName(name):
			return entry{} // most likely not meant for us
		case errors.Is(err, syscall.ELOOP):
			return entry{reason: "a link that leads to itself"}
		}
		return entry{reason: "a broken link"}
	}
	if !fi.IsDir() && !documentName(name) {
		return entry{}
	}
	if !fi.IsDir() && !fi.Mode().IsRegular() {
		return entry{reason: "a link to " + kindOf(fi.Mode())}
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return entry{kind: unknown}
	}
	inside := within(real, l.base.real)
	if inside && l.walking() && !l.pass.judged {
		l.inside = append(l.inside, path)
	}
	if reason := l.readElsewhere(path, real, fi.IsDir()); reason != "" {
		return entry{reason: reason}
	}
	if !inside && !l.cfg.FollowSymlinks {
		return entry{reason: "a link out of the base folder (watch.follow_symlinks is off)"}
	}
	id := idOf(fi)
	if other, ok := l.links[id]; ok && other != path && id != (fileID{}) && l.leadsTo(other, id) {
		return entry{reason: "a link to what is read as " + other}
	}
	l.links[id] = path
	if fi.IsDir() {
		l.linkRoots[path] = real
		return entry{kind: directory, link: true}
	}
	if old, ok := l.linkDocs[path]; ok && old != id && l.links[old] == path {
		delete(l.links, old)
	}
	l.linkDocs[path] = id
	return entry{kind: document, link: true, mark: markOf(fi)}
}

// readElsewhere says why the target of a link needs no reading under the link's path: it is read at its own, or the link
// is a loop.
func (l *loop) readElsewhere(path, real string, dir bool) string {
	what := "file"
	if dir {
		what = "folder"
	}
	if dir && within(l.base.real, real) && l.base.real != real {
		return "a link loop: it leads to a folder that holds the base folder"
	}
	if dir {
		at, _ := split(path)
		if holder, err := filepath.EvalSymlinks(l.abs(at)); err == nil && within(holder, real) {
			return "a link loop: it leads back to a folder that holds it"
		}
	}
	if within(real, l.base.real) {
		at := below(real, l.base.real)
		if l.counts(at, dir) {
			return "a link to a " + what + " inside the base folder, which counts at its own place"
		}
		if reason := l.private(at, dir); reason != "" {
			return reason
		}
	}
	for root, target := range l.linkRoots {
		if path != root && within(real, target) && l.counts(join(root, below(real, target)), dir) {
			return "a link to a " + what + " that is read below " + root
		}
	}
	return ""
}

// leadsTo tells whether a link still leads to a file.
func (l *loop) leadsTo(path string, id fileID) bool {
	fi, err := os.Stat(l.abs(path))
	return err == nil && idOf(fi) == id
}

// checkLinksEvery looks at the links that are read when it is time; many of them, or slow ones, take a small part of it.
func (l *loop) checkLinksEvery(now time.Time) {
	if l.base.missing || len(l.linkDocs)+len(l.linkRoots) == 0 || now.Before(l.nextLinks) {
		return
	}
	l.checkLinks(now)
	l.nextLinks = now.Add(max(min(linkInterval, l.cfg.PollInterval), 200*time.Since(now)))
}

// linksSoon has the links checked after an event that may be about something on their way: of Kubernetes' `..data`, say.
func (l *loop) linksSoon(now time.Time) {
	if soon := now.Add(l.cfg.Settle); soon.Before(l.nextLinks) {
		l.nextLinks = soon
	}
}

// checkLinks finds out which links lead to something new. What cannot be told now stays as it is.
func (l *loop) checkLinks(now time.Time) {
	if l.base.missing {
		return
	}
	for path := range l.linkDocs {
		dir, name := split(path)
		known, ok := doc{}, false
		if f := l.folders[dir]; f != nil {
			known, ok = f.docs[name]
		}
		if !ok {
			delete(l.linkDocs, path)
			continue
		}
		fi, err := os.Stat(l.abs(path))
		if err == nil && markOf(fi) != known.mark || errors.Is(err, fs.ErrNotExist) {
			l.look(path, now)
			l.hint(path, now)
		}
	}
	for root, target := range l.linkRoots {
		real, err := filepath.EvalSymlinks(l.abs(root))
		if err == nil && real != target || errors.Is(err, fs.ErrNotExist) {
			l.forgetTree(root, now)
			l.look(root, now)
		}
	}
}

// judgeInside looks once more at the links into the base folder that a walk met: only now are all ignore rules known, and
// with them what counts at its own place.
func (l *loop) judgeInside(now time.Time) {
	paths := l.inside
	l.inside = nil
	for _, path := range paths {
		l.look(path, now)
	}
}

// counts tells whether what is at path, no link, is read there, by its name and the ignore rules.
func (w *Watcher) counts(path string, dir bool) bool {
	if path == "" {
		return true
	}
	if dir { // as good as what is in it
		return w.IsDocument(path+"/a.md") && !w.Ignored(path, true)
	}
	return w.IsDocument(path) && !w.Ignored(path, false)
}

// private says why what is at path is not read through a link either, though it has no place of its own: a link is no way
// around a .knowledgeignore, nor to git's own files and what tools keep in dot files, such as .env.
func (w *Watcher) private(path string, dir bool) string {
	hidden := false
	for name := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(name, ".git") {
			return "a link to git's own files"
		}
		hidden = hidden || hiddenName(name)
	}
	switch {
	case hidden && !dir && !markdownName(path):
		return "a link to a hidden file that is not named as Markdown"
	case w.rules.closed(path, dir):
		return "a link to what a .knowledgeignore excludes"
	}
	return ""
}

// homeless tells whether a link leads to something inside the base folder that does not count at its own place, and may be
// read through the link: it is hidden, ignored by git or has another extension.
func (w *Watcher) homeless(path string, dir bool) bool {
	base, err := filepath.EvalSymlinks(w.cfg.Base)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(w.abs(path))
	if err != nil || !within(real, base) {
		return false
	}
	at := below(real, base)
	return !w.counts(at, dir) && w.private(at, dir) == ""
}

// within tells whether path is dir or below it; both are absolute and free of links.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// below returns the slash path below dir of a path that is within it.
func below(path, dir string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, dir), string(filepath.Separator)))
}
