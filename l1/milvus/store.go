package milvus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"knowledged/breaker"
)

var errClosed = errors.New("the vector store is closed")

// Store is the rows of one model. It implements l1.Store, l1.Sharer, l1.Retirer and l1.Ailing.
type Store struct {
	c      Config
	writer string
	log    *slog.Logger

	connecting chan struct{} // a slot for who makes the session, or closes
	session    atomic.Pointer[session]
	closed     atomic.Bool
	breaker    *breaker.Breaker // of searches

	mu     sync.Mutex           // guards below
	mine   map[string]struct{}  // chunks claimed and not being deleted; nil until known
	rows   int                  // of a reader: rows at the last listing
	strays map[string]time.Time // rows that nobody claims → when that was first seen; see claims.go
}

// Open makes the store. It does not touch the network; what is wrong with the server shows in the first call that needs it.
func Open(c Config, log *slog.Logger) (*Store, error) {
	if _, ok := levels[c.Consistency]; !ok {
		return nil, fmt.Errorf("open the Milvus store: no consistency level %q", c.Consistency)
	}
	s := &Store{c: c, log: log, connecting: make(chan struct{}, 1), breaker: breaker.New(), strays: make(map[string]time.Time)}
	if c.ReadOnly {
		return s, nil
	}
	var err error
	if s.writer, err = c.writer(); err != nil {
		return nil, fmt.Errorf("open the Milvus store: %w", err)
	}
	return s, nil
}

// IDs lists all rows, of whichever daemon.
func (s *Store) IDs(ctx context.Context) ([]string, error) {
	ses, err := s.need(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	err = ses.scan(ctx, ses.rows, "", []string{fieldID}, entity.ClStrong, func(p page) error {
		ids = slices.Grow(ids, p.rows)
		for i := range p.rows {
			ids = append(ids, p.text(fieldID, i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list rows: %w", s.lost(ctx, ses, err))
	}
	s.mu.Lock()
	s.rows = len(ids)
	s.mu.Unlock()
	return ids, nil
}

// Count is the number of rows that this daemon wants; of a reader, of all rows when last listed.
func (s *Store) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c.ReadOnly {
		return s.rows
	}
	return len(s.mine)
}

// Bytes is the memory that the claims take here; the rows are elsewhere.
func (s *Store) Bytes() int64 {
	const perID = 80 // a string of 32 bytes with its place in a map
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.mine)+len(s.strays)) * perID
}

// Close waits for a probe under way.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.breaker.Close()
	s.connecting <- struct{}{}
	defer func() { <-s.connecting }()
	if ses := s.session.Swap(nil); ses != nil {
		return ses.client.Close()
	}
	return nil
}
