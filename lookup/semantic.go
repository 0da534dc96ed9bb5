package lookup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"knowledged/document"
)

// meaning is what the semantic index said, or why it said nothing.
type meaning struct {
	hits  []document.Hit
	state string // a value of Decision.L1
	err   error
	took  time.Duration
}

// askMeaning starts a semantic search beside whatever the caller does next and returns how to get its result, which waits
// no longer than the timeout counted from the start. A search that comes too late finds its context ended and nobody
// waiting: its goroutine ends by itself.
func (e *Engine) askMeaning(ctx context.Context, query, category string, k int) (wait func() meaning) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, e.cfg.L1Timeout)
	type result struct {
		hits []document.Hit
		err  error
	}
	done := make(chan result, 1) // buffered: the sender never blocks, even abandoned
	go func() {
		var r result
		defer func() { done <- r }()
		defer recovered(&r.err)
		r.hits, r.err = e.deps.Semantic.Search(ctx, query, k, category)
	}()
	return func() meaning {
		defer cancel()
		var r result
		select {
		case r = <-done:
		case <-ctx.Done():
			select { // both may be ready: an answer that is there is used
			case r = <-done:
			default:
				r.err = context.Cause(ctx)
			}
		}
		m := meaning{hits: r.hits, err: r.err, took: time.Since(start)}
		switch {
		case errors.Is(r.err, context.DeadlineExceeded):
			m.state, m.hits = L1Timeout, nil
		case r.err != nil:
			m.state, m.hits = L1Failed, nil
		case len(r.hits) == 0:
			m.state = L1Empty
		default:
			m.state = L1Used
		}
		return m
	}
}

// askText searches full text. A panic inside the index is an error like any other: the other half still answers.
func (e *Engine) askText(ctx context.Context, query string, opt SearchOptions) (t FullText, err error) {
	defer recovered(&err)
	return e.deps.Keyword.Search(ctx, query, opt)
}

// askMatch matches names; see askText for panics.
func (e *Engine) askMatch(query string) (m []document.Match, err error) {
	defer recovered(&err)
	return e.deps.Keyword.Match(query), nil
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
}
