package watcher

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// conflictCopy matches the names Dropbox, Nextcloud and ownCloud give to the loser of a sync conflict.
var conflictCopy = regexp.MustCompile(`(?i)\([^()]*conflicted copy \d{4}-\d{2}-\d{2}[^()]*\)`)

// safeSave matches the folders in which sandboxed macOS applications write before they swap the file in.
var safeSave = regexp.MustCompile(`\.sb-[0-9a-f]{8}-[0-9A-Za-z]{6}$`)

// documentName tells whether a file of this name (no slashes) is a document. Swap, backup, lock and temporary files of the
// editors and sync clients either are dot files or do not end in .md (`a.md~`, `#a.md#`, `a.md.swp`, `4913`,
// `a.md___jb_tmp___`, `~syncthing~a.md.tmp`); what is left are the ones that keep the extension.
func documentName(name string) bool {
	if hiddenName(name) {
		return false
	}
	switch ext := path.Ext(name); {
	case strings.EqualFold(ext, ".md"), strings.EqualFold(ext, ".markdown"):
	default:
		return false
	}
	switch {
	case strings.HasPrefix(name, "~$"), strings.HasPrefix(name, "~syncthing~"): // office lock files, Syncthing's transfers
		return false
	case strings.Contains(name, ".sync-conflict-"), conflictCopy.MatchString(name):
		return false
	}
	return true
}

// hiddenName tells whether neither a document nor a folder of documents may have this name.
func hiddenName(name string) bool {
	return strings.HasPrefix(name, ".") || name == "" || safeSave.MatchString(name)
}

func (w *Watcher) isBeside(path string) bool { return path != "" && path == w.cfg.Beside }

// IsDocument tells whether path (slashes, below the base folder) names a document, by names alone: the extension and the
// rules about hidden, swap, backup, temporary and conflict files, for the file and for all folders above it.
func (w *Watcher) IsDocument(path string) bool {
	dir, name := split(path)
	if !documentName(name) || !utf8.ValidString(path) {
		return false
	}
	for dir != "" {
		dir, name = split(dir)
		if hiddenName(name) {
			return false
		}
	}
	return true
}

// split cuts a slash path into its folder ("" for the base folder) and its last name.
func split(p string) (dir, name string) {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i], p[i+1:]
	}
	return "", p
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
