package watcher

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// conflictCopy matches how the names end, without their extension, that sync clients and git's merge tools give to the other
// versions of a file in conflict. People write about conflicts, too: a word alone does not make a copy. Nor does _BASE_2 or
// _BACKUP_20260101: git puts a process id there, and what looks like a date or is short is taken for the author's.
var conflictCopy = regexp.MustCompile(`(?:` + strings.Join([]string{
	`(?i:[(（[][^()（）]*(?:conflict(?:ed|ing) copy|冲突副本|衝突副本)[^()（）]*[])）])`,              // Dropbox, Nextcloud, ownCloud, Obsidian Sync
	`(?i:\((?:case|selective sync|unicode encoding|white ?space) conflict(?: ?\d+)?\))`, // Dropbox
	`(?i:[([]conflicted[])])`,                                            // pCloud
	`\((?:SFConflict |Conflict_).*\d{4}-\d{2}-\d{2}[-\d]*\)`,             // Seafile, FileCloud
	`(?i:\([^()]*\bconflict[ _-]+(?:on |at )?\d{4}-\d{2}-\d{2}[^()]*\))`, // Unison, CloudMe
	`(?i:[._-]conflict-\d{8}(?:-\d+)?)`,                                  // ownCloud of old
	`_[A-Z][a-z]{2}-\d{2}-\d{4}-\d{4}_[A-Za-z]*Conflict(?:_?\d+)?`,       // Synology Drive
	`\.(?:Conflict\d*|conflict\d+)`,                                      // Resilio Sync, rclone
	`_(?:BACKUP|BASE|LOCAL|REMOTE)_(?:[13-9]\d{2,6}|2[1-9]\d{1,5})`,      // git mergetool
}, "|") + `)(?: ?\(?\d{1,2}\)?)?$`)

// conflictSigns are in all names that conflictCopy matches: each entry of each listing is asked about.
var conflictSigns = []string{"onflict", "副本", "_BACKUP_", "_BASE_", "_LOCAL_", "_REMOTE_"}

func isConflictCopy(stem string) bool {
	sign := slices.ContainsFunc(conflictSigns, func(sign string) bool { return strings.Contains(stem, sign) })
	return sign && conflictCopy.MatchString(stem)
}

// discarded are the folders in which systems keep what was deleted, restored or derived.
var discarded = []string{"$RECYCLE.BIN", "System Volume Information", "lost+found", "#recycle", "#snapshot", "@Recycle", "@eaDir"}

// safeSave matches the folders in which sandboxed macOS applications write before they swap the file in.
var safeSave = regexp.MustCompile(`\.sb-[0-9a-f]{8}-[0-9A-Za-z]{6}$`)

// documentName tells whether a file of this name (no slashes) is a document. Swap, backup, lock and temporary files of the
// editors and sync clients either are dot files or do not end in .md (`a.md~`, `#a.md#`, `a.md.swp`, `4913`,
// `a.md___jb_tmp___`, `~syncthing~a.md.tmp`); what is left are the ones that keep the extension.
func documentName(name string) bool {
	if hiddenName(name) {
		return false
	}
	ext := path.Ext(name)
	switch {
	case !markdownName(name):
		return false
	case strings.HasPrefix(name, "~$"), strings.HasPrefix(name, "~syncthing~"): // office lock files, Syncthing's transfers
		return false
	case strings.Contains(name, ".sync-conflict-"), isConflictCopy(strings.TrimSuffix(name, ext)):
		return false
	}
	return true
}

// hiddenName tells whether neither a document nor a folder of documents may have this name.
func hiddenName(name string) bool {
	if strings.HasPrefix(name, ".") || name == "" || safeSave.MatchString(name) {
		return true
	}
	return slices.ContainsFunc(discarded, func(folder string) bool { return strings.EqualFold(folder, name) })
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

// markdownName tells whether a name ends as a document's does.
func markdownName(name string) bool {
	ext := path.Ext(name)
	return strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown")
}
