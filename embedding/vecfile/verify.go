package vecfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
)

// Verify reads a file to its end and changes nothing. It tells how many records are whole, and what is wrong with the rest.
// An end that a killed process left unfinished is no damage.
func Verify(path string) (records int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	_, start, err := readHeader(f)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	s := &scan{f: f, at: start, size: info.Size()}
	s.records(func(Record) bool { records++; return true })
	switch {
	case s.err != nil:
		return records, fmt.Errorf("read %s: %w", path, s.err)
	case s.damage != nil && !errors.Is(s.damage, errUnfinished) && info.Size()-s.at > tornBytes:
		return records, fmt.Errorf("read %s at byte %d: %w", path, s.at, s.damage)
	}
	return records, nil
}

// Header is what the file says of its contents: kind, version, dimensions.
func Header(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	header, _, err := readHeader(f)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return header, nil
}

// readHeader gives the header and where the records start.
func readHeader(f *os.File) (header string, start int64, err error) {
	head := make([]byte, len(magic)+headBytes)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:len(magic)]) != magic {
		return "", 0, errDamaged
	}
	length := binary.LittleEndian.Uint32(head[len(magic):])
	if length > maxPayload {
		return "", 0, errDamaged
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, int64(len(head))); err != nil || crc32.Checksum(text, castagnoli) != binary.LittleEndian.Uint32(head[len(magic)+4:]) {
		return "", 0, errDamaged
	}
	return string(text), int64(len(head)) + int64(length), nil
}
