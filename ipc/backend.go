package ipc

import (
	"context"
	"slices"
	"time"

	"knowledged/lookup"
)

// backend is the daemon as the handler sees it. All methods may be called at once from many requests, and return soon after
// ctx ends. The request's id, caller and tool are in ctx: RequestID, Caller, Tool.
type backend interface {
	// Lookup answers a lookup. Bad input is a *lookup.InputError.
	Lookup(ctx context.Context, req lookup.Request) (*lookup.Answer, error)
	// Ready says whether the first scan is done and L0 serves.
	Ready() bool
	Status(ctx context.Context) (Status, error)

	reader
	writer
	journal
}

// reader is what can be read of documents. A document that is not there is ErrNotFound.
type reader interface {
	Documents(ctx context.Context, q DocumentsQuery) (DocumentList, error)
	Document(ctx context.Context, docID string) (Record, error)
	// BySource finds a document by its source, or by its path below the base folder.
	BySource(ctx context.Context, source string) (Record, error)
	Content(ctx context.Context, docID string, q ContentQuery) (Content, error)
	Chunks(ctx context.Context, docID string) ([]Chunk, error)
}

// writer is what changes documents.
type writer interface {
	// Put writes a file and indexes it; created says that there was none at this place. Errors: *ExistsError (the same
	// bytes elsewhere), *StaleError (IfMatch, IfNoneMatch), *InvalidError (ignore rules, symlinks), ErrReadOnly, ErrNoSpace, ErrStateFull.
	Put(ctx context.Context, req PutRequest) (rec Record, created bool, err error)
	// Delete removes file, record, L0 entry and vectors; done is false if the vectors could not be reached and are left to
	// the backlog. Errors: ErrNotFound, *StaleError, ErrReadOnly.
	Delete(ctx context.Context, docID string, ifMatch Match) (done bool, err error)
	Reindex(ctx context.Context, docID string) (Job, error)
	// Reconcile compares folder, registry and vectors and repairs; with dryRun it only counts.
	Reconcile(ctx context.Context, dryRun bool) (Job, error)
}

// journal is what has happened and what is happening.
type journal interface {
	// Lookups is the history, newest first. A zero since means all that is kept; limit is at least 1.
	Lookups(ctx context.Context, since time.Time, limit int) ([]HistoryEntry, error)
	Stats(ctx context.Context, since time.Time) (Stats, error)
	// Subscribe gives events from now on. The channel is closed when ctx ends; Hub does all of this.
	Subscribe(ctx context.Context) <-chan Event
}

// DocumentsQuery filters and pages documents; a zero field does not filter. Records come in an order that does not depend
// on the page size (by path).
type DocumentsQuery struct {
	Category string
	Status   string // a Status… constant
	Layer    string // "l0" or "l1"
	Q        string // part of title, source, keyword or alias; case-blind
	Warnings bool   // only documents with warnings
	Limit    int    // 1…MaxPage, always set
	Cursor   string // NextCursor of the page before; one that cannot be read is an *InvalidError
}

// ContentQuery says how much of a document to read.
type ContentQuery struct {
	MaxChars int    // characters, at least 1
	Section  string // title; empty: the whole document
}

// PutRequest is an upload. Category and FileName have passed CheckName: no segment leaves the base folder by its name.
// What only the folder itself can tell (symlinks, ignore rules) is the backend's part.
type PutRequest struct {
	Category    string // slash path below the base; empty: the base folder itself
	FileName    string
	Body        []byte // owned by the backend from now on; at most Config.MaxFileSize
	Force       bool   // write even if the same bytes are indexed elsewhere
	IfMatch     Match
	IfNoneMatch Match
	WaitL1      bool // answer when vectors are in too
}

// Match is the value of If-Match or If-None-Match: file hashes, or any.
type Match struct {
	Given  bool // the header was sent
	Any    bool // "*"
	Hashes []string
}

// Has says whether the header names hash. An empty hash is a document that does not exist, which nothing names.
func (m Match) Has(hash string) bool {
	return hash != "" && (m.Any || slices.Contains(m.Hashes, hash))
}

// CheckMatch compares both headers with the document's current hash (empty: there is none) and returns a *StaleError if
// the writer has not seen what it is about to overwrite.
func CheckMatch(ifMatch, ifNoneMatch Match, hash string) error {
	switch {
	case ifMatch.Given && !ifMatch.Has(hash):
		return &StaleError{Hash: hash}
	case ifNoneMatch.Given && ifNoneMatch.Has(hash):
		return &StaleError{Hash: hash, Exists: true}
	}
	return nil
}
