package l1

import (
	"context"
	"errors"
	"fmt"
	"time"

	"knowledged/document"
	"knowledged/embedding"
)

// Rows whose chunk is gone are dropped from what the store finds: what was deleted is never returned. If too few are left, more are asked for, this
// many times as many, in so many rounds at most: enough for a large folder deleted while the store is away.
const (
	widen  = 4
	rounds = 4
)

// Search gives the k chunks nearest to the query, best first; of one category unless that is empty. It gives none for a
// query of which the model knows nothing. It ends with ctx, which provider and store heed.
func (x *Index) Search(ctx context.Context, query string, k int, category string) ([]document.Hit, error) {
	if k <= 0 {
		return nil, nil
	}
	vector, err := x.provider.EmbedQuery(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	if embedding.IsZero(vector) {
		return nil, nil
	}
	if err := embedding.Check(vector, x.provider.Dimensions()); err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	ask := k + k/4 + 8
	for round := 1; ; round++ {
		found, err := x.store.Search(ctx, vector, ask, category)
		if err != nil {
			x.suspect(err)
			return nil, fmt.Errorf("search vectors: %w", err)
		}
		hits := x.present(found, k)
		if len(hits) == k || len(found) < ask || round == rounds {
			return hits, nil
		}
		ask *= widen
	}
}

// present gives the first k hits whose chunks there still are.
func (x *Index) present(found []Hit, k int) []document.Hit {
	hits := make([]document.Hit, 0, k)
	for i, there := range x.there(found) {
		if there && len(hits) < k {
			hits = append(hits, document.Hit{ChunkID: found[i].ID, Score: found[i].Score})
		}
	}
	return hits
}

// there reports for each hit whether the source has its chunk. Rows that are acknowledged and not pending are the source's;
// the source itself is asked, which is slower, as long as Run has not compared the two, and by a reader.
func (x *Index) there(found []Hit) []bool {
	there := make([]bool, len(found))
	x.mu.Lock()
	compared := x.compared
	for i, h := range found {
		there[i] = x.found(h.ID)
	}
	x.mu.Unlock()
	if !compared || x.readOnly {
		for i, h := range found {
			_, _, there[i] = x.source.Chunk(h.ID)
		}
	}
	return there
}

const (
	// suspectPause keeps a run of failing searches from making a comparison each.
	suspectPause = 5 * time.Second
	// awayPause is the same for a store that is known to be away: it may answer all but searches.
	awayPause = time.Minute
)

// suspect has Run look at a store whose search failed: it may be away, or have come back without its rows.
func (x *Index) suspect(err error) {
	if errors.Is(err, context.Canceled) {
		return // nobody waits for the answer any more
	}
	pause := suspectPause
	if errors.Is(err, ErrAway) {
		pause = awayPause
	}
	x.mu.Lock()
	sooner := x.compareWithin(pause - time.Since(x.lastCompare))
	x.mu.Unlock()
	if sooner {
		x.poke()
	}
}
