package ipc

import (
	"encoding/json"
	"time"
)

// Status is the daemon's state (API.md, `GET /v1/status`).
type Status struct {
	Version   string          `json:"version"`
	PID       int             `json:"pid"`
	BasePath  string          `json:"basePath"`
	Ready     bool            `json:"ready"`
	StartedAt time.Time       `json:"startedAt"`
	Documents StatusDocuments `json:"documents"`
	Pending   Pending         `json:"pending"`
	Updates   uint64          `json:"updates"` // index updates since start: one save is one
	Watch     StatusWatch     `json:"watch"`
	L1        StatusL1        `json:"l1"`
	Embedding StatusEmbedding `json:"embedding"`
	Memory    StatusMemory    `json:"memory"`
	HTTP      StatusHTTP      `json:"http"`
}

// StatusHTTP is the loopback door.
type StatusHTTP struct {
	On      bool   `json:"on"`
	Address string `json:"address"` // that is listened on; else the configured one, "" where none is
	Reason  string `json:"reason"`  // why it is off; "" while it is on
}

// StatusDocuments counts documents.
type StatusDocuments struct {
	Total    int `json:"total"`
	L0       int `json:"l0"`
	L1       int `json:"l1"` // documents whose every chunk has its vector
	Failed   int `json:"failed"`
	Warnings int `json:"warnings"` // documents with at least one warning
}

// Pending counts what is seen and not yet applied. 0 only if every event seen so far is applied and the first scan is done.
type Pending struct {
	L0 int `json:"l0"`
	L1 int `json:"l1"`
}

// StatusWatch says how changes are noticed.
type StatusWatch struct {
	Mode          string     `json:"mode"` // fsnotify | poll
	Folders       int        `json:"folders"`
	Overflows     int        `json:"overflows"`
	PolledFolders int        `json:"polledFolders"`
	BaseMissing   bool       `json:"baseMissing"`
	LastWalk      *time.Time `json:"lastWalk"` // when the whole folder was last compared; null before the first time
}

// Values of StatusL1.State.
const (
	L1Ready    = "ready"
	L1Building = "building"
	L1Backlog  = "backlog"
	L1Down     = "down"
	L1Off      = "off"
)

// StatusL1 is the state of the semantic index.
type StatusL1 struct {
	Backend   string `json:"backend"` // embedded | milvus | off
	State     string `json:"state"`
	Chunks    int    `json:"chunks"`
	LastError string `json:"lastError"`

	ChunksPerSecond float64 `json:"chunksPerSecond"` // at which the present backlog goes; 0 without one
	EtaSeconds      float64 `json:"etaSeconds"`      // until it is empty at that rate
}

// StatusEmbedding names the model in use.
type StatusEmbedding struct {
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Dimensions int    `json:"dimensions"`
}

// StatusMemory is in bytes. Exact is the exact table and the records' metadata (SPEC 8).
type StatusMemory struct {
	RSSBytes   int64 `json:"rssBytes"`
	ExactBytes int64 `json:"exactBytes"`
	L0Bytes    int64 `json:"l0Bytes"`
	L1Bytes    int64 `json:"l1Bytes"`
}

// HistoryEntry is one lookup that was answered (SPEC 7.2).
type HistoryEntry struct {
	RequestID  string    `json:"requestId"`
	Time       time.Time `json:"time"`
	Query      string    `json:"query"`
	Section    string    `json:"sectionTitle"`
	Found      bool      `json:"found"`
	Confidence string    `json:"confidence"` // "high", "low", or "" without a primary
	Reason     string    `json:"reason"`
	L0Matches  int       `json:"l0Matches"`
	Source     string    `json:"source"` // of the primary, else of the supplement
	TotalMs    float64   `json:"totalMs"`
	L0Ms       float64   `json:"l0Ms"`
	L1Ms       float64   `json:"l1Ms"`
	Degraded   []string  `json:"degraded"`
	Caller     string    `json:"caller"` // see Caller
	Tool       string    `json:"tool"`   // see Tool
}

// MarshalJSON writes lists as lists.
func (h HistoryEntry) MarshalJSON() ([]byte, error) {
	type plain HistoryEntry
	p := plain(h)
	p.Degraded = list(h.Degraded)
	return json.Marshal(p)
}

// HistoryList is the history, newest first.
type HistoryList struct {
	Lookups []HistoryEntry `json:"lookups"`
}

// Stats sums up the history (SPEC 7.2).
type Stats struct {
	Since      *time.Time      `json:"since"` // null: everything that is kept
	Lookups    int             `json:"lookups"`
	Found      int             `json:"found"`
	HitRate    float64         `json:"hitRate"` // found / lookups; 0 without lookups
	Degraded   int             `json:"degraded"`
	Kinds      []StatsKind     `json:"kinds"`
	P50Ms      float64         `json:"p50Ms"`
	P99Ms      float64         `json:"p99Ms"`
	MaxMs      float64         `json:"maxMs"`
	Slow       int             `json:"slow"` // took more than 2 s
	Slowest    []HistoryEntry  `json:"slowest"`
	Unanswered []StatsQuestion `json:"unanswered"` // most asked first

	// What to write next: unanswered queries by likeness, largest group first.
	UnansweredGroups []StatsGroup    `json:"unansweredGroups"`
	NeverFound       StatsNeverFound `json:"neverFound"`
}

// StatsGroup is a set of unanswered queries that are alike.
type StatsGroup struct {
	Count    int       `json:"count"`    // how often any of them was asked
	Queries  int       `json:"queries"`  // different ones
	Examples []string  `json:"examples"` // most asked first; at most 5
	Last     time.Time `json:"last"`
}

// MarshalJSON writes lists as lists.
func (g StatsGroup) MarshalJSON() ([]byte, error) {
	type plain StatsGroup
	p := plain(g)
	p.Examples = list(g.Examples)
	return json.Marshal(p)
}

// MaxNeverFound is how many documents StatsNeverFound names.
const MaxNeverFound = 50

// StatsNeverFound are the documents that no lookup was answered with.
type StatsNeverFound struct {
	Count   int      `json:"count"`
	Sources []string `json:"sources"` // by path; at most 50
}

// MarshalJSON writes lists as lists.
func (n StatsNeverFound) MarshalJSON() ([]byte, error) {
	type plain StatsNeverFound
	p := plain(n)
	p.Sources = list(n.Sources)
	return json.Marshal(p)
}

// StatsKind counts the lookups that ended with one decision reason.
type StatsKind struct {
	Reason  string  `json:"reason"`
	Lookups int     `json:"lookups"`
	Found   int     `json:"found"`
	HitRate float64 `json:"hitRate"`
}

// StatsQuestion is a query that nothing answered.
type StatsQuestion struct {
	Query string    `json:"query"`
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

// MarshalJSON writes lists as lists.
func (s Stats) MarshalJSON() ([]byte, error) {
	type plain Stats
	p := plain(s)
	p.Kinds, p.Slowest, p.Unanswered, p.UnansweredGroups = list(s.Kinds), list(s.Slowest), list(s.Unanswered), list(s.UnansweredGroups)
	return json.Marshal(p)
}
