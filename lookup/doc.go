// Package lookup is the policy of an answer: match, decide, fan out, fuse, assemble. It asks two indexes (keywords and
// meaning) through the small interfaces it declares, decides how sure the answer may be, and puts together what an agent
// or a person reads. It knows nothing of bleve, vectors, sockets or the registry's format.
package lookup
