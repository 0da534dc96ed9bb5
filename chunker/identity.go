package chunker

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"knowledged/document"
)

// format is part of every id: a change of what chunks hold, or of how they are cut, gives them new ones.
const format = "knowledged chunk 2"

// identify numbers the chunks and sets their ids. Of chunks that are alike, the occurrence tells them apart and not the
// position: a section put in between changes no other id. The category is part of them because rows of the semantic index
// carry it and are told apart by id alone.
func identify(source, category string, chunks []document.Chunk) {
	seen := make(map[[sha256.Size]byte]uint64, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		c.Index, c.Total = i, len(chunks)
		h := sha256.New()
		writeFields(h, format, source, category, c.Breadcrumb, c.Text)
		if c.Head != nil {
			writeFields(h, "head", c.Head.Title, c.Head.Summary)
			for _, list := range [][]string{c.Head.Keywords, c.Head.Aliases, c.Head.Headings} {
				writeNumber(h, uint64(len(list)))
				writeFields(h, list...)
			}
		}
		content := [sha256.Size]byte(h.Sum(nil))
		writeNumber(h, seen[content])
		seen[content]++
		c.ID = hex.EncodeToString(h.Sum(nil)[:16])
	}
}

// writeFields hashes strings with their lengths, so that no two lists of fields run together to the same bytes.
func writeFields(h hash.Hash, fields ...string) {
	for _, field := range fields {
		writeNumber(h, uint64(len(field)))
		h.Write([]byte(field))
	}
}

func writeNumber(h hash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	h.Write(b[:])
}
