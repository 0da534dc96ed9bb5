package registry

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"

	"knowledged/document"
)

// The chunks of a document are one value: number, lengths, checksum of those; then each chunk with its own checksum. So
// one chunk is read without touching the others: a lookup reads 90 of them, of as many documents, at 3 µs each. That is why
// they are not compressed.

// encodeChunks returns the stored form and the raw ids.
func encodeChunks(chunks []document.Chunk) (value []byte, ids string, err error) {
	if len(chunks) == 0 {
		return nil, "", nil
	}
	rawIDs := make([]byte, 0, len(chunks)*idSize)
	body := make([]byte, 0, 1024*len(chunks))
	head := binary.AppendUvarint(nil, uint64(len(chunks)))
	for i := range chunks {
		c := &chunks[i]
		raw, err := hex.DecodeString(c.ID)
		if err != nil || len(raw) != idSize {
			return nil, "", fmt.Errorf("chunk %d: id %q is not %d hex digits", i, c.ID, 2*idSize)
		}
		rawIDs = append(rawIDs, raw...)
		start := len(body)
		body = append(body, 0, 0, 0, 0)
		body = append(body, raw...)
		body = appendString(body, c.Breadcrumb)
		body = appendString(body, c.Text)
		body = append(body, flags(c.Head != nil))
		if h := c.Head; h != nil {
			body = appendString(body, h.Title)
			body = appendString(body, h.Summary)
			body = appendStrings(body, h.Keywords)
			body = appendStrings(body, h.Aliases)
			body = appendStrings(body, h.Headings)
		}
		binary.LittleEndian.PutUint32(body[start:], crc32.Checksum(body[start+4:], castagnoli))
		head = binary.AppendUvarint(head, uint64(len(body)-start))
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	return append(head, body...), string(rawIDs), nil
}

// bodies are the chunks of a stored value, split but not read. They refer to the value.
type bodies struct {
	count   int
	lengths []byte // varints
	rest    []byte // the chunks, one after the other
}

func splitChunks(value []byte) (bodies, error) {
	n, head := binary.Uvarint(value)
	if head <= 0 || n == 0 || n > uint64(len(value)) {
		return bodies{}, errDamaged
	}
	pos, sum := head, uint64(0)
	for range n {
		length, width := binary.Uvarint(value[pos:])
		if width <= 0 || length > uint64(len(value)) {
			return bodies{}, errDamaged
		}
		pos, sum = pos+width, sum+length
	}
	if len(value) < pos+4 || binary.LittleEndian.Uint32(value[pos:]) != crc32.Checksum(value[:pos], castagnoli) || sum != uint64(len(value)-pos-4) {
		return bodies{}, errDamaged
	}
	return bodies{int(n), value[head:pos], value[pos+4:]}, nil
}

// next takes the first chunk off. Lengths were checked when the value was split.
func (b *bodies) next() []byte {
	length, width := binary.Uvarint(b.lengths)
	body := b.rest[:length]
	b.lengths, b.rest = b.lengths[width:], b.rest[length:]
	return body
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
	b, err := splitChunks(value)
	if err != nil || b.count != r.ChunkCount() {
		return document.Chunk{}, errDamaged
	}
	for range i {
		b.next()
	}
	return decodeBody(b.next(), r, i)
}

// decodeChunks reads all chunks of a record. value is not kept.
func decodeChunks(value []byte, r *Record) ([]document.Chunk, error) {
	b, err := splitChunks(value)
	if err != nil || b.count != r.ChunkCount() {
		return nil, errDamaged
	}
	chunks := make([]document.Chunk, b.count)
	for i := range chunks {
		if chunks[i], err = decodeBody(b.next(), r, i); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}

func decodeBody(body []byte, r *Record, i int) (c document.Chunk, err error) {
	if err := checkBody(body, r.rawID(i)); err != nil {
		return c, err
	}
	d := newDecoder(body[4+idSize:])
	c = document.Chunk{ID: hex.EncodeToString(body[4 : 4+idSize]), Breadcrumb: d.string(), Text: d.string(), Index: i, Total: r.ChunkCount()}
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
	b, err := splitChunks(value)
	if err != nil || b.count != r.ChunkCount() {
		return errDamaged
	}
	for i := range b.count {
		if err := checkBody(b.next(), r.rawID(i)); err != nil {
			return err
		}
	}
	return nil
}
