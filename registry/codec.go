package registry

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"knowledged/document"
)

// JSON takes 25 times as long to read at start, where all records are read, and keeps one allocation a string in memory;
// here all strings of a record share one.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("stored value is damaged")

// encodeRecord returns the stored form: a checksum over path and body, then the body. Metadata comes last and is not a
// string: its length stands in front, so that it need not be part of the strings' allocation.
func encodeRecord(r *Record) []byte {
	b := make([]byte, 4, 512+len(r.Metadata)+len(r.chunkIDs))
	b = binary.AppendUvarint(b, uint64(len(r.Metadata)))
	for _, s := range []string{r.DocID, r.Path, r.FileHash, r.Error, r.Title, r.Summary, r.Category, r.chunkIDs} {
		b = appendString(b, s)
	}
	b = binary.AppendVarint(b, r.FileSize)
	b = binary.AppendVarint(b, r.ModTime)
	b = binary.AppendVarint(b, r.ChangeTime)
	b = binary.AppendUvarint(b, r.Inode)
	b = binary.AppendVarint(b, int64(r.FormatVersion))
	for _, t := range []time.Time{r.IndexedAt, r.CreatedAt, r.UpdatedAt} {
		b = binary.AppendVarint(b, nanos(t))
	}
	b = append(b, flags(r.HasFrontmatter, r.InL0, r.Chinese))
	for _, list := range [][]string{r.Keywords, r.Aliases, r.Sections} {
		b = appendStrings(b, list)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Warnings)))
	for _, w := range r.Warnings {
		b = binary.AppendVarint(b, int64(w.Line))
		b = appendString(b, w.Message)
	}
	b = binary.AppendUvarint(b, uint64(len(r.SectionNames)))
	for _, n := range r.SectionNames {
		b = appendString(b, n.Name)
		b = appendString(b, n.Heading)
		b = binary.AppendVarint(b, int64(n.Level))
	}
	b = append(b, r.Metadata...)
	binary.LittleEndian.PutUint32(b, checksum([]byte(r.Path), b[4:]))
	return b
}

// decodeRecord reads what encodeRecord wrote. value is not kept.
func decodeRecord(path string, value []byte) (*Record, error) {
	if len(value) < 4 || binary.LittleEndian.Uint32(value) != checksum([]byte(path), value[4:]) {
		return nil, errDamaged
	}
	n, width := binary.Uvarint(value[4:])
	body := value[4+max(width, 0):]
	if width <= 0 || n > uint64(len(body)) {
		return nil, errDamaged
	}
	body, metadata := body[:len(body)-int(n)], body[len(body)-int(n):]
	d := newDecoder(body)
	r := &Record{}
	if n > 0 {
		r.Metadata = bytes.Clone(metadata)
	}
	for _, s := range []*string{&r.DocID, &r.Path, &r.FileHash, &r.Error, &r.Title, &r.Summary, &r.Category, &r.chunkIDs} {
		*s = d.string()
	}
	r.FileSize, r.ModTime, r.ChangeTime, r.Inode = d.varint(), d.varint(), d.varint(), d.uvarint()
	r.FormatVersion = int(d.varint())
	for _, t := range []*time.Time{&r.IndexedAt, &r.CreatedAt, &r.UpdatedAt} {
		*t = fromNanos(d.varint())
	}
	f := d.byte()
	r.HasFrontmatter, r.InL0, r.Chinese = f&1 != 0, f&2 != 0, f&4 != 0
	for _, list := range []*[]string{&r.Keywords, &r.Aliases, &r.Sections} {
		*list = d.strings()
	}
	if n := d.count(); n > 0 {
		r.Warnings = make([]document.Warning, n)
		for i := range r.Warnings {
			r.Warnings[i] = document.Warning{Line: int(d.varint()), Message: d.string()}
		}
	}
	if n := d.count(); n > 0 {
		r.SectionNames = make([]document.SectionName, n)
		for i := range r.SectionNames {
			r.SectionNames[i] = document.SectionName{Name: d.string(), Heading: d.string(), Level: int(d.varint())}
		}
	}
	if d.bad || d.text != "" || r.Path != path || len(r.chunkIDs)%idSize != 0 {
		return nil, errDamaged
	}
	return r, nil
}

// checksum covers the key too: a value found under another one's key is damaged.
func checksum(key, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
}

// nanos maps the zero time, which has no such number, to 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func flags(bits ...bool) (f byte) {
	for i, set := range bits {
		if set {
			f |= 1 << i
		}
	}
	return f
}
