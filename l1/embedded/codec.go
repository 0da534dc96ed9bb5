package embedded

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// A record is an operation, an id, and for a put the category and the vector as int8. Ids of 32 hex digits, which chunk ids
// are, take 16 bytes.
const (
	opPut byte = 1 + iota
	opDelete
	opHexID byte = 0x80 // flag: the id is 16 bytes of hex
)

const hexIDBytes = 16

var errRecord = errors.New("record makes no sense")

func appendOp(buf []byte, op byte, id string) []byte {
	if raw, ok := hexID(id); ok {
		return append(append(buf, op|opHexID), raw[:]...)
	}
	buf = append(buf, op)
	return appendText(buf, id)
}

func appendPut(buf []byte, id, category string, code []int8) []byte {
	buf = appendOp(buf, opPut, id)
	buf = appendText(buf, category)
	for _, c := range code {
		buf = append(buf, byte(c))
	}
	return buf
}

// putSize is the length of what appendPut appends.
func putSize(id, category string, dims int) int {
	size := 1 + hexIDBytes
	if _, ok := hexID(id); !ok {
		size = 1 + textSize(id)
	}
	return size + textSize(category) + dims
}

func textSize(s string) int {
	var n [binary.MaxVarintLen64]byte
	return binary.PutUvarint(n[:], uint64(len(s))) + len(s)
}

func appendText(buf []byte, s string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

// decode reads a record; code is reused for a put's vector.
func decode(b []byte, code []int8) (op byte, id, category string, err error) {
	if len(b) == 0 {
		return 0, "", "", errRecord
	}
	op, b = b[0], b[1:]
	if op&opHexID != 0 {
		if len(b) < hexIDBytes {
			return 0, "", "", errRecord
		}
		id, b = hex.EncodeToString(b[:hexIDBytes]), b[hexIDBytes:]
	} else if id, b, err = cutText(b); err != nil {
		return 0, "", "", err
	}
	op &^= opHexID
	switch op {
	case opDelete:
	case opPut:
		if category, b, err = cutText(b); err != nil {
			return 0, "", "", err
		}
		if len(b) != len(code) {
			return 0, "", "", fmt.Errorf("%w: vector of %d bytes, not %d", errRecord, len(b), len(code))
		}
		for i, c := range b {
			code[i] = int8(c)
		}
		b = nil
	default:
		return 0, "", "", fmt.Errorf("%w: operation %d", errRecord, op)
	}
	if len(b) > 0 {
		return 0, "", "", errRecord
	}
	return op, id, category, nil
}

func cutText(b []byte) (string, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > math.MaxInt32 || int(n) > len(b)-size {
		return "", nil, errRecord
	}
	return string(b[size : size+int(n)]), b[size+int(n):], nil
}

// hexID reports whether id is 32 lower-case hex digits, so that encoding its bytes gives it back.
func hexID(id string) (raw [hexIDBytes]byte, ok bool) {
	if len(id) != 2*hexIDBytes {
		return raw, false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return raw, false
		}
	}
	_, err := hex.Decode(raw[:], []byte(id))
	return raw, err == nil
}
