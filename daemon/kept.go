package daemon

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// kept is the file that an upload finds in its place: what If-Match is asked of, and what undoing puts back.
type kept struct {
	exists bool
	hash   string // of the file as it is now, not as it was indexed; empty: no file
	data   []byte // nil if it is larger than a document may be
	link   string // then: another name that it has meanwhile
}

// keep looks at what is in an upload's place. A file of any size may be there; no more than a document is read into memory.
func (p *pipeline) keep(root *os.Root, target string) (kept, error) {
	f, err := root.Open(filepath.FromSlash(target))
	if err != nil {
		return kept{}, err
	}
	defer f.Close()
	h := sha256.New()
	data, err := io.ReadAll(io.TeeReader(io.LimitReader(f, p.maxSize+1), h))
	if err != nil {
		return kept{}, err
	}
	k := kept{exists: true, data: data}
	if int64(len(data)) > p.maxSize {
		k.data = nil
		if _, err := io.Copy(h, f); err != nil {
			return kept{}, err
		}
	}
	k.hash = hex.EncodeToString(h.Sum(nil))
	return k, nil
}

func (k *kept) equals(body []byte) bool {
	return k.exists && k.data != nil && bytes.Equal(k.data, body)
}

// hold gives a large file its other name, so that it outlives the upload that replaces it.
func (k *kept) hold(root *os.Root, target string, intent *intent) error {
	if !k.exists || k.data != nil {
		return nil
	}
	name := tempBeside(target)
	intent.held(name)
	if err := root.Link(filepath.FromSlash(target), name); err != nil {
		intent.held("")
		return err
	}
	k.link = name
	return nil
}

// release gives the other name up.
func (k *kept) release(root *os.Root, intent *intent) {
	if k.link != "" {
		_ = root.Remove(k.link) // gone if it was put back
		intent.held("")
	}
}

// restore puts the file back.
func (k *kept) restore(root *os.Root, target string, intent *intent) error {
	if k.link != "" {
		return root.Rename(k.link, filepath.FromSlash(target))
	}
	_, err := save(root, target, k.data, intent)
	return err
}

// tempBeside is a name for a temporary file in the folder of target.
func tempBeside(target string) string {
	return filepath.FromSlash(path.Join(path.Dir(target), tempPrefix+strings.ToLower(rand.Text()[:12])+tempSuffix))
}

// spelled is target in the spelling that is in use, if another form of the same characters is (SPEC 1.4).
func (p *pipeline) spelled(root *os.Root, target string) string {
	for _, s := range spellings(target) {
		if _, ok := p.registry.Get(s); ok {
			return s
		}
	}
	at := ""
	for _, name := range strings.Split(target, "/") {
		use := name
		for _, s := range spellings(name) {
			if _, err := root.Lstat(filepath.FromSlash(path.Join(at, s))); err == nil {
				use = s
				break
			}
		}
		at = path.Join(at, use)
	}
	return at
}

// syncFolders makes a new name last. Not all file systems can; a name lost in a crash is no wrong answer.
func syncFolders(root *os.Root, target string, made []string) {
	for _, name := range append([]string{target}, made...) {
		if dir, err := root.Open(filepath.FromSlash(path.Dir(name))); err == nil {
			_ = dir.Sync()
			dir.Close()
		}
	}
}

// linkAbove names the link below which a document lies, empty if there is none.
func linkAbove(root *os.Root, target string) string {
	link := ""
	for dir := path.Dir(target); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			link = dir
		}
	}
	return link
}
