package registry

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// bbolt's file format, version 2 (native byte order): a page is a header of 16 bytes (id, flags, count, overflow), then
// count elements of 16 bytes, then keys and values that elements point to, relative to themselves.
const (
	pageHeader = 16
	element    = 16
	metaSize   = 64

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	flagBucket   = 0x01 // of a leaf element

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	maxDepth    = 64
)

var native = binary.NativeEndian

// pageWalk reads a bbolt file without trusting it. It reads with ReadAt rather than through the memory map: no faults, and
// the whole file doesn't count as the process's memory afterwards.
type pageWalk struct {
	file     io.ReaderAt
	pageSize int
	high     uint64 // first page id not in use
	seen     []bool // pages in use or free: each is met once
	leaf     []byte // reused from leaf to leaf
	visit    func(bucket string, key, value []byte) error
}

// walkPages visits every value of a one-level bbolt file in key order, buckets too, and checks on the way all that bbolt
// relies on: bounds, kinds, key order, and that no page is used twice.
func walkPages(file *os.File, pageSize int, visit func(bucket string, key, value []byte) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w := &pageWalk{file: file, pageSize: pageSize, visit: visit}
	root, freelist, err := w.meta(uint64(info.Size()))
	if err != nil {
		return err
	}
	w.seen = make([]bool, w.high)
	w.seen[0], w.seen[1] = true, true
	if err := w.free(freelist); err != nil {
		return err
	}
	if err := w.tree("", root, keys{}, 0); err != nil {
		return err
	}
	if i := slices.Index(w.seen, false); i >= 0 {
		return fmt.Errorf("%w: page %d is neither in use nor free", errBroken, i)
	}
	return nil
}

// meta reads the newer valid one of the two meta pages, as bbolt does.
func (w *pageWalk) meta(fileSize uint64) (root, freelist uint64, err error) {
	var newest uint64
	buf := make([]byte, pageHeader+metaSize)
	for i := range int64(2) {
		if _, err := w.file.ReadAt(buf, i*int64(w.pageSize)); err != nil {
			return 0, 0, w.short(err)
		}
		m := buf[pageHeader:]
		sum := fnv.New64a()
		sum.Write(m[:56])
		if native.Uint32(m) != boltMagic || native.Uint32(m[4:]) != boltVersion || native.Uint64(m[56:]) != sum.Sum64() {
			continue
		}
		if tx := native.Uint64(m[48:]); w.high == 0 || tx > newest {
			newest = tx
			root, freelist, w.high = native.Uint64(m[16:]), native.Uint64(m[32:]), native.Uint64(m[40:])
		}
	}
	if w.high < 2 || w.high > fileSize/uint64(w.pageSize) {
		return 0, 0, fmt.Errorf("%w: %d bytes, %d pages of %d expected", errBroken, fileSize, w.high, w.pageSize)
	}
	return root, freelist, nil
}

// page reads a page with its overflow into buf and marks it seen.
func (w *pageWalk) page(id uint64, buf []byte) (p []byte, flags, count int, err error) {
	if cap(buf) < w.pageSize {
		buf = make([]byte, w.pageSize)
	}
	buf = buf[:w.pageSize]
	if id >= w.high {
		return nil, 0, 0, fmt.Errorf("%w: page %d of %d", errBroken, id, w.high)
	}
	if _, err := w.file.ReadAt(buf, int64(id)*int64(w.pageSize)); err != nil {
		return nil, 0, 0, w.short(err)
	}
	flags, count = int(native.Uint16(buf[8:])), int(native.Uint16(buf[10:]))
	overflow := uint64(native.Uint32(buf[12:]))
	if native.Uint64(buf) != id || overflow >= w.high-id {
		return nil, 0, 0, fmt.Errorf("%w: page %d has a wrong header", errBroken, id)
	}
	for i := id; i <= id+overflow; i++ {
		if err := w.mark(i); err != nil {
			return nil, 0, 0, err
		}
	}
	if overflow > 0 {
		size := int(overflow+1) * w.pageSize
		if cap(buf) < size {
			buf = append(make([]byte, 0, size), buf...)
		}
		buf = buf[:size]
		if _, err := w.file.ReadAt(buf[w.pageSize:], int64(id+1)*int64(w.pageSize)); err != nil {
			return nil, 0, 0, w.short(err)
		}
	}
	return buf, flags, count, nil
}

func (w *pageWalk) mark(id uint64) error {
	if id >= w.high || w.seen[id] {
		return fmt.Errorf("%w: page %d is used twice or out of bounds", errBroken, id)
	}
	w.seen[id] = true
	return nil
}

func (w *pageWalk) short(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: file ends too early", errBroken)
	}
	return err
}

// free marks the free pages. A page both free and in use would be overwritten.
func (w *pageWalk) free(id uint64) error {
	p, flags, count, err := w.page(id, nil)
	if err != nil {
		return err
	}
	ids := p[pageHeader:]
	n := uint64(count)
	if count == 0xFFFF { // the number did not fit: it is the first item
		n, ids = native.Uint64(ids), ids[8:]
	}
	if flags != flagFreelist || n > uint64(len(ids)/8) {
		return fmt.Errorf("%w: list of free pages", errBroken)
	}
	var last uint64
	for i := range n {
		id := native.Uint64(ids[i*8:])
		if err := w.mark(id); err != nil {
			return err
		}
		if id < last {
			return fmt.Errorf("%w: list of free pages out of order", errBroken)
		}
		last = id
	}
	return nil
}

// keys bounds the keys of a page: the first is first, all are below high. nil is no bound. bbolt finds a changed page in
// its parent by its first key, so one that differs is not only untidy.
type keys struct{ first, high []byte }

func (k keys) hold(i int, key []byte) bool {
	return (i > 0 || k.first == nil || bytes.Equal(key, k.first)) && (k.high == nil || bytes.Compare(key, k.high) < 0)
}

// tree walks the pages below id. bucket is "" for the tree of buckets.
func (w *pageWalk) tree(bucket string, id uint64, in keys, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: tree too deep", errBroken)
	}
	buf := w.leaf
	w.leaf = nil // the leaf that holds the buckets is in use while theirs are walked
	p, flags, count, err := w.page(id, buf)
	if err != nil {
		return err
	}
	switch {
	case flags == flagLeaf && (count > 0 || depth == 0):
		err = w.leafPage(bucket, p, count, in)
		w.leaf = p
		return err
	case flags == flagBranch && count > 0:
		return w.branchPage(bucket, p, count, in, depth)
	}
	return fmt.Errorf("%w: page %d is of no known kind", errBroken, id)
}

func (w *pageWalk) branchPage(bucket string, p []byte, count int, in keys, depth int) error {
	key := func(i int) ([]byte, error) {
		at := pageHeader + i*element
		return cut(p, count, at, uint64(native.Uint32(p[at:])), uint64(native.Uint32(p[at+4:])))
	}
	if pageHeader+count*element > len(p) {
		return errElements
	}
	first, err := key(0)
	for i := 0; i < count && err == nil; i++ {
		child := keys{first: first, high: in.high}
		if i+1 < count {
			if child.high, err = key(i + 1); err != nil {
				break
			}
		}
		if !in.hold(i, first) || child.high != nil && bytes.Compare(first, child.high) >= 0 {
			return errOrder
		}
		err = w.tree(bucket, native.Uint64(p[pageHeader+i*element+8:]), child, depth+1)
		first = child.high
	}
	return err
}

func (w *pageWalk) leafPage(bucket string, p []byte, count int, in keys) error {
	if pageHeader+count*element > len(p) {
		return errElements
	}
	var before []byte
	for i := range count {
		at := pageHeader + i*element
		pos, keySize, valueSize := uint64(native.Uint32(p[at+4:])), uint64(native.Uint32(p[at+8:])), uint64(native.Uint32(p[at+12:]))
		both, err := cut(p, count, at, pos, keySize+valueSize)
		if err != nil {
			return err
		}
		key, value := both[:keySize:keySize], both[keySize:]
		if len(key) == 0 || !in.hold(i, key) || before != nil && bytes.Compare(before, key) >= 0 {
			return errOrder
		}
		before = key
		switch kind := native.Uint32(p[at:]); {
		case kind == flagBucket && bucket == "":
			err = w.bucket(string(key), value)
		case kind == 0 && bucket != "":
			err = w.visit(bucket, key, value)
		default:
			err = fmt.Errorf("%w: not a file of knowledged", errBroken)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket walks a bucket: a tree of its own, or where it is small, a leaf page within the value itself.
func (w *pageWalk) bucket(name string, value []byte) error {
	if len(value) < 16 {
		return errElements
	}
	if root := native.Uint64(value); root != 0 {
		return w.tree(name, root, keys{}, 0)
	}
	p := value[16:]
	if len(p) < pageHeader || int(native.Uint16(p[8:])) != flagLeaf {
		return errElements
	}
	return w.leafPage(name, p, int(native.Uint16(p[10:])), keys{})
}

var (
	errElements = fmt.Errorf("%w: page elements out of bounds", errBroken)
	errOrder    = fmt.Errorf("%w: keys out of order", errBroken)
)

// cut returns what the element at offset at points to.
func cut(p []byte, count, at int, pos, size uint64) ([]byte, error) {
	start := uint64(at) + pos
	if start < uint64(pageHeader+count*element) || start+size > uint64(len(p)) {
		return nil, errElements
	}
	return p[start : start+size : start+size], nil
}
