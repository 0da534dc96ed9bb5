// Package eval is the repository's own judged set and its scoring: queries with the documents that answer them, asked of
// the whole daemon in this process. README.md says how the set was made; `make eval` prints the table.
package eval
