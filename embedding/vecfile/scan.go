package vecfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

var (
	errUnfinished = errors.New("last record is incomplete")
	errDamaged    = errors.New("record is damaged")
)

// scan reads records in order until the end of the file or until one is damaged, which is then at at.
type scan struct {
	f        *os.File
	at, size int64
	damage   error // why the record at at is none
	err      error // reading failed
}

func (s *scan) records(yield func(Record) bool) {
	r := bufio.NewReaderSize(io.NewSectionReader(s.f, s.at, s.size-s.at), 1<<20)
	var payload []byte
	for s.at < s.size {
		if s.size-s.at < headBytes {
			s.damage = errUnfinished
			return
		}
		var head [headBytes]byte
		if _, s.err = io.ReadFull(r, head[:]); s.err != nil {
			return
		}
		length := int64(binary.LittleEndian.Uint32(head[:]))
		switch {
		case length > maxPayload:
			s.damage = errDamaged
			return
		case s.at+headBytes+length > s.size:
			s.damage = errUnfinished
			return
		}
		if int64(cap(payload)) < length {
			payload = make([]byte, length)
		}
		payload = payload[:length]
		if _, s.err = io.ReadFull(r, payload); s.err != nil {
			return
		}
		if checksum(head[:4], payload) != binary.LittleEndian.Uint32(head[4:]) {
			s.damage = errDamaged
			return
		}
		if !yield(Record{At: s.at, Payload: payload}) {
			return
		}
		s.at += headBytes + length
	}
}
