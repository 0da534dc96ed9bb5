// Package milvus is the vector store on a Milvus server, for teams: an l1.Store that several daemons share. It is the only
// package that knows the Milvus SDK.
//
// # Collections
//
// The configured name is an alias. Behind it is a collection of one model, named after it; a change of model or dimensions
// fills another one beside it, then moves the alias and drops the old (switch.go). Reads and writes go by the real name,
// since the SDK would use the schema that it remembers of an alias.
//
// # Who owns a row
//
// Rows are keyed by chunk id, a hash of path and content, so that daemons with the same documents have the same rows. What
// each of them wants is written down in a second collection of claims, a row a daemon and chunk. A daemon deletes a row by
// taking back its own claim, and then only if nobody else has one (delete.go). A daemon not seen for claimLife does not
// count.
//
// # Never in the way
//
// Open does not touch the network. What l1.Index.Run does connects, makes and loads the collections, and does so again after
// a failure (session.go). A search uses the connection that there is, or fails at once; a breaker keeps searches from
// waiting for a server that does not answer (breaker.go).
package milvus
