package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"knowledged/document"
	"knowledged/ipc"
	"knowledged/registry"
)

// put saves an upload and indexes it. It runs in the pipeline's goroutine, so nothing else writes meanwhile. Whatever
// fails before the answer is undone: no orphan file, record or index entry stays.
func (p *pipeline) put(r ipc.PutRequest) (rec *registry.Record, created bool, err error) {
	target := path.Join(r.Category, r.FileName)
	if err := p.acceptable(target, r.Body); err != nil {
		return nil, false, err
	}
	root, err := p.openBase()
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	target = p.spelled(root, target)
	if err := refuseLinks(root, target); err != nil {
		return nil, false, err
	}
	before, err := p.keep(root, target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, p.fault("read "+target, err)
	}
	if err := ipc.CheckMatch(r.IfMatch, r.IfNoneMatch, before.hash); err != nil {
		return nil, false, err
	}
	if before.equals(r.Body) {
		rec, err := p.indexNow(target) // it may not have been seen yet
		return rec, false, err
	}
	if twin := p.twin(target, r.Body); twin != nil && !r.Force {
		return nil, false, &ipc.ExistsError{Record: p.wire(twin)}
	}
	if !before.exists && !r.Force {
		if alike := p.alike(target); alike != nil {
			return nil, false, &ipc.ExistsError{Record: p.wire(alike), Alike: true}
		}
	}
	if err := before.hold(root, target, p.intent); err != nil {
		return nil, false, p.fault("keep the old "+target, err)
	}
	defer before.release(root, p.intent)
	made, err := save(root, target, r.Body, p.intent)
	if err != nil {
		undoFolders(root, made)
		return nil, false, p.fault("save "+target, err)
	}
	rec, err = p.indexNow(target)
	p.folder.Touch(target) // where there are no events, the watcher must know of the file to notice that it goes
	if err != nil {
		return nil, false, stateError("index "+target, errors.Join(err, p.undoPut(root, target, before, made)))
	}
	return rec, !before.exists, nil
}

// undoPut puts back what was there before an upload, on disk and in the indexes.
func (p *pipeline) undoPut(root *os.Root, target string, before kept, made []string) (err error) {
	if before.exists {
		err = before.restore(root, target, p.intent)
	} else {
		err = root.Remove(filepath.FromSlash(target))
		undoFolders(root, made)
	}
	if _, again := p.indexNow(target); again != nil && !errors.Is(again, ipc.ErrNotFound) {
		p.log.Debug("undoing an upload", "path", target, "err", again) // the same fault once more, most likely
	}
	return err
}

// acceptable refuses what would not become a document.
func (p *pipeline) acceptable(target string, body []byte) error {
	if !p.folder.IsDocument(target) {
		return &ipc.InvalidError{Field: "fileName", Message: "is not a document's name: *.md or *.markdown, no dot, backup or temporary file"}
	}
	for dir := path.Dir(target); dir != "."; dir = path.Dir(dir) {
		if p.folder.Ignored(dir, true) {
			return &ipc.InvalidError{Field: "category", Message: fmt.Sprintf("%q is named by the folder's ignore rules, so it would never be indexed", dir)}
		}
	}
	if p.folder.Ignored(target, false) {
		return &ipc.InvalidError{Field: "fileName", Message: "is named by the folder's ignore rules, so it would never be indexed"}
	}
	if len(body) == 0 {
		return &ipc.InvalidError{Field: "body", Message: "is empty"}
	}
	if int64(len(body)) > p.maxSize {
		return &ipc.TooLargeError{Size: int64(len(body)), Limit: p.maxSize}
	}
	if _, err := document.Parse(target, body, p.docOpt); err != nil {
		return &ipc.InvalidError{Field: "body", Message: "is " + err.Error()}
	}
	return nil
}

// hashOf is the hash that If-Match speaks of: that of the file as it is now, not as it was indexed. Empty: no file.
func hashOf(now []byte, exists bool) string {
	if !exists {
		return ""
	}
	sum := sha256.Sum256(now)
	return hex.EncodeToString(sum[:])
}

// twin is a document elsewhere with the same bytes whose file is still there.
func (p *pipeline) twin(target string, body []byte) *registry.Record {
	for _, rec := range p.registry.ByHash(hashOf(body, true)) {
		if rec.Path != target && !p.look(rec.Path, true).gone {
			return rec
		}
	}
	return nil
}

// indexNow indexes one path at once, whatever state its file is in.
func (p *pipeline) indexNow(target string) (*registry.Record, error) {
	p.held[target] = time.Time{} // not half-written: we know who wrote it
	defer delete(p.held, target)
	f := p.look(target, false)
	if !f.same || f.record != nil {
		if _, err := p.write([]finding{f}); err != nil {
			return nil, err
		}
	}
	rec, ok := p.registry.Get(target)
	switch {
	case !ok:
		return nil, ipc.ErrNotFound
	case rec.Failed():
		return rec, errors.New(rec.Error)
	}
	return rec, nil
}

// remove deletes a document's file and then all that is known of it.
func (p *pipeline) remove(rec *registry.Record, ifMatch ipc.Match) error {
	root, err := p.openBase()
	if err != nil {
		return err
	}
	defer root.Close()
	if link := linkAbove(root, rec.Path); link != "" {
		return &ipc.InvalidError{Field: "docId", Message: fmt.Sprintf("names a file below %q, which is a symbolic link; delete it where it is", link)}
	}
	if ifMatch.Given {
		now, _ := p.keep(root, rec.Path) // what cannot be read has no hash
		if err := ipc.CheckMatch(ifMatch, ipc.Match{}, now.hash); err != nil {
			return err
		}
	}
	if err := root.Remove(filepath.FromSlash(rec.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p.fault("delete "+rec.Path, err)
	}
	f := p.look(rec.Path, false)
	if !f.gone {
		return fmt.Errorf("delete %s: it is there again", rec.Path)
	}
	if _, err := p.write([]finding{f}); err != nil {
		// The document is gone, and memory knows it: no lookup returns it. What the disk lacks is written later.
		p.log.Error("a deletion could not be written; it is as soon as it can be", "path", rec.Path, "err", err)
	}
	p.moved.forget(rec.DocID)
	return nil
}

// refuseLinks keeps uploads out of linked folders and files: they may lead anywhere.
func refuseLinks(root *os.Root, target string) error {
	for at := target; at != "."; at = path.Dir(at) {
		info, err := root.Lstat(filepath.FromSlash(at))
		if err != nil {
			continue // not there yet
		}
		field := "category"
		if at == target {
			field = "fileName"
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return &ipc.InvalidError{Field: field, Message: fmt.Sprintf("%q is a symbolic link; uploads don't follow links", at)}
		case at == target && !info.Mode().IsRegular():
			return &ipc.InvalidError{Field: field, Message: fmt.Sprintf("%q is a folder or no regular file", at)}
		case at != target && !info.IsDir():
			return &ipc.InvalidError{Field: field, Message: fmt.Sprintf("%q is a file, not a folder", at)}
		}
	}
	return nil
}

// save writes body to target in one step: a reader sees the old bytes or the new ones, never a part. It returns the
// folders it had to make, innermost first. intent notes the temporary file while it exists, so that a start after a
// crash can remove it.
func save(root *os.Root, target string, body []byte, intent *intent) (made []string, err error) {
	for dir := path.Dir(target); dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(filepath.FromSlash(dir)); err == nil {
			break
		}
		made = append(made, dir)
	}
	if len(made) > 0 {
		if err := root.MkdirAll(filepath.FromSlash(made[0]), 0o777); err != nil {
			return made, err
		}
	}
	mode := fs.FileMode(0o666) // less the umask, as an editor would make it
	if info, err := root.Lstat(filepath.FromSlash(target)); err == nil {
		mode = info.Mode().Perm()
	}
	temp := tempBeside(target)
	intent.note(temp)
	defer intent.clear()
	if err := writeSynced(root, temp, body, mode); err != nil {
		_ = root.Remove(temp)
		return made, err
	}
	if err := root.Rename(temp, filepath.FromSlash(target)); err != nil {
		_ = root.Remove(temp)
		return made, err
	}
	syncFolders(root, target, made)
	return made, nil
}

func writeSynced(root *os.Root, name string, body []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(body); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// undoFolders removes folders made for an upload that failed, as far as they are empty.
func undoFolders(root *os.Root, made []string) {
	for _, dir := range made {
		_ = root.Remove(filepath.FromSlash(dir))
	}
}
