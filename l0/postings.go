package l0

import (
	"maps"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// segmentReader reads the postings of one segment during one query. Dictionaries must not outlive the snapshot.
type segmentReader struct {
	id      uint64
	seg     segment.Segment
	deleted *roaring.Bitmap
	base    uint32 // number of the segment's first chunk among those of all segments
	dicts   [numFields]segment.TermDictionary
}

// posting is a chunk that has the term in the field.
type posting struct {
	chunk  uint32 // within the segment
	freq   uint16
	length uint16 // terms in the chunk's field
}

// postings are those of one term in one segment, field after field; those of field f end at ends[f]. Deleted chunks are
// among them, so that they stay true for the segment's life.
type postings struct {
	list []posting
	ends [numFields]int32
}

func (p *postings) of(f field) []posting {
	if f == 0 {
		return p.list[:p.ends[0]]
	}
	return p.list[p.ends[f-1]:p.ends[f]]
}

// reader reads postings; it keeps buffers from one list to the next.
type reader struct {
	cache    *postingsCache
	segments []segmentReader
	list     segment.PostingsList
	iterator segment.PostingsIterator
}

func (r *reader) open(snapshot *scorch.IndexSnapshot) (size, live int, err error) {
	r.segments = r.segments[:0]
	for _, s := range snapshot.Segments() {
		sr := segmentReader{id: s.Id(), seg: s.Segment(), deleted: s.Deleted(), base: uint32(size)}
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

// count returns the number of live chunks with the term, or nearly: of the fields of head chunks only the one with most
// is counted.
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

// postings returns the term's postings in the segment, from the cache or from bleve.
func (r *reader) postings(s *segmentReader, term queryTerm) (*postings, error) {
	key := postingsKey{s.id, term.text, term.role == lone}
	if p := r.cache.get(key); p != nil {
		return p, nil
	}
	p := new(postings)
	for f := range numFields {
		var err error
		if add := func(next posting) { p.list = append(p.list, next) }; term.role == lone && fieldModes[f] == forBody {
			err = r.lone(s, f, term.text, add)
		} else {
			err = r.each(s, f, term.text, add)
		}
		if err != nil {
			return nil, err
		}
		p.ends[f] = int32(len(p.list))
	}
	p.list = slices.Clip(p.list)
	r.cache.put(key, p)
	return p, nil
}

// each calls visit for all chunks of a segment that have the term in the field, deleted ones too.
func (r *reader) each(s *segmentReader, f field, term string, visit func(posting)) error {
	list, err := s.dicts[f].PostingsList([]byte(term), nil, r.list)
	if err != nil {
		return err
	}
	r.list = list
	if list.Count() == 0 {
		return nil
	}
	r.iterator = list.Iterator(true, true, false, r.iterator)
	next, err := r.iterator.Next()
	for ; err == nil && next != nil; next, err = r.iterator.Next() {
		visit(posting{
			chunk:  uint32(next.Number()),
			freq:   uint16(min(next.Frequency(), math.MaxUint16)),
			length: uint16(min(lengthOf(next), math.MaxUint16)),
		})
	}
	return err
}

// lone calls visit for the chunks that have the single character anywhere in the field: all terms that begin with it
// count as one.
func (r *reader) lone(s *segmentReader, f field, char string, visit func(posting)) error {
	end := append([]byte(char[:len(char)-1]), char[len(char)-1]+1) // UTF-8 never ends in 0xff
	terms := s.dicts[f].AutomatonIterator(nil, []byte(char), end)
	found := map[uint32]posting{}
	next, err := terms.Next()
	for ; err == nil && next != nil; next, err = terms.Next() {
		err := r.each(s, f, next.Term, func(p posting) {
			p.freq += found[p.chunk].freq
			found[p.chunk] = p
		})
		if err != nil {
			return err
		}
	}
	for _, chunk := range slices.Sorted(maps.Keys(found)) {
		visit(found[chunk])
	}
	return err
}

// lengthOf recovers the field's length, which bleve keeps and hands out as 1/√length.
func lengthOf(p segment.Posting) uint64 {
	if exact, ok := p.(interface{ NormUint64() uint64 }); ok {
		return exact.NormUint64()
	}
	norm := p.Norm()
	return uint64(math.Round(1 / (norm * norm)))
}
