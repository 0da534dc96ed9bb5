// Package registry remembers what is indexed: a record a document, its chunks, and the lookup history. It is kept in
// memory for reading and in bbolt for restarts.
package registry
