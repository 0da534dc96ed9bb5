// Package embedding turns text into vectors: the built-in static model, a deterministic provider for tests, and a cache on
// disk for providers that are slow or cost money. Vectors are L2-normalised, so a dot product is a cosine.
package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Passage is a piece of a document to embed: its text and the headings above it.
type Passage struct{ Breadcrumb, Text string }

// Provider makes vectors. Every call ends soon after ctx does. A query of which the model knows nothing gives a zero vector
// and no error: nothing is similar to it. A passage never does; that is an error of that passage.
type Provider interface {
	Name() string // the model's id; part of file names and cursors, so that another model never meets its vectors
	Dimensions() int
	EmbedQuery(ctx context.Context, query string) ([]float32, error)
	// EmbedPassages gives a vector a passage, in order. With an error, the vectors that are not nil are valid; a *PassageErrors
	// says what is the matter with each of the others, another error that the provider failed before it came to them.
	EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error)
}

// ErrNothingKnown says that the model knows no part of a passage, so that trying again is of no use.
var ErrNothingKnown = errors.New("no part of the text is known to the model")

// PassageErrors says which passages of a batch failed, by position, where the others did not.
type PassageErrors struct{ Errs map[int]error }

func (e *PassageErrors) Error() string {
	first := -1
	for i := range e.Errs {
		if first < 0 || i < first {
			first = i
		}
	}
	return fmt.Sprintf("%d passages not embedded, the first is number %d: %v", len(e.Errs), first, e.Errs[first])
}

// Add notes that passage i failed.
func (e *PassageErrors) Add(i int, err error) {
	if e.Errs == nil {
		e.Errs = make(map[int]error)
	}
	e.Errs[i] = err
}

// OrNil is e as an error value, nil where no passage failed.
func (e *PassageErrors) OrNil() error {
	if len(e.Errs) == 0 {
		return nil
	}
	return e
}

// RetryError is a refusal that says when to ask again, as HTTP's Retry-After does.
type RetryError struct {
	After time.Duration
	Err   error
}

func (e *RetryError) Error() string { return fmt.Sprintf("%v (retry after %s)", e.Err, e.After) }
func (e *RetryError) Unwrap() error { return e.Err }

// RetryAfter is how long to wait at least.
func (e *RetryError) RetryAfter() time.Duration { return e.After }

// Check refuses what must never be stored: a vector of another length, with NaN or infinity in it, or all zero.
func Check(vector []float32, dims int) error {
	if len(vector) != dims {
		return fmt.Errorf("vector has %d dimensions, not %d", len(vector), dims)
	}
	var sum float64
	for i, v := range vector {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("vector holds %v at position %d", v, i)
		}
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return errors.New("vector is all zero")
	}
	return nil
}

// IsZero reports whether a query's vector says that nothing of it is known.
func IsZero(vector []float32) bool {
	return !slices.ContainsFunc(vector, func(v float32) bool { return v != 0 })
}

// Normalize scales v to length 1 in place; a zero vector stays as it is. It reports whether v has a length.
func Normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}

// breadcrumbWeight is how much of a passage's vector is its breadcrumb's (MODEL_CARD.md: +.04 nDCG for the model alone).
const breadcrumbWeight = 0.5

// mix makes a passage's vector of its text's and its breadcrumb's in text; it reports whether there is anything in it.
func mix(text, breadcrumb []float32) bool {
	for i, v := range breadcrumb {
		text[i] += breadcrumbWeight * v
	}
	return Normalize(text)
}

// ailmentOf is why a provider answers no queries now, if it is one that can tell; nil if all is well.
func ailmentOf(p Provider) error {
	if a, ok := p.(interface{ Ailment() error }); ok {
		return a.Ailment()
	}
	return nil
}
