package registry

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	bucketLookups = "lookups" // sequence number → checksum, JSON of the lookup

	historySize   = 10_000
	historyQuery  = 1000 // characters of a query that are kept
	flushInterval = time.Second
)

// Lookup is one answered lookup as the history keeps it.
type Lookup struct {
	RequestID  string    `json:"requestId"`
	Query      string    `json:"query"`
	Section    string    `json:"section,omitempty"`
	Reason     string    `json:"reason"`
	Confidence string    `json:"confidence"`
	Found      bool      `json:"found"`
	L0Matches  int       `json:"l0Matches"`
	Source     string    `json:"source"` // of the document answered with
	TotalMs    float64   `json:"totalMs"`
	L0Ms       float64   `json:"l0Ms"`
	L1Ms       float64   `json:"l1Ms"`
	Degraded   []string  `json:"degraded,omitempty"`
	Caller     string    `json:"caller,omitempty"`
	Tool       string    `json:"tool,omitempty"`
	Time       time.Time `json:"time"`
}

// History keeps the last 10,000 lookups in a file of its own, so that lookups never wait for the registry's disk. It is
// not worth much more than that: what can't be written in time is dropped, oldest first.
type History struct {
	log     *slog.Logger
	size    int
	flushMu sync.Mutex // one flush at a time; taken before mu

	mu     sync.Mutex // guards below
	store  *store
	next   uint64           // sequence number of the next lookup
	recent []numberedLookup // not on disk yet, ascending
	failed bool             // the last flush failed: said once
	closed bool
}

type numberedLookup struct {
	seq uint64
	Lookup
}

// OpenHistory opens <dir>/history.db, making it if need be. A broken file is set aside.
func OpenHistory(dir string, log *slog.Logger) (*History, error) {
	h := &History{log: log, size: historySize}
	file := filepath.Join(dir, "history.db")
	st, err := openStore(storeConfig{
		file: file, buckets: []string{bucketLookups},
		reset: func() { h.next = 1 },
		visit: func(bucket string, key, value []byte) error {
			if bucket == bucketLookups && whole(key, value) {
				h.next = binary.BigEndian.Uint64(key) + 1
			}
			return nil
		},
		lost: "the lookup history starts anew",
	}, log)
	if err != nil {
		return nil, fmt.Errorf("open lookup history %s: %w", file, err)
	}
	h.store = st
	return h, nil
}

// Add notes a lookup. It never waits for the disk.
func (h *History) Add(l Lookup) {
	if l.Time.IsZero() {
		l.Time = time.Now()
	}
	l.Query = firstRunes(l.Query, historyQuery)
	l.Section = firstRunes(l.Section, historyQuery)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.recent = append(h.recent, numberedLookup{h.next, l})
	h.next++
	if over := len(h.recent) - h.size; over > 0 {
		h.recent = h.recent[over:]
	}
}

// Run writes new lookups to disk each second, and once more when ctx ends.
func (h *History) Run(ctx context.Context) error {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			h.flushLogged()
			return nil
		case <-tick.C:
			h.flushLogged()
		}
	}
}

// flushLogged says once that the history can't be written, and once that it can again.
func (h *History) flushLogged() {
	err := h.flush()
	h.mu.Lock()
	before := h.failed
	h.failed = err != nil
	h.mu.Unlock()
	if err != nil && !before {
		h.log.Warn("lookup history is not written for now", "err", err)
	} else if err == nil && before {
		h.log.Info("lookup history is written again")
	}
}

func (h *History) flush() error {
	h.flushMu.Lock()
	defer h.flushMu.Unlock()
	h.mu.Lock()
	batch, closed := h.recent, h.closed
	h.mu.Unlock()
	if len(batch) == 0 || closed {
		return nil
	}
	err := h.store.update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketLookups))
		b.FillPercent = 1 // keys only grow
		for _, l := range batch {
			key := binary.BigEndian.AppendUint64(nil, l.seq)
			value, err := encodeLookup(key, l.Lookup)
			if err != nil {
				return err
			}
			if err := b.Put(key, value); err != nil {
				return err
			}
		}
		last := batch[len(batch)-1].seq
		c := b.Cursor()
		for k, _ := c.First(); len(k) == 8 && binary.BigEndian.Uint64(k)+uint64(h.size) <= last; k, _ = c.First() {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write lookup history %s: %w", h.store.file, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	last := batch[len(batch)-1].seq
	for len(h.recent) > 0 && h.recent[0].seq <= last {
		h.recent = h.recent[1:]
	}
	if len(h.recent) == 0 {
		h.recent = nil
	}
	return nil
}

// List returns the lookups since a time (the zero time: all), newest first; limit ≤ 0 is no limit.
func (h *History) List(since time.Time, limit int) []Lookup {
	list := []Lookup{}
	h.newestFirst(func(l Lookup) bool {
		if l.Time.Before(since) {
			return false
		}
		list = append(list, l)
		return limit <= 0 || len(list) < limit
	})
	return list
}

// newestFirst calls yield until it returns false. A lookup is seen once, though a flush may run meanwhile.
func (h *History) newestFirst(yield func(Lookup) bool) {
	h.flushMu.Lock() // Close waits for this; so the file stays open
	defer h.flushMu.Unlock()
	h.mu.Lock()
	recent, closed := h.recent, h.closed
	h.mu.Unlock()
	if closed {
		return
	}
	left := h.size // what is not on disk yet pushes the oldest out
	for i := len(recent) - 1; i >= 0; i-- {
		if left--; !yield(recent[i].Lookup) {
			return
		}
	}
	err := h.store.each(bucketLookups, func(key, value []byte) bool {
		if left--; left < 0 {
			return false
		}
		l, err := decodeLookup(key, value)
		return err != nil || yield(l)
	})
	if err != nil {
		h.log.Warn("lookup history can't be read", "path", h.store.file, "err", err)
	}
}

// Close writes what is left and releases the file. Add does nothing from then on.
func (h *History) Close() error {
	err := h.flush()
	h.flushMu.Lock()
	defer h.flushMu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed, h.recent = true, nil
	return errors.Join(err, h.store.close())
}

// encodeLookup puts a checksum over key and body in front of the body.
func encodeLookup(key []byte, l Lookup) ([]byte, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(nil, checksum(key, body)), body...), nil
}

func whole(key, value []byte) bool {
	return len(key) == 8 && len(value) >= 4 && binary.LittleEndian.Uint32(value) == checksum(key, value[4:])
}

func decodeLookup(key, value []byte) (l Lookup, err error) {
	if !whole(key, value) {
		return l, errDamaged
	}
	return l, json.Unmarshal(value[4:], &l)
}

func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
