// Package l1 is the semantic index: text in, hits out. Vectors never leave it.
package l1
