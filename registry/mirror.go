package registry

import (
	"slices"
	"unsafe"
)

// The mirror is the in-memory side: maps over immutable records. Callers hold r.mu for writing.

func (r *Registry) reset() {
	r.byPath, r.byID, r.byHash = map[string]*Record{}, map[string]*Record{}, map[string]*Record{}
	r.twins, r.owners = map[string][]*Record{}, map[uint64]owner{}
	r.pending = map[string]pending{}
	r.slots, r.free, r.sorted, r.bytes = nil, nil, nil, 0
}

// put stores a record under its path; an earlier one of that path goes.
func (r *Registry) put(rec *Record) {
	if old := r.byPath[rec.Path]; old != nil {
		r.remove(old)
	}
	if n := len(r.free); n > 0 {
		rec.slot, r.free = r.free[n-1], r.free[:n-1]
		r.slots[rec.slot] = rec
	} else {
		rec.slot = uint32(len(r.slots))
		r.slots = append(r.slots, rec)
	}
	r.byPath[rec.Path], r.byID[rec.DocID] = rec, rec
	if first := r.byHash[rec.FileHash]; rec.FileHash == "" {
		// Unread and failed files are no one's twins.
	} else if first == nil {
		r.byHash[rec.FileHash] = rec
	} else {
		if r.twins[rec.FileHash] == nil {
			r.twins[rec.FileHash] = []*Record{first}
		}
		r.twins[rec.FileHash] = append(r.twins[rec.FileHash], rec)
	}
	for i := range rec.ChunkCount() {
		r.owners[rec.chunkKey(i).half()] = owner{rec.slot, uint32(i)}
	}
	r.sorted = nil
	r.bytes += rec.size()
}

// remove forgets a stored record. What another record has taken over meanwhile (a docId after a move) stays.
func (r *Registry) remove(old *Record) {
	for i := range old.ChunkCount() {
		if key := old.chunkKey(i).half(); r.owners[key].slot == old.slot {
			delete(r.owners, key)
		}
	}
	r.slots[old.slot] = nil
	r.free = append(r.free, old.slot)
	delete(r.byPath, old.Path)
	if r.byID[old.DocID] == old {
		delete(r.byID, old.DocID)
	}
	r.removeHash(old)
	r.sorted = nil
	r.bytes -= old.size()
}

func (r *Registry) removeHash(old *Record) {
	all := r.twins[old.FileHash]
	if all == nil {
		if r.byHash[old.FileHash] == old {
			delete(r.byHash, old.FileHash)
		}
		return
	}
	// Readers hold clones, so the slice may change in place.
	all = slices.DeleteFunc(all, func(rec *Record) bool { return rec == old })
	r.byHash[old.FileHash] = all[0]
	if len(all) > 1 {
		r.twins[old.FileHash] = all
	} else {
		delete(r.twins, old.FileHash)
	}
}

// Bytes of a map entry, at the average load of Go's maps (about two thirds).
const (
	pathMapEntry  = 38 // 16-byte string, 8-byte pointer, 1 control byte; three such maps
	ownerMapEntry = 26 // 8-byte key, 8-byte owner, 1 control byte
)

// size estimates what a record takes in memory with its entries in the maps.
func (r *Record) size() int64 {
	n := int(unsafe.Sizeof(*r)) + len(r.DocID) + len(r.Path) + len(r.FileHash) + len(r.Error) + len(r.Title) + len(r.Summary) + len(r.Category)
	n += len(r.chunkIDs) + len(r.Metadata) + 200 // lengths and numbers beside the strings, and what the allocator rounds up
	for _, list := range [][]string{r.Keywords, r.Aliases, r.Sections} {
		for _, s := range list {
			n += 16 + len(s)
		}
	}
	for _, w := range r.Warnings {
		n += 24 + len(w.Message)
	}
	for _, s := range r.SectionNames {
		n += 40 + len(s.Name) + len(s.Heading)
	}
	return int64(n + 3*pathMapEntry + 8 + r.ChunkCount()*ownerMapEntry)
}

// Bytes estimates the memory records and ids take.
func (r *Registry) Bytes() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.bytes
}
