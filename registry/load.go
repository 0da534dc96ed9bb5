package registry

import (
	"errors"
	"slices"
)

// loader fills the mirror at open and checks every stored value on the way.
type loader struct {
	r       *Registry
	texts   map[string]bool // paths whose texts are whole
	damaged []string        // keys of records that can't be read: these files are new again
	orphans []string        // keys of texts without a record
}

func newLoader(r *Registry) *loader { return &loader{r: r} }

func (l *loader) reset() {
	l.r.reset()
	l.texts, l.damaged, l.orphans = map[string]bool{}, nil, nil
}

// visit is given the records before the texts (buckets in key order).
func (l *loader) visit(bucket string, key, value []byte) error {
	path := string(key)
	switch bucket {
	case bucketRecords:
		rec, err := decodeRecord(path, value)
		if errors.Is(err, errDamaged) {
			l.damaged = append(l.damaged, path)
			return nil
		}
		l.r.put(rec)
	case bucketTexts:
		rec := l.r.byPath[path]
		if rec == nil {
			l.orphans = append(l.orphans, path)
		} else if checkChunks(value, rec) == nil {
			l.texts[path] = true
		}
	}
	return nil
}

// finish marks the documents whose texts are missing or damaged to be read again. What belongs to no document goes with
// the next write.
func (l *loader) finish() {
	unread := 0
	for path, rec := range l.r.byPath {
		if rec.ChunkCount() > 0 && !l.texts[path] {
			l.r.put(rec.asUnread())
			unread++
		}
	}
	for _, key := range slices.Concat(l.damaged, l.orphans) {
		if l.r.byPath[key] == nil {
			l.r.pending[key] = pending{}
		}
	}
	if len(l.damaged)+len(l.orphans)+unread > 0 {
		l.r.log.Warn("part of the registry was damaged; these files are read again",
			"path", l.r.store.file, "records", len(l.damaged), "texts", unread, "left_over", len(l.orphans))
	}
}
