package registry

import "errors"

// loader fills the mirror at open and checks every stored value on the way.
type loader struct {
	r       *Registry
	texts   map[string]bool // paths whose texts are whole
	damaged int             // records that can't be read: these files are new again
}

func newLoader(r *Registry) *loader { return &loader{r: r} }

func (l *loader) reset() {
	l.r.reset()
	l.texts, l.damaged = map[string]bool{}, 0
}

// visit is given the records before the texts (buckets in key order).
func (l *loader) visit(bucket string, key, value []byte) error {
	path := string(key)
	switch bucket {
	case bucketRecords:
		rec, err := decodeRecord(path, value)
		if errors.Is(err, errDamaged) {
			l.damaged++
			return nil
		}
		l.r.put(rec)
	case bucketTexts:
		if rec := l.r.byPath[path]; rec != nil && checkChunks(value, rec) == nil {
			l.texts[path] = true
		}
	}
	return nil
}

// finish marks the documents whose texts are missing or damaged to be read again.
func (l *loader) finish() {
	unread := 0
	for path, rec := range l.r.byPath {
		if rec.ChunkCount() > 0 && !l.texts[path] {
			l.r.put(rec.asUnread())
			unread++
		}
	}
	if l.damaged+unread > 0 {
		l.r.log.Warn("part of the registry was damaged; these files are read again",
			"path", l.r.store.file, "records", l.damaged, "texts", unread)
	}
	l.texts = nil
}
