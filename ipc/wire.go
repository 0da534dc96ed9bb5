package ipc

import (
	"encoding/json"
	"time"

	"knowledged/document"
)

// Values of Record.Status (SPEC 1.5).
const (
	StatusPending  = "PENDING"
	StatusIndexing = "INDEXING" // searchable in L0, vectors still to come
	StatusIndexed  = "INDEXED"
	StatusFailed   = "FAILED" // ErrorMessage says why
)

// Record is one document as the registry knows it.
type Record struct {
	DocID    string `json:"docId"`
	Source   string `json:"source"` // base folder's name and the slash path below it
	FileName string `json:"fileName"`
	FilePath string `json:"filePath"` // absolute
	FileHash string `json:"fileHash"` // SHA-256 in hex; the ETag
	FileSize int64  `json:"fileSize"` // bytes

	Title          string          `json:"title"`
	Summary        string          `json:"summary"`
	Category       string          `json:"category"`
	Keywords       []string        `json:"keywords"`
	Aliases        []string        `json:"aliases"`
	Metadata       json.RawMessage `json:"metadata"` // the front matter as a JSON object, or null
	HasFrontmatter bool            `json:"hasFrontmatter"`

	Status       string             `json:"status"`
	ErrorMessage string             `json:"errorMessage"`
	InL0         bool               `json:"inL0"`
	InL1         bool               `json:"inL1"` // every chunk has its vector
	ChunkCount   int                `json:"chunkCount"`
	Warnings     []document.Warning `json:"warnings"`

	IndexedAt *time.Time `json:"indexedAt"` // null until indexed once
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"`
}

// MarshalJSON writes lists as lists: an empty one is [], never null.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record // without this method
	p := plain(r)
	p.Keywords, p.Aliases, p.Warnings = list(r.Keywords), list(r.Aliases), list(r.Warnings)
	return json.Marshal(p)
}

// DocumentList is a page of records. NextCursor is empty on the last page.
type DocumentList struct {
	Documents  []Record `json:"documents"`
	NextCursor string   `json:"nextCursor"`
}

// Content is a document's text as read from its file now.
type Content struct {
	DocID             string   `json:"docId"`
	Source            string   `json:"source"`
	FileHash          string   `json:"fileHash"` // of the bytes that Content was cut from
	Content           string   `json:"content"`
	Truncated         bool     `json:"truncated"`
	Section           *string  `json:"section"` // null unless a section was asked for and found
	AvailableSections []string `json:"availableSections"`
	Hint              string   `json:"hint,omitempty"` // the nearest titles, where the section asked for does not exist
}

// Chunk is a passage as both indexes hold it.
type Chunk struct {
	ID          string `json:"id"`
	Text        string `json:"text"`
	Title       string `json:"title"`
	Breadcrumb  string `json:"breadcrumb"`
	ChunkIndex  int    `json:"chunkIndex"`
	TotalChunks int    `json:"totalChunks"`
	Synced      bool   `json:"synced"` // its vector is in L1
}

// ChunkList is every chunk of one document, in order.
type ChunkList struct {
	Chunks []Chunk `json:"chunks"`
}

// Job sums up a reindex or a reconcile. With DryRun the numbers say what would have been done.
type Job struct {
	RequestID string       `json:"requestId"`
	DryRun    bool         `json:"dryRun"`
	Documents JobDocuments `json:"documents"`
	Vectors   JobVectors   `json:"vectors"`
	TookMs    float64      `json:"tookMs"`
	Problems  []string     `json:"problems"` // what could not be mended, in words
}

// JobDocuments counts what a job did to documents.
type JobDocuments struct {
	Checked int `json:"checked"`
	Created int `json:"created"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
	Failed  int `json:"failed"`
}

// JobVectors counts what a job did to vectors.
type JobVectors struct {
	Checked int `json:"checked"`
	Missing int `json:"missing"` // chunks without a vector, now embedded or in the backlog
	Orphans int `json:"orphans"` // vectors without a chunk, now deleted or in the backlog
}

// MarshalJSON writes lists as lists.
func (j Job) MarshalJSON() ([]byte, error) {
	type plain Job
	p := plain(j)
	p.Problems = list(j.Problems)
	return json.Marshal(p)
}

// Deleted is the answer 202 to a DELETE whose vectors could not be reached: the document is gone from every answer, its
// vectors go when the store is back.
type Deleted struct {
	DocID   string `json:"docId"`
	Pending string `json:"pending"` // "l1"
}

// list makes nil an empty list.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
