package l0

import (
	"math"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// segmentReader reads the postings of one segment during one query. Dictionaries must not outlive the snapshot.
type segmentReader struct {
	seg     segment.Segment
	deleted *roaring.Bitmap
	base    uint32 // number of the segment's first chunk among those of all segments
	dicts   [numFields]segment.TermDictionary
}

// posting is a chunk that has the term in the field.
type posting struct {
	chunk  uint32 // within the segment
	freq   float32
	length float32 // terms in the chunk's field
}

// reader walks postings; it keeps buffers from one list to the next.
type reader struct {
	segments []segmentReader
	list     segment.PostingsList
	iterator segment.PostingsIterator
}

func (r *reader) open(snapshot *scorch.IndexSnapshot) (size, live int, err error) {
	r.segments = r.segments[:0]
	for _, s := range snapshot.Segments() {
		sr := segmentReader{seg: s.Segment(), deleted: s.Deleted(), base: uint32(size)}
		for f := range numFields {
			if sr.dicts[f], err = sr.seg.Dictionary(fieldNames[f]); err != nil {
				return 0, 0, err
			}
		}
		r.segments = append(r.segments, sr)
		size += int(sr.seg.Count())
		live += int(s.Count())
	}
	return size, live, nil
}

// count returns the number of live chunks with the term, or nearly: those that have it in several fields of a head chunk
// may be counted by the field that has most.
func (r *reader) count(term []byte) (int, error) {
	n := 0
	for i := range r.segments {
		most := uint64(0)
		for f := range numFields {
			list, err := r.segments[i].dicts[f].PostingsList(term, r.segments[i].deleted, r.list)
			if err != nil {
				return 0, err
			}
			r.list = list
			most = max(most, list.Count())
		}
		n += int(most)
	}
	return n, nil
}

// each calls visit for the live chunks of a segment that have the term in the field, from chunk number from on.
func (r *reader) each(s *segmentReader, f field, term []byte, from uint32, visit func(posting) bool) error {
	list, err := s.dicts[f].PostingsList(term, s.deleted, r.list)
	if err != nil {
		return err
	}
	r.list = list
	if list.Count() == 0 {
		return nil
	}
	it := list.Iterator(true, true, false, r.iterator)
	r.iterator = it
	next, err := it.Advance(uint64(from))
	for ; err == nil && next != nil; next, err = it.Next() {
		if !visit(posting{uint32(next.Number()), float32(next.Frequency()), lengthOf(next)}) {
			return nil
		}
	}
	return err
}

// lengthOf recovers the field's length, which bleve keeps and hands out as 1/√length.
func lengthOf(p segment.Posting) float32 {
	if exact, ok := p.(interface{ NormUint64() uint64 }); ok {
		return float32(exact.NormUint64())
	}
	norm := p.Norm()
	return float32(math.Round(1 / (norm * norm)))
}

// lengthCache keeps each segment's field lengths, summed up; segments never change. Deleted chunks stay in the sums
// until the segment is merged, which shifts an average a little.
type lengthCache struct {
	mu   sync.Mutex // guards sums
	sums map[uint64]*fieldLengths
}

type fieldLengths struct {
	chunks, terms [numFields]float64
}

// averages returns the mean length of each field over the chunks that have it.
func (c *lengthCache) averages(snapshot *scorch.IndexSnapshot, r *reader) (avg [numFields]float32, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all fieldLengths
	kept := make(map[uint64]*fieldLengths, len(r.segments))
	for i, s := range snapshot.Segments() {
		sum := c.sums[s.Id()]
		if sum == nil {
			if sum, err = r.sum(&r.segments[i]); err != nil {
				return avg, err
			}
		}
		kept[s.Id()] = sum
		for f := range numFields {
			all.chunks[f] += sum.chunks[f]
			all.terms[f] += sum.terms[f]
		}
	}
	c.sums = kept
	for f := range numFields {
		avg[f] = 1
		if all.chunks[f] > 0 {
			avg[f] = float32(all.terms[f] / all.chunks[f])
		}
	}
	return avg, nil
}

func (r *reader) sum(s *segmentReader) (*fieldLengths, error) {
	sum := new(fieldLengths)
	all := *s
	all.deleted = nil
	for f := range numFields {
		err := r.each(&all, f, []byte(lengthTerm), 0, func(p posting) bool {
			sum.chunks[f]++
			sum.terms[f] += float64(p.length)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func (c *lengthCache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.sums)) * (2*8*int64(numFields) + 48)
}
