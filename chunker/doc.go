// Package chunker cuts a document into chunks with breadcrumbs. It is pure: the same document gives the same chunks.
package chunker
