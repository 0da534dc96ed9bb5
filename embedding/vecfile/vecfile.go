// Package vecfile is a file of checksummed records that is only appended to: what the embedding cache and the embedded
// vector index keep on disk. What a killed process left unfinished at the end is cut off; a damaged file is set aside under
// another name, since all that is kept here can be made again.
package vecfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Layout: magic, u32 length of the header, u32 CRC-32C of the header, the header; then records of u32 length, u32 CRC-32C
// over length and payload, payload. Little endian.
const (
	magic      = "KDVF"
	headBytes  = 8        // of a record, before its payload
	maxPayload = 16 << 20 // a longer record can only be damage
	// A write that a power cut tore may have lost any of its pages, so damage this near to the end counts as unfinished.
	// Callers sync after each append, and append less than this at a time.
	tornBytes = 512 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is an open file. Append, Rewrite and Close need one writer at a time; ReadAt may run beside Append.
type File struct {
	path   string
	header string
	f      *os.File
	size   int64
	log    *slog.Logger
}

// Record is a record as Open hands it over. Payload is only valid until the next one.
type Record struct {
	At      int64
	Payload []byte
}

// Open opens path, or creates it. header says what is in it (kind, version, dimensions): a file with another header is set
// aside like a damaged one. load is called once with all records; if they turn out damaged it is called again with none,
// so it must start from nothing each time. An error from load means that the records make no sense, which is damage too.
func Open(path, header string, load func(records func(yield func(Record) bool)) error, log *slog.Logger) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	_ = os.Remove(path + newSuffix) // an unfinished Rewrite
	x := &File{path: path, header: header, log: log}
	damage, err := x.read(load)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if damage == nil {
		return x, nil
	}
	aside, err := setAside(path)
	if err != nil {
		return nil, fmt.Errorf("set aside damaged %s: %w", path, err)
	}
	log.Warn("damaged file set aside, its contents will be made again", "path", path, "aside", aside, "err", damage)
	if damage, err = x.read(load); err == nil {
		err = damage
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return x, nil
}

// read opens the file and loads it. damage is what is wrong with its contents; err is anything else.
func (x *File) read(load func(func(func(Record) bool)) error) (damage, err error) {
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if damage != nil || err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	head := x.encodeHeader()
	if size == 0 {
		if _, err := f.WriteAt(head, 0); err != nil {
			return nil, err
		}
		size = int64(len(head))
	}
	got := make([]byte, len(head))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, head) {
		return fmt.Errorf("not a file of %q", x.header), nil
	}
	s := &scan{f: f, at: int64(len(head)), size: size}
	if err := load(s.records); err != nil {
		return err, nil
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.damage != nil {
		rest := size - s.at
		torn := errors.Is(s.damage, errUnfinished)
		if !torn && rest > tornBytes {
			return fmt.Errorf("at byte %d of %d: %w", s.at, size, s.damage), nil
		}
		level := slog.LevelWarn
		if torn {
			level = slog.LevelInfo // what kill -9 does
		}
		x.log.Log(context.Background(), level, "unfinished end of file cut off", "path", x.path, "bytes", rest, "err", s.damage)
		if err := f.Truncate(s.at); err != nil {
			return nil, err
		}
	}
	x.f, x.size = f, s.at
	return nil, nil
}

func (x *File) encodeHeader() []byte {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(x.header)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum([]byte(x.header), castagnoli))
	return append(b, x.header...)
}

func setAside(path string) (string, error) {
	base := path + ".broken-" + time.Now().UTC().Format("20060102T150405")
	aside := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			return aside, os.Rename(path, aside)
		}
		aside = fmt.Sprintf("%s-%d", base, i)
	}
}

// Path is where the file is.
func (x *File) Path() string { return x.path }

// Size is its length in bytes.
func (x *File) Size() int64 { return x.size }

// RecordSize is how much a record with a payload of n bytes takes.
func RecordSize(n int) int64 { return headBytes + int64(n) }

// Append writes records at the end, all with one write, and gives their places. They survive the death of the process, and
// after Sync that of the machine. Nothing is appended if it fails.
func (x *File) Append(payloads ...[]byte) ([]int64, error) {
	var total int64
	for _, p := range payloads {
		total += RecordSize(len(p))
	}
	buf := make([]byte, 0, total)
	places := make([]int64, len(payloads))
	for i, p := range payloads {
		places[i] = x.size + int64(len(buf))
		buf = appendRecord(buf, p)
	}
	if _, err := x.f.WriteAt(buf, x.size); err != nil {
		// The next append overwrites what was written; cut it now in case there is none.
		return nil, errors.Join(fmt.Errorf("append to %s: %w", x.path, err), x.f.Truncate(x.size))
	}
	x.size += int64(len(buf))
	return places, nil
}

func appendRecord(buf, payload []byte) []byte {
	start := len(buf)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(payload)))
	buf = append(buf, 0, 0, 0, 0)
	buf = append(buf, payload...)
	binary.LittleEndian.PutUint32(buf[start+4:], checksum(buf[start:start+4], payload))
	return buf
}

func checksum(length, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(length, castagnoli), castagnoli, payload)
}

// ReadAt reads the record at a place that Append or Open gave.
func (x *File) ReadAt(at int64) ([]byte, error) {
	var head [headBytes]byte
	if _, err := x.f.ReadAt(head[:], at); err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", x.path, at, err)
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxPayload {
		return nil, fmt.Errorf("read %s at %d: %w", x.path, at, errDamaged)
	}
	payload := make([]byte, length)
	if _, err := x.f.ReadAt(payload, at+headBytes); err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", x.path, at, err)
	}
	if checksum(head[:4], payload) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, fmt.Errorf("read %s at %d: %w", x.path, at, errDamaged)
	}
	return payload, nil
}

// Sync waits until all that was appended is on the disk.
func (x *File) Sync() error {
	if err := x.f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", x.path, err)
	}
	return nil
}

// Close syncs and closes the file.
func (x *File) Close() error {
	return errors.Join(x.Sync(), x.f.Close())
}
