package l1

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

var errNotOpen = errors.New("vectors are not open yet")

// Lazy is a Store that cannot be opened at the start, since the length of its vectors is known only once an embedding server
// has answered. What Run does opens it, IDs first; until that has worked, searches fail at once and the index is down. It
// is no Sharer: a store on another machine has to open late by itself.
type Lazy struct {
	open    func(context.Context) (Store, error)
	opening chan struct{} // a slot for who opens, or closes
	store   atomic.Pointer[Store]
	closed  bool // guarded by the slot
}

// NewLazy makes a store that open opens. After an error it is called again when next the store is needed.
func NewLazy(open func(context.Context) (Store, error)) *Lazy {
	return &Lazy{open: open, opening: make(chan struct{}, 1)}
}

// need gives the store, opened if need be.
func (z *Lazy) need(ctx context.Context) (Store, error) {
	if s := z.store.Load(); s != nil {
		return *s, nil
	}
	select {
	case z.opening <- struct{}{}:
		defer func() { <-z.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s := z.store.Load(); s != nil { // by who had the slot before
		return *s, nil
	}
	if z.closed {
		return nil, errNotOpen
	}
	s, err := z.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	z.store.Store(&s)
	return s, nil
}

// Upsert opens the store if need be.
func (z *Lazy) Upsert(ctx context.Context, rows []Row) error {
	s, err := z.need(ctx)
	if err != nil {
		return err
	}
	return s.Upsert(ctx, rows)
}

// Delete opens the store if need be.
func (z *Lazy) Delete(ctx context.Context, ids []string) error {
	s, err := z.need(ctx)
	if err != nil {
		return err
	}
	return s.Delete(ctx, ids)
}

// Search never waits for the store to open.
func (z *Lazy) Search(ctx context.Context, vector []float32, k int, category string) ([]Hit, error) {
	s := z.store.Load()
	if s == nil {
		return nil, errNotOpen
	}
	return (*s).Search(ctx, vector, k, category)
}

// IDs opens the store if need be.
func (z *Lazy) IDs(ctx context.Context) ([]string, error) {
	s, err := z.need(ctx)
	if err != nil {
		return nil, err
	}
	return s.IDs(ctx)
}

// Count is 0 until the store is open.
func (z *Lazy) Count() int {
	if s := z.store.Load(); s != nil {
		return (*s).Count()
	}
	return 0
}

// Bytes is 0 until the store is open.
func (z *Lazy) Bytes() int64 {
	if s := z.store.Load(); s != nil {
		return (*s).Bytes()
	}
	return 0
}

// Retire is passed on, if the store is one that does.
func (z *Lazy) Retire(ctx context.Context) error {
	if s := z.store.Load(); s != nil {
		if r, ok := (*s).(Retirer); ok {
			return r.Retire(ctx)
		}
	}
	return nil
}

// Close closes the store; one that is not open stays so.
func (z *Lazy) Close() error {
	z.opening <- struct{}{}
	defer func() { <-z.opening }()
	z.closed = true
	if s := z.store.Load(); s != nil {
		return (*s).Close()
	}
	return nil
}
