package l1

import "time"

// readerRecheck is how soon a reader looks whether the rows that it misses have been written.
const readerRecheck = 30 * time.Second

// observe is Changed of a reader: rows that it does not know of are looked for soon.
func (x *Index) observe(put []string) {
	x.mu.Lock()
	for _, id := range put {
		if !x.has(id) {
			x.compareWithin(readerRecheck)
		}
	}
	x.advanced()
	x.mu.Unlock()
	x.poke()
}

// adoptRead takes over what a comparison found. A reader has all rows, also those of which it has no chunk: it may get one,
// and hits are checked with the source.
func (x *Index) adoptRead(rows []string, missing int) {
	again := x.compareEvery
	if missing > 0 && again > 0 {
		again = min(again, readerRecheck)
	}
	have := make(map[string]struct{}, len(rows))
	for _, id := range rows {
		have[id] = struct{}{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.have = have
	x.wasCompared(again)
}
