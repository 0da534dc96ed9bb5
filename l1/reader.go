package l1

import "time"

// readerRecheck is how soon a reader looks whether the rows that it misses have been written.
const readerRecheck = 30 * time.Second

// observe is Changed of a reader: what is gone is not found any more, and what has come is looked for soon.
func (x *Index) observe(put, gone []string) {
	x.mu.Lock()
	x.generation++
	for _, id := range gone {
		delete(x.have, id)
		x.gone[id] = x.generation
	}
	if len(put) > 0 {
		x.compareWithin(readerRecheck)
	}
	x.advanced()
	x.mu.Unlock()
	x.poke()
}

// adoptRead takes over what a comparison found: the rows that there are of the chunks that there are. A chunk that went
// meanwhile stays gone.
func (x *Index) adoptRead(have map[string]struct{}, missing int, before uint64) {
	again := x.compareEvery
	if missing > 0 && again > 0 {
		again = min(again, readerRecheck)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, generation := range x.gone {
		if generation > before {
			delete(have, id)
		}
	}
	clear(x.gone)
	x.have = have
	x.wasCompared(again)
}
