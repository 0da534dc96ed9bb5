package registry

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"

	"knowledged/document"
)

// Record is what is known of one document. Records are immutable once stored: copy, change the copy, Apply it.
type Record struct {
	DocID string // UUID, stable over edits, restarts and renames
	Path  string // slash path below the base folder

	// What tells that the file on disk is still the one indexed. Times are nanoseconds since 1970.
	FileHash   string // SHA-256, hex; "" asks for the file to be read anew
	FileSize   int64
	ModTime    int64
	ChangeTime int64
	Inode      uint64

	FormatVersion int    // of parsing and chunking, the caller's: an older one asks for the file to be read anew
	Error         string // why the document could not be indexed, "" if it was

	IndexedAt, CreatedAt, UpdatedAt time.Time

	Title, Summary, Category string
	Keywords, Aliases        []string
	Metadata                 json.RawMessage // the front matter as a JSON object, or nil

	HasFrontmatter bool
	InL0           bool
	Chinese        bool
	Warnings       []document.Warning
	SectionNames   []document.SectionName
	Sections       []string // titles that can be asked for, in order

	chunkIDs string // raw ids, idSize bytes each, in the order of the document
	slot     uint32 // index into Registry.slots
}

// idSize is the length of a raw chunk id; 32 hex digits outside.
const idSize = 16

type chunkKey [idSize]byte

// half is what the map of owners is keyed by, for a third less memory. Among a billion chunks there is one chance in forty
// that any two share it; one of them is then not found.
func (k chunkKey) half() uint64 { return binary.LittleEndian.Uint64(k[:]) }

// Failed reports whether the document could not be indexed.
func (r *Record) Failed() bool { return r.Error != "" }

// ChunkCount is the number of the document's chunks, the head chunk included.
func (r *Record) ChunkCount() int { return len(r.chunkIDs) / idSize }

// ChunkIDs lists the ids of the document's chunks in order. The slice is the caller's.
func (r *Record) ChunkIDs() []string {
	ids := make([]string, r.ChunkCount())
	for i := range ids {
		ids[i] = hex.EncodeToString([]byte(r.rawID(i)))
	}
	return ids
}

func (r *Record) rawID(i int) string { return r.chunkIDs[i*idSize : (i+1)*idSize] }

func (r *Record) chunkKey(i int) (k chunkKey) {
	copy(k[:], r.rawID(i))
	return k
}

// asUnread is the record of a document whose stored text is damaged: it keeps identity and names, and equals no file on
// disk, so that the next look at the folder reads the file again.
func (r *Record) asUnread() *Record {
	c := *r
	c.FileHash, c.FileSize, c.ModTime, c.ChangeTime = "", -1, 0, 0
	return &c
}
