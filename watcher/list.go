package watcher

import (
	"context"
	"errors"
)

// List walks the folder once, for who wants to know what its documents are and not to watch it. It is called instead of
// Run.
func (w *Watcher) List(ctx context.Context) (Batch, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan Batch)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, batches) }()
	for {
		select {
		case b := <-batches:
			w.Done(b)
			if !b.All {
				continue
			}
			cancel()
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				return b, err
			}
			return b, nil
		case err := <-ended:
			return Batch{}, errors.Join(err, context.Cause(ctx))
		}
	}
}
