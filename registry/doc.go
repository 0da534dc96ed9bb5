// Package registry remembers what is indexed: a record a document, its chunks, and the lookup history. Records are kept
// in memory for reading and in bbolt for restarts; the text of chunks is on disk only.
//
// Layout of registry.db, format 1. The names make a walk in key order meet the format first and the records before the
// texts they are checked against:
//
//	format    "version" → decimal number
//	records   path → checksum, record (codec.go)
//	texts     path → the document's chunks, each with its own checksum (chunkcodec.go)
//
// bbolt checks its two meta pages and trusts all others: a page that points at itself sends it in circles, one that
// points beyond the file ends the process. So a file is walked page by page (pages.go) before bbolt may follow it, and
// one that is broken is set aside.
package registry
