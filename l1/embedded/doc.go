// Package embedded is the vector index in the binary: all rows in memory as int8, an append-only file of checksummed records
// on disk. Small indexes are scanned; large ones are first narrowed by sign bits, then ranked by the vectors.
package embedded
