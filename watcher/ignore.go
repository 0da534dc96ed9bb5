package watcher

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ignoreFiles are the two kinds. Git's is asked only where no .knowledgeignore has a line that matches, however near the
// .gitignore is: the knowledge base's own files have the last word.
var ignoreFiles = [...]string{gits: ".gitignore", ours: ".knowledgeignore"}

const (
	gits = iota
	ours
)

// ignoreLimit bounds what is read of one ignore file, in bytes.
const ignoreLimit = 1 << 20

func isIgnoreFile(name string) bool { return name == ignoreFiles[gits] || name == ignoreFiles[ours] }

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

// ignoreLists are the rules of one folder, by kind of file.
type ignoreLists [len(ignoreFiles)][]rule

// ignoreRules holds the ignore rules of all folders known so far. The watcher's loop loads them folder by folder; anyone
// may ask.
type ignoreRules struct {
	base string // absolute

	mu    sync.RWMutex           // guards all below
	lists map[string]ignoreLists // by folder below base; folders without rules have no entry
	back  int                    // how many folders have a .knowledgeignore that brings something back
}

// load reads the ignore files of a folder; the rules of the folder read before are forgotten.
func (ig *ignoreRules) load(dir string) {
	var lists ignoreLists
	for kind, name := range ignoreFiles {
		lists[kind] = readRules(filepath.Join(ig.base, filepath.FromSlash(dir), name))
	}
	ig.set(dir, lists)
}

func (ig *ignoreRules) forget(dir string) { ig.set(dir, ignoreLists{}) }

func (ig *ignoreRules) set(dir string, lists ignoreLists) {
	ig.mu.Lock()
	defer ig.mu.Unlock()
	negated := func(r rule) bool { return r.negated }
	if slices.ContainsFunc(ig.lists[dir][ours], negated) {
		ig.back--
	}
	if slices.ContainsFunc(lists[ours], negated) {
		ig.back++
	}
	if len(lists[gits])+len(lists[ours]) == 0 {
		delete(ig.lists, dir)
	} else {
		ig.lists[dir] = lists
	}
}

func readRules(file string) []rule {
	// Like git, no links; and never a FIFO, whose opening would block.
	if fi, err := os.Lstat(file); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil // unreadable as good as absent, as in git
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignoreLimit))
	if err != nil {
		return nil
	}
	return parseRules(string(text))
}

// fate is what the rules make of an entry.
type fate int

const (
	read   fate = iota
	opened      // a folder that git ignores, listed all the same for what a .knowledgeignore brings back below
	shut
)

// decide asks the ignore files of one kind about this very entry. The nearest file that has a matching line decides, by
// the last such line; nil if there is none.
func (ig *ignoreRules) decide(kind int, path string, dir bool) *rule {
	for folder := path; folder != ""; {
		folder, _ = split(folder)
		rules := ig.lists[folder][kind]
		below := strings.TrimPrefix(path[len(folder):], "/")
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].matches(below, dir) {
				return &rules[i]
			}
		}
	}
	return nil
}

// judge is the fate of an entry whose folder has the fate above, which is not shut.
func (ig *ignoreRules) judge(path string, dir bool, above fate) fate {
	if r := ig.decide(ours, path, dir); r != nil {
		if r.negated {
			return read
		}
		return shut
	}
	if r := ig.decide(gits, path, dir); above != opened && (r == nil || r.negated) {
		return read
	}
	if dir && ig.reaches(path) {
		return opened
	}
	return shut
}

// fateOf asks about each folder on the way: nothing below a folder that is shut can be brought back.
func (ig *ignoreRules) fateOf(path string, dir bool) fate {
	above := read
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if above = ig.judge(path[:i], true, above); above == shut {
			return shut
		}
	}
	return ig.judge(path, dir, above)
}

// reaches tells whether a .knowledgeignore above a folder brings back something below it.
func (ig *ignoreRules) reaches(path string) bool {
	if ig.back == 0 {
		return false
	}
	for folder := path; folder != ""; {
		folder, _ = split(folder)
		below := strings.TrimPrefix(path[len(folder):], "/")
		for _, r := range ig.lists[folder][ours] {
			if r.negated && r.reaches(below) {
				return true
			}
		}
	}
	return false
}

// reaches tells whether the rule may name something below a folder, going by the folders that it names itself. A rule for
// any folder (`!x.md`, `!**/x.md`) reaches into none: else it would open every node_modules.
func (r *rule) reaches(folder string) bool {
	if r.baseName || strings.HasPrefix(r.pattern, "**") {
		return false
	}
	rest := r.pattern
	for name := range strings.SplitSeq(folder, "/") {
		part, after, deeper := strings.Cut(rest, "/")
		if strings.Contains(part, "**") {
			return true
		}
		if !deeper || wildmatch(part, name, false) != match {
			return false
		}
		rest = after
	}
	return true
}

// excludes tells whether an entry, whose folder is listed, is neither read nor listed.
func (ig *ignoreRules) excludes(path string, dir bool) bool {
	ig.mu.RLock()
	defer ig.mu.RUnlock()
	if len(ig.lists) == 0 {
		return false
	}
	above := read
	if folder, _ := split(path); ig.back > 0 && folder != "" {
		above = ig.fateOf(folder, true)
	}
	return ig.judge(path, dir, above) == shut
}

// ignored tells whether the rules name the entry or a folder above it.
func (ig *ignoreRules) ignored(path string, dir bool) bool {
	ig.mu.RLock()
	defer ig.mu.RUnlock()
	return len(ig.lists) > 0 && ig.fateOf(path, dir) == shut
}

// closed tells whether a .knowledgeignore excludes the entry or a folder above it, whatever git's rules are.
func (ig *ignoreRules) closed(path string, dir bool) bool {
	ig.mu.RLock()
	defer ig.mu.RUnlock()
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if r := ig.decide(ours, path[:i], dir || i < len(path)); r != nil && !r.negated {
			return true
		}
	}
	return false
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
	ig.back = 0
}
