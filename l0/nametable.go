package l0

import "knowledged/document"

// NameTable is the exact table by itself, in memory: for tools that judge a folder's names without an index on disk.
type NameTable struct{ table *table }

// NewNameTable makes a table of the names of these documents; what is not InTable is left out.
func NewNameTable(put []Put) *NameTable {
	t := newTable()
	t.update(put, nil)
	return &NameTable{t}
}

// Match is Index.Match.
func (n *NameTable) Match(query string) []document.Match { return n.table.match(query) }
