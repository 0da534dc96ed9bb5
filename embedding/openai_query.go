package embedding

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrAway is what EmbedQuery fails with, at once, while the server is known not to answer queries in time.
var ErrAway = errors.New("the embedding server does not answer in time, lookups go on without it")

// EmbedQuery gives the query's vector. A blank query has a zero one. After some queries in a row without an answer it fails
// with ErrAway, so that lookups do not spend their time on a server that hangs; probes find out when it is back.
func (o *OpenAI) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	if strings.TrimSpace(query) == "" {
		return make([]float32, o.Dimensions()), ctx.Err()
	}
	if err := o.Ailment(); err != nil {
		return nil, err
	}
	start := time.Now()
	if until, limited := ctx.Deadline(); limited {
		o.given.Store(int64(until.Sub(start)))
	}
	vector, err := o.embedQuery(ctx, query)
	o.dims.heed(err)
	switch {
	case err == nil:
		o.breaker.Worked()
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errTooSlow): // other failures come at once and cost no time
		o.breaker.Failed(ctx, start, err)
	}
	return vector, err
}

// Ailment is why queries fail at once now, nil if they do not. Asking for it has a probe made if one is due.
func (o *OpenAI) Ailment() error {
	if cause := o.breaker.Check(o.probe); cause != nil {
		return fmt.Errorf("%w: %w", ErrAway, cause)
	}
	return nil
}

func (o *OpenAI) embedQuery(ctx context.Context, query string) ([]float32, error) {
	select {
	case o.queries <- struct{}{}:
		defer func() { <-o.queries }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	vector, err := o.askOne(ctx, &o.query, query)
	if tooLong(err) {
		vector, _, err = o.beginning(ctx, &o.query, query, err)
	}
	return vector, err
}

// shortProbe keeps a lookup that had next to no time left from setting the measure.
const shortProbe = 100 * time.Millisecond

// probe finds out whether a query is answered in the time that lookups give. It waits longer than that: the first answer of a
// server that loads its model is late, and the next may not be.
func (o *OpenAI) probe(ctx context.Context) error {
	limit := o.config.Timeout
	if given := time.Duration(o.given.Load()); given > 0 {
		limit = min(limit, max(given, shortProbe))
	}
	var took time.Duration
	for range 2 {
		start := time.Now()
		if _, err := o.askOne(ctx, &o.query, controlText); errors.Is(err, errTooSlow) || ctx.Err() != nil {
			return err
		}
		if took = time.Since(start); took <= limit {
			return nil
		}
	}
	return fmt.Errorf("%s takes %s for a query; that has to be less than %s, or lookup.l1_timeout more", o.server.url.Redacted(), took.Round(time.Millisecond), limit.Round(time.Millisecond))
}
