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

// NamesIn is the one half of Match: the documents of which the query contains a name.
func (n *NameTable) NamesIn(query string) []document.Match {
	q := texts.Get().(*text)
	defer texts.Put(q)
	q.set(query)
	n.table.mu.RLock()
	defer n.table.mu.RUnlock()
	var f found
	n.table.namesIn(q, &f)
	return n.table.answer(&f)
}
