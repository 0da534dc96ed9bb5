package registry

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"

	"knowledged/document"
)

// The chunks of a document are one value: number, lengths, checksum of those; then each chunk with its own checksum. So
// one chunk is read without touching the others (a lookup reads 90 of them, of as many documents). Compression was
// measured and left out: snappy saves a quarter of the disk and costs more than the reading does.

const maxChunks = 1 << 24 // bounds what a damaged count may allocate

// encodeChunks returns the stored form and the raw ids.
func encodeChunks(chunks []document.Chunk) (value []byte, ids string, err error) {
	if len(chunks) == 0 {
		return nil, "", nil
	}
	rawIDs := make([]byte, 0, len(chunks)*idSize)
	bodies := make([]byte, 0, 1024*len(chunks))
	head := binary.AppendUvarint(nil, uint64(len(chunks)))
	for i := range chunks {
		c := &chunks[i]
		raw, err := hex.DecodeString(c.ID)
		if err != nil || len(raw) != idSize {
			return nil, "", fmt.Errorf("chunk %d: id %q is not %d hex digits", i, c.ID, 2*idSize)
		}
		rawIDs = append(rawIDs, raw...)
		start := len(bodies)
		bodies = append(bodies, 0, 0, 0, 0)
		bodies = append(bodies, raw...)
		bodies = appendString(bodies, c.Breadcrumb)
		bodies = appendString(bodies, c.Text)
		bodies = append(bodies, flags(c.Head != nil))
		if h := c.Head; h != nil {
			bodies = appendString(bodies, h.Title)
			bodies = appendString(bodies, h.Summary)
			bodies = appendStrings(bodies, h.Keywords)
			bodies = appendStrings(bodies, h.Aliases)
			bodies = appendStrings(bodies, h.Headings)
		}
		binary.LittleEndian.PutUint32(bodies[start:], crc32.Checksum(bodies[start+4:], castagnoli))
		head = binary.AppendUvarint(head, uint64(len(bodies)-start))
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	return append(head, bodies...), string(rawIDs), nil
}

// chunkBodies splits a stored value into its chunks without reading them. The result refers to value.
func chunkBodies(value []byte) ([][]byte, error) {
	n, pos := binary.Uvarint(value)
	if pos <= 0 || n == 0 || n > maxChunks || n > uint64(len(value)) {
		return nil, errDamaged
	}
	lengths := make([]uint64, n)
	for i := range lengths {
		l, w := binary.Uvarint(value[pos:])
		if w <= 0 || l > uint64(len(value)) {
			return nil, errDamaged
		}
		lengths[i] = l
		pos += w
	}
	if len(value) < pos+4 || binary.LittleEndian.Uint32(value[pos:]) != crc32.Checksum(value[:pos], castagnoli) {
		return nil, errDamaged
	}
	rest := value[pos+4:]
	bodies := make([][]byte, n)
	for i, l := range lengths {
		if l > uint64(len(rest)) {
			return nil, errDamaged
		}
		bodies[i], rest = rest[:l], rest[l:]
	}
	if len(rest) != 0 {
		return nil, errDamaged
	}
	return bodies, nil
}

// checkBody verifies one chunk's checksum and that it is the chunk the record names there.
func checkBody(body []byte, rawID string) error {
	if len(body) < 4+idSize || binary.LittleEndian.Uint32(body) != crc32.Checksum(body[4:], castagnoli) || string(body[4:4+idSize]) != rawID {
		return errDamaged
	}
	return nil
}

// decodeChunk reads chunk i of a record. value is not kept.
func decodeChunk(value []byte, r *Record, i int) (document.Chunk, error) {
	bodies, err := chunkBodies(value)
	if err != nil {
		return document.Chunk{}, err
	}
	return decodeBody(bodies, r, i)
}

func decodeBody(bodies [][]byte, r *Record, i int) (c document.Chunk, err error) {
	if len(bodies) != r.ChunkCount() {
		return c, errDamaged
	}
	if err := checkBody(bodies[i], r.rawID(i)); err != nil {
		return c, err
	}
	d := newDecoder(bodies[i][4+idSize:])
	c = document.Chunk{ID: hex.EncodeToString([]byte(r.rawID(i))), Breadcrumb: d.string(), Text: d.string(), Index: i, Total: len(bodies)}
	if d.byte() != 0 {
		c.Head = &document.Head{Title: d.string(), Summary: d.string(), Keywords: d.strings(), Aliases: d.strings(), Headings: d.strings()}
	}
	if d.bad || d.text != "" {
		return document.Chunk{}, errDamaged
	}
	return c, nil
}

// checkChunks verifies a whole stored value against its record without decoding texts.
func checkChunks(value []byte, r *Record) error {
	bodies, err := chunkBodies(value)
	if err != nil {
		return err
	}
	if len(bodies) != r.ChunkCount() {
		return errDamaged
	}
	for i, body := range bodies {
		if err := checkBody(body, r.rawID(i)); err != nil {
			return err
		}
	}
	return nil
}
