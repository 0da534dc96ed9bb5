// Package l0 is the keyword index: an exact table of names and a full-text index of chunks.
//
// The exact table (table.go, match.go) answers which documents a query names; it lives in memory and is filled from the
// registry at start. The full text (write.go, search.go) ranks chunks by BM25; bleve's scorch keeps its postings on disk,
// the analysis (analyzer.go) and the scoring (rank.go) are ours. Both see text through the same normalisation (text.go),
// so that what matches exactly is also found by its words.
package l0
