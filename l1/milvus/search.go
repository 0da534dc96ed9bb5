package milvus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"knowledged/embedding"
	"knowledged/l1"
)

const (
	searchEf    = 64 // candidates that HNSW keeps; at least as many as are asked for
	maxHits     = pageRows
	probePeriod = 5 * time.Second
	// probeLimit is what a search may take at most for the breaker to close: below the default of lookup.l1_timeout.
	probeLimit = 250 * time.Millisecond
)

// Search uses the connection that there is; it fails at once if there is none, or if the last searches were not answered.
func (s *Store) Search(ctx context.Context, vector []float32, k int, category string) ([]l1.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ses := s.session.Load()
	if ses == nil {
		return nil, fmt.Errorf("%w: not connected to Milvus at %s", l1.ErrAway, s.c.Address)
	}
	if err := embedding.Check(vector, ses.dims); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if k <= 0 {
		return nil, nil
	}
	if cause := s.breaker.Check(s.probeNow); cause != nil {
		return nil, fmt.Errorf("%w: %w", l1.ErrAway, cause)
	}
	start := time.Now()
	hits, err := s.search(ctx, ses, vector, k, category)
	if err == nil {
		s.breaker.Worked()
		return hits, nil
	}
	err = s.c.explain(err)
	s.breaker.Failed(ctx, start, err)
	return nil, err
}

func (s *Store) search(ctx context.Context, ses *session, vector []float32, k int, category string) ([]l1.Hit, error) {
	k = min(k, maxHits)
	params, err := entity.NewIndexHNSWSearchParam(max(searchEf, k))
	if err != nil {
		return nil, err
	}
	expr := ""
	if category != "" {
		expr = fieldCategory + " == " + quote(cut(category, maxCategory))
	}
	results, err := ses.client.Search(ctx, ses.rows, nil, expr, nil, []entity.Vector{entity.FloatVector(vector)}, fieldEmbedding,
		entity.COSINE, k, params, client.WithSearchQueryConsistencyLevel(levels[s.c.Consistency]))
	if err != nil || len(results) == 0 || results[0].ResultCount == 0 { // without hits, Err is set all the same
		return nil, err
	}
	r := results[0]
	if r.Err != nil {
		return nil, r.Err
	}
	ids, ok := r.IDs.(*entity.ColumnVarChar)
	if !ok || ids.Len() != len(r.Scores) {
		return nil, fmt.Errorf("the server gives %d scores for %d ids", len(r.Scores), r.IDs.Len())
	}
	hits := make([]l1.Hit, len(r.Scores))
	for i, score := range r.Scores {
		hits[i] = l1.Hit{ID: ids.Data()[i], Score: float64(score)}
	}
	slices.SortStableFunc(hits, func(a, b l1.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits, nil
}

// probeNow tries a search on the session that there is, for the breaker.
func (s *Store) probeNow(ctx context.Context) error {
	ses := s.session.Load()
	if ses == nil {
		return fmt.Errorf("not connected to Milvus at %s", s.c.Address)
	}
	return s.tryOut(ctx, ses)
}

// tryOut makes a search that finds out whether those of lookups would be answered in time.
func (s *Store) tryOut(ctx context.Context, ses *session) error {
	ctx, cancel := context.WithTimeout(ctx, probePeriod)
	defer cancel()
	vector := make([]float32, ses.dims)
	vector[0] = 1
	start := time.Now()
	if _, err := s.search(ctx, ses, vector, 1, ""); err != nil {
		return s.c.explain(err)
	}
	if took := time.Since(start); took > probeLimit {
		return fmt.Errorf("the server at %s takes %s for a search; lookups go on without it until that is less than %s", s.c.Address, took.Round(time.Millisecond), probeLimit)
	}
	return nil
}

// probe finds out about a new session, whatever the breaker thinks of the one before.
func (s *Store) probe(ctx context.Context, ses *session) {
	err := s.tryOut(ctx, ses)
	if err != nil { // the first search of a collection just loaded is slow
		err = s.tryOut(ctx, ses)
	}
	s.breaker.Settle(err)
}

// Ailment is why searches are not answered although the connection is there.
func (s *Store) Ailment() error {
	if s.session.Load() == nil {
		return nil // then Run knows why
	}
	return s.breaker.Cause()
}
