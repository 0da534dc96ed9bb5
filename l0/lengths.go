package l0

import (
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

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
	for f := range numFields {
		err := r.each(s, f, lengthTerm, func(p posting) {
			sum.chunks[f]++
			sum.terms[f] += float64(p.length)
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
