package l1

import (
	"context"
	"errors"
)

// Row is a chunk's vector with what a vector database shows beside it (SPEC 3.3). Rows are told apart by ID alone.
type Row struct {
	ID     string    // the chunk's id; any text
	Vector []float32 // L2-normalised

	Source      string // `_source`
	FileName    string // `_file_name`
	Category    string
	Title       string
	Breadcrumb  string
	Text        string
	ChunkIndex  int
	TotalChunks int
}

// Hit is a row found.
type Hit struct {
	ID    string
	Score float64 // cosine
}

// Store keeps rows and finds the nearest. It is safe for concurrent use, and every call ends soon after its ctx does.
// l1test.TestStore is this contract as a test.
type Store interface {
	// Upsert adds rows and replaces those of the same id. A vector of another length, all zero, or with NaN or infinity in
	// it is refused with the whole batch. Once it returns nil the rows survive the death of the process and are found, by a
	// remote store within seconds.
	Upsert(ctx context.Context, rows []Row) error
	// Delete removes rows; unknown ids are none of its concern.
	Delete(ctx context.Context, ids []string) error
	// Search gives the k nearest rows, best first, equal ones by id; of one category unless that is empty.
	Search(ctx context.Context, vector []float32, k int, category string) ([]Hit, error)
	// IDs lists all rows, in no order.
	IDs(ctx context.Context) ([]string, error)
	// Count is the number of rows; of a remote store, the last number known.
	Count() int
	// Bytes is the memory that it takes in this process.
	Bytes() int64
	Close() error
}

// ErrAway is what Search fails with, at once, while a remote store is known not to answer. It is no news: whoever found that
// out first has had it looked at.
var ErrAway = errors.New("the vector store is away")

// Retirer is a Store that keeps what earlier models left, until it is told that its own rows are complete.
type Retirer interface {
	Retire(ctx context.Context) error
}

// Sharer is a Store whose rows several daemons may want, each for its own copy of the documents. A row that one of them
// deletes stays for as long as another wants it.
type Sharer interface {
	// Survey lists what there is. With claim it says first that this daemon wants these rows, as Upsert does for those it
	// puts, so that nobody deletes them any more; Delete takes that back.
	Survey(ctx context.Context, want map[string]struct{}, claim bool) (Survey, error)
}

// Survey is what a shared store holds.
type Survey struct {
	Rows []string // all rows, of whichever daemon
	// Left is what this daemon has to delete: what it wanted once, what a deletion left half done, and rows that nobody
	// wants any more.
	Left []string
}

// Ailing is a Store, or a provider, that can say that it does not serve searches although its writes work; nil if all is well.
type Ailing interface{ Ailment() error }
