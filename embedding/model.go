package embedding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"
)

// model is a static embedding in the KBS1 format (model/MODEL_CARD.md): word pieces, their log-probabilities and an int8
// vector each. It is read-only once loaded.
type model struct {
	pieces, dims int
	logProb      []float32
	scale        []float32 // row i is scale[i] * int8 row
	offset       []uint32  // piece i is blob[offset[i]:offset[i+1]]
	blob         []byte
	rows         []byte // pieces × dims, two's complement; aliases the image

	// table is an open-addressed hash of every piece and every prefix of one that ends at a character, so that the tokenizer
	// can stop as soon as no piece goes on that way.
	table []tableEntry
	mask  uint32
}

type tableEntry struct {
	first  int32  // a piece that starts with these bytes
	length uint16 // of the prefix in bytes; 0 marks a free slot
	piece  int32  // the piece that is just these bytes, -1 if none is
}

// Limits no sane model passes; they keep size sums far from overflow.
const (
	maxPieces = 1 << 22
	maxDims   = 1 << 13
	maxPiece  = 1 << 10 // bytes of one piece
)

// loadModel parses an image. The rows and the blob alias b, which must not change afterwards.
func loadModel(b []byte) (*model, error) {
	const header = 16
	if len(b) < header || string(b[:4]) != "KBS1" {
		return nil, errors.New("not a KBS1 model: wrong first bytes")
	}
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	pieces, dims, blobLen := u32(4), u32(8), u32(12)
	if pieces < 1 || pieces > maxPieces || dims < 1 || dims > maxDims || blobLen > len(b) {
		return nil, fmt.Errorf("not a KBS1 model: %d pieces of %d dimensions, %d bytes of text", pieces, dims, blobLen)
	}
	if want := header + 8*pieces + 4*(pieces+1) + blobLen + pieces*dims; len(b) != want {
		return nil, fmt.Errorf("KBS1 model has %d bytes instead of %d: cut short or damaged", len(b), want)
	}
	m := &model{pieces: pieces, dims: dims}
	rest := b[header:]
	take := func(n int) []byte { part := rest[:n:n]; rest = rest[n:]; return part }
	m.logProb = floats(take(4 * pieces))
	m.scale = floats(take(4 * pieces))
	offsets := take(4 * (pieces + 1))
	m.offset = make([]uint32, pieces+1)
	for i := range m.offset {
		m.offset[i] = binary.LittleEndian.Uint32(offsets[4*i:])
	}
	m.blob = take(blobLen)
	m.rows = take(pieces * dims)
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("KBS1 model is damaged: %w", err)
	}
	if err := m.buildTable(); err != nil {
		return nil, fmt.Errorf("KBS1 model is damaged: %w", err)
	}
	return m, nil
}

func (m *model) check() error {
	if m.offset[0] != 0 || int(m.offset[m.pieces]) != len(m.blob) {
		return errors.New("pieces do not cover the text")
	}
	for i := range m.pieces {
		from, to := m.offset[i], m.offset[i+1]
		if from >= to || int(to) > len(m.blob) || to-from > maxPiece {
			return fmt.Errorf("piece %d is at %d to %d", i, from, to)
		}
		if !utf8.Valid(m.blob[from:to]) {
			return fmt.Errorf("piece %d is not UTF-8", i)
		}
		if lp := float64(m.logProb[i]); math.IsNaN(lp) || math.IsInf(lp, 0) || lp > 0 {
			return fmt.Errorf("piece %d has log-probability %v", i, lp)
		}
		if s := float64(m.scale[i]); math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
			return fmt.Errorf("piece %d has scale %v", i, s)
		}
	}
	return nil
}

func (m *model) buildTable() error {
	prefixes := 0 // an upper bound: shared prefixes are counted once for each piece
	for _, c := range m.blob {
		if utf8.RuneStart(c) {
			prefixes++
		}
	}
	m.table = make([]tableEntry, 1<<bits.Len(uint(prefixes)))
	m.mask = uint32(len(m.table) - 1)
	for i := range m.pieces {
		p := m.piece(int32(i))
		h := hashStart
		for j := 0; j < len(p); {
			h = hashByte(h, p[j])
			if j++; j < len(p) && !utf8.RuneStart(p[j]) {
				continue
			}
			e := m.find(h, p[:j])
			if e.length == 0 {
				*e = tableEntry{first: int32(i), length: uint16(j), piece: -1}
			}
			if j < len(p) {
				continue
			}
			if e.piece >= 0 {
				return fmt.Errorf("pieces %d and %d are both %q", e.piece, i, p)
			}
			e.piece = int32(i)
		}
	}
	return nil
}

// find gives the slot of prefix, whose hash is h: the one that holds it, or the free one where it would go.
func (m *model) find(h uint32, prefix []byte) *tableEntry {
	for k := (h ^ h>>15) & m.mask; ; k = (k + 1) & m.mask {
		e := &m.table[k]
		if e.length == 0 {
			return e
		}
		if int(e.length) == len(prefix) {
			at := m.offset[e.first]
			if string(m.blob[at:at+uint32(e.length)]) == string(prefix) {
				return e
			}
		}
	}
}

func (m *model) piece(id int32) []byte { return m.blob[m.offset[id]:m.offset[id+1]] }

func (m *model) row(id int32) []byte {
	at := int(id) * m.dims
	return m.rows[at : at+m.dims : at+m.dims]
}

// FNV-1a: cheap to carry on byte by byte.
const hashStart uint32 = 2166136261

func hashByte(h uint32, c byte) uint32 { return (h ^ uint32(c)) * 16777619 }

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
