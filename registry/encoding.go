package registry

import "encoding/binary"

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// decoder reads values in the order they were appended. Once anything is wrong it returns zero values and stays bad:
// callers check bad once, at the end.
type decoder struct {
	text string // the strings handed out share this one allocation
	bad  bool
}

func newDecoder(b []byte) *decoder { return &decoder{text: string(b)} }

func (d *decoder) fail() {
	d.bad, d.text = true, ""
}

func (d *decoder) byte() byte {
	if d.text == "" {
		d.fail()
		return 0
	}
	b := d.text[0]
	d.text = d.text[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) varint() int64 {
	n := d.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// count reads the length of a list. An item takes a byte at least, which bounds what a damaged length may allocate.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.text)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count()
	s := d.text[:n]
	d.text = d.text[n:]
	return s
}

func (d *decoder) strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.string()
	}
	return list
}
