package daemon

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// writer works on a folder as programs and people do. Its calls may fail: others work beside it.
type writer struct {
	r             *rand.Rand
	base, outside string
	events        bool // changes are noticed at once and one by one
	serial        int  // of the last document written
}

func serialOf(shift, writer int) int { return shift*10_000 + writer*1000 }

func keywordOf(serial int) string { return "kw-" + strconv.Itoa(serial) + "." } // no other's beginning

// step does one thing.
func (w *writer) step() {
	file, dir := w.file(), w.dir()
	switch w.r.IntN(30) {
	case 0, 1, 2, 3, 4, 5:
		w.write(file, w.text())
	case 6:
		w.inPlace(file, w.text())
	case 7:
		w.truncated(file, w.text())
	case 8, 9:
		w.atomic(file, w.text())
	case 10:
		w.inParts(file, w.text())
	case 11:
		w.backedUp(file, w.text())
	case 12, 13:
		os.Remove(file)
	case 14:
		os.RemoveAll(dir)
	case 15, 16:
		os.Rename(file, w.file())
	case 17, 18:
		os.Rename(dir, w.dir())
	case 19:
		os.Rename(dir, filepath.Join(w.outside, w.name()))
	case 20:
		os.MkdirAll(filepath.Dir(dir), 0o755)
		os.Rename(filepath.Join(w.outside, w.name()), dir)
	case 21:
		if !w.events { // of a file with several names, events tell only the one it was written by
			os.Link(file, w.file())
		}
	case 22:
		now := time.Now().Add(-time.Duration(w.r.IntN(5000)) * time.Millisecond)
		os.Chtimes(file, now, now)
		os.Chmod(file, fs.FileMode(0o600+w.r.IntN(2)*0o44))
	case 23:
		target := []string{w.file(), w.dir(), filepath.Join(w.outside, "x.md"), w.outside, "nowhere.md", "."}[w.r.IntN(6)]
		os.Symlink(target, []string{w.file(), w.dir()}[w.r.IntN(2)])
	case 24:
		os.Rename(file, strings.TrimSuffix(file, filepath.Base(file))+strings.ToUpper(w.name())+".md")
	case 25:
		os.RemoveAll(file) // a folder takes a file's place, or the reverse
		os.RemoveAll(dir)
		if w.r.IntN(2) == 0 {
			w.write(filepath.Join(file, w.name()+".md"), w.text())
		} else {
			w.write(dir, "no folder any more")
		}
	case 26:
		w.ignore()
	case 27:
		name := []string{".a.md.swp", "a.md~", "#a.md#", "4913", "a.sync-conflict-20260101-000000-ABCDEFG.md", ".a.md.icloud", ".b.md"}[w.r.IntN(7)]
		w.write(filepath.Join(filepath.Dir(file), name), w.text())
	case 28:
		real, _ := filepath.EvalSymlinks(dir) // through a link the folder might be copied into itself
		if entries, err := os.ReadDir(dir); err == nil && len(entries) < 10 && real == dir {
			os.CopyFS(filepath.Join(w.base, "copy", w.name()), os.DirFS(dir))
		}
	case 29:
		w.pause(30)
	}
}

// move renames something to a name that is free. Where changes are noticed late and together, nothing tells one that moved
// into the place of another from a save, so that names are used once there.
func (w *writer) move() {
	from, to := w.file(), w.file()
	kind := w.r.IntN(6)
	if !w.events {
		w.serial++
		fresh := "m" + strconv.Itoa(w.serial)
		if to = filepath.Join(filepath.Dir(to), fresh+".md"); kind < 2 {
			from, to = w.dir(), filepath.Join(w.dir(), fresh)
		}
		kind = 4
	}
	switch kind {
	case 0, 1:
		from, to = w.dir(), w.dir()
	case 2:
		to = strings.TrimSuffix(from, filepath.Base(from)) + strings.ToUpper(filepath.Base(from))[:1] + filepath.Base(from)[1:]
	case 3: // two files change places
		aside := filepath.Join(w.outside, "aside")
		if regular(from) && regular(to) && from != to {
			os.Rename(from, aside)
			os.Rename(to, from)
			os.Rename(aside, to)
		}
		return
	case 4:
		w.pause(20)
	}
	if _, err := os.Lstat(to); err != nil {
		os.MkdirAll(filepath.Dir(to), 0o755)
		os.Rename(from, to)
	}
	time.Sleep(8 * time.Millisecond) // longer than watch.settle: chains of renames at the pace of commands
}

func regular(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

func (w *writer) name() string { return string("abc"[w.r.IntN(3)]) }

func (w *writer) dir() string {
	dir := filepath.Join(w.base, w.name())
	for range w.r.IntN(3) {
		dir = filepath.Join(dir, w.name())
	}
	return dir
}

func (w *writer) file() string {
	dir := w.base
	if w.r.IntN(4) > 0 {
		dir = w.dir()
	}
	return filepath.Join(dir, w.name()+".md")
}

func (w *writer) pause(ms int) { time.Sleep(time.Duration(w.r.IntN(ms)) * time.Millisecond) }

func (w *writer) text() string {
	w.serial++
	switch w.r.IntN(12) {
	case 0:
		return "no front matter, but text number " + strconv.Itoa(w.serial) + "\n"
	case 1:
		return "---\ntitle: [broken " + strconv.Itoa(w.serial) + "\n---\ntext\n"
	case 2:
		return ""
	}
	return doc("Title "+strconv.Itoa(w.serial), keywordOf(w.serial)) + strings.Repeat("\n## More\n\nA paragraph.\n", w.r.IntN(4))
}

func (w *writer) write(file, text string) {
	os.MkdirAll(filepath.Dir(file), 0o755)
	os.WriteFile(file, []byte(text), 0o644)
}

func (w *writer) inPlace(file, text string) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(text[:len(text)/2])
	w.pause(20)
	f.WriteString(text[len(text)/2:])
	f.Truncate(int64(len(text)))
}

func (w *writer) truncated(file, text string) {
	f, err := os.Create(file)
	if err != nil {
		return
	}
	defer f.Close()
	w.pause(20)
	f.WriteString(text)
}

func (w *writer) atomic(file, text string) {
	temp := filepath.Join(filepath.Dir(file), []string{".tmp-", "tmp-"}[w.r.IntN(2)]+strconv.Itoa(w.serial)+[]string{".md", ""}[w.r.IntN(2)])
	w.write(temp, text)
	if w.r.IntN(2) == 0 {
		w.pause(10)
	}
	os.Rename(temp, file)
}

func (w *writer) inParts(file, text string) {
	for len(text) > 0 {
		n := min(len(text), 40)
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return
		}
		f.WriteString(text[:n])
		f.Close()
		w.pause(4)
		text = text[n:]
	}
}

func (w *writer) backedUp(file, text string) {
	os.Rename(file, file+"~")
	w.write(file, text)
	os.Remove(file + "~")
}

// ignore writes or removes an ignore file.
func (w *writer) ignore() {
	name := filepath.Join(w.dir(), []string{".gitignore", ".knowledgeignore"}[w.r.IntN(2)])
	if w.r.IntN(2) == 0 {
		os.Remove(name)
		return
	}
	lines := []string{"a.md", "b/", "!a.md", "c"}
	os.WriteFile(name, []byte(lines[w.r.IntN(4)]+"\n"+lines[w.r.IntN(4)]+"\n"), 0o644)
}
