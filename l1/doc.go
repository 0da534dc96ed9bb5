// Package l1 is the semantic index: text in, hits out. Vectors never leave it. Index keeps a Store in step with the chunks
// that there are, whatever happens to the store or to the embedding provider meanwhile.
//
// The backlog is derived, not queued: what has to be added is every chunk of the Source that the store has not acknowledged,
// and what has to be deleted is every acknowledged row that the Source no longer has. So nothing need be remembered over a
// restart, and a store that comes back empty, or with rows of another time, is put right by the same comparison.
package l1
