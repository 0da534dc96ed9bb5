package watcher

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ignoreFiles are read in this order in each folder; of all lines that match, the last one counts.
var ignoreFiles = [...]string{".gitignore", ".knowledgeignore"}

// ignoreLimit bounds what is read of one ignore file, in bytes.
const ignoreLimit = 1 << 20

func isIgnoreFile(name string) bool { return name == ignoreFiles[0] || name == ignoreFiles[1] }

// rule is one line of an ignore file.
type rule struct {
	pattern  string
	literal  int // length of the pattern's start that holds no wildcard
	negated  bool
	dirOnly  bool
	baseName bool // no slash: matched against the last name alone
}

// parseRules reads an ignore file's lines the way git does.
func parseRules(text string) []rule {
	var rules []rule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var r rule
		p := trimBlanks(strings.TrimSuffix(line, "\r"))
		p, r.negated = strings.CutPrefix(p, "!")
		p, r.dirOnly = strings.CutSuffix(p, "/")
		r.baseName = !strings.Contains(p, "/")
		p = strings.TrimPrefix(p, "/")
		if p == "" {
			continue
		}
		r.pattern = p
		if r.literal = strings.IndexAny(p, `*?[\`); r.literal < 0 {
			r.literal = len(p)
		}
		rules = append(rules, r)
	}
	return rules
}

// trimBlanks drops trailing blanks but those behind a backslash.
func trimBlanks(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) {
			i++
			end = i + 1
		} else if line[i] != ' ' {
			end = i + 1
		}
	}
	return line[:end]
}

// matches tells whether the rule names a path, given below the folder of its ignore file.
func (r *rule) matches(below string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	text := below
	if r.baseName {
		_, text = split(below)
	}
	if r.literal == len(r.pattern) {
		return r.pattern == text
	}
	if r.baseName {
		return wildmatch(r.pattern, text, false) == match
	}
	// git cuts the literal start off before it looks at the wildcards: `a**/b` therefore spans folders.
	head := r.pattern[:r.literal]
	if !strings.HasPrefix(text, head) {
		return false
	}
	return wildmatch(r.pattern[r.literal:], text[len(head):], true) == match
}

// ignoreRules holds the ignore rules of all folders known so far. The watcher's loop loads them folder by folder; anyone
// may ask.
type ignoreRules struct {
	base string // absolute

	mu    sync.RWMutex
	lists map[string][]rule // by folder below base; folders without rules have no entry. mu guards it.
}

// load reads the ignore files of a folder; the rules of the folder read before are forgotten.
func (ig *ignoreRules) load(dir string) {
	rules := ig.read(dir)
	ig.mu.Lock()
	defer ig.mu.Unlock()
	if len(rules) == 0 {
		delete(ig.lists, dir)
	} else {
		ig.lists[dir] = rules
	}
}

func (ig *ignoreRules) forget(dir string) {
	ig.mu.Lock()
	defer ig.mu.Unlock()
	delete(ig.lists, dir)
}

func (ig *ignoreRules) read(dir string) []rule {
	var rules []rule
	for _, name := range ignoreFiles {
		file := filepath.Join(ig.base, filepath.FromSlash(dir), name)
		// Like git, no links; and never a FIFO, whose opening would block.
		if fi, err := os.Lstat(file); err != nil || !fi.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			continue // unreadable as good as absent, as in git
		}
		text, err := io.ReadAll(io.LimitReader(f, ignoreLimit))
		f.Close()
		if err == nil {
			rules = append(rules, parseRules(string(text))...)
		}
	}
	return rules
}

// excludes tells whether the rules name this very entry, whose folder is not ignored itself. The nearest ignore file
// that has a matching line decides.
func (ig *ignoreRules) excludes(path string, dir bool) bool {
	ig.mu.RLock()
	defer ig.mu.RUnlock()
	if len(ig.lists) == 0 {
		return false
	}
	for folder := path; folder != ""; {
		folder, _ = split(folder)
		rules := ig.lists[folder]
		below := strings.TrimPrefix(path[len(folder):], "/")
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].matches(below, dir) {
				return !rules[i].negated
			}
		}
	}
	return false
}

// ignored tells whether the rules name the entry or a folder above it: what is below an ignored folder cannot be
// brought back by any rule.
func (ig *ignoreRules) ignored(path string, dir bool) bool {
	for i := range len(path) {
		if path[i] == '/' && ig.excludes(path[:i], true) {
			return true
		}
	}
	return ig.excludes(path, dir)
}

// Ignored tells whether the ignore files in force exclude path (slashes, below the base folder); dir says that it names a
// folder. Folders that no walk has reached yet count with the rules above them only.
func (w *Watcher) Ignored(path string, dir bool) bool {
	return w.rules.ignored(strings.Trim(path, "/"), dir)
}

func (ig *ignoreRules) clear() {
	ig.mu.Lock()
	defer ig.mu.Unlock()
	clear(ig.lists)
}
