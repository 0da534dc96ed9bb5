package watcher

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// inspectLink says what a symbolic link is to the watcher. A file is a document once: under its real path if that is
// below the base folder, else under the first link that leads to it, if links are followed at all.
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
	if reason := l.readElsewhere(path, real, fi.IsDir()); reason != "" {
		return entry{reason: reason}
	}
	if !l.cfg.FollowSymlinks {
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
		return "a link to a " + what + " inside the base folder, which counts at its own place"
	}
	for root, target := range l.linkRoots {
		if path != root && within(real, target) {
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

// within tells whether path is dir or below it; both are absolute and free of links.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
