package l0

import "knowledged/document"

// Put is a document to index. Chunks are all it has: those already in the full text are left alone.
type Put struct {
	Path    string
	Names   Names
	InTable bool // belongs in the exact table (SPEC 1.3)
	Chunks  []document.Chunk
}
