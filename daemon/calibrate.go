package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/embedding"
	"knowledged/lookup"
	"knowledged/registry"
)

// What relevance means depends on the embedding model, and nobody has judged questions for all of them. So the user's own
// folder says where "nothing in common" lies: the cosines of documents' titles, taken as questions, with a chunk each of the
// other documents (lookup.CalibrationFrom). These are unrelated, but for a few that hardly move the mean. Chunks with chunks
// would not do: many models, e5 and its like, put questions and passages in places of their own.
const (
	sampleDocuments = 64 // make 4,032 pairs
	fewestDocuments = 6  // fewer have too few pairs to say anything
	// The folder has to have grown or shrunk by this factor until it is measured anew.
	recalibrateAt  = 1.5
	queriesAtATime = 4 // leaves the embedding server, and the provider, to lookups as well
)

// calibrateAgain is how long after a failure it is tried again: at a start with all vectors in the cache the model's server may
// come up later, and nothing else would happen. A variable for the tests alone.
var calibrateAgain = time.Minute

// calibrate measures the embedding model whenever the semantic index is complete and the folder is another one than at the last
// measurement, which may have been before a restart, until ctx ends. The built-in model comes with its measures.
func (d *Daemon) calibrate(ctx context.Context) {
	if d.cfg.Embedding.Provider == config.ProviderBuiltin {
		return
	}
	// After a restart there may be nothing to embed, and then no progress tells that the scan is over.
	if d.WaitIndexed(ctx, 0) != nil {
		return
	}
	measured := d.calibratedAt
	for {
		var again <-chan time.Time
		progress := d.l1.Progress() // before the look, so that no change falls between
		n := d.registry.Len()
		grown := float64(n) > recalibrateAt*float64(measured) || float64(n)*recalibrateAt < float64(measured)
		if grown && n >= fewestDocuments && d.l1.Pending() == 0 {
			d.measuring.Store(true)
			err := d.measureModel(ctx, n)
			d.measuring.Store(false)
			switch {
			case err == nil:
				measured = n
			case ctx.Err() == nil:
				d.log.Warn("embedding model not calibrated, its scores do not count for `relevance`; tried again in a while", "err", err)
				again = time.After(calibrateAgain)
			}
		}
		select {
		case <-progress:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// measureModel takes the cosines of a sample and has lookups judge by them.
func (d *Daemon) measureModel(ctx context.Context, documents int) error {
	var titles []string
	var passages []embedding.Passage
	for _, rec := range sample(d.registry.All(), sampleDocuments) {
		ids := rec.ChunkIDs()
		if c, _, ok := d.registry.Chunk(ids[len(ids)/2]); ok {
			titles = append(titles, rec.Title)
			passages = append(passages, embedding.Passage{Breadcrumb: c.Breadcrumb, Text: c.Text})
		}
	}
	cosines, err := unrelated(ctx, d.provider, titles, passages)
	if err != nil {
		return fmt.Errorf("embed a sample of the folder: %w", err)
	}
	builtin, err := unrelated(ctx, d.builtin, titles, passages)
	if err != nil {
		return fmt.Errorf("embed a sample of the folder: %w", err)
	}
	c := lookup.CalibrationFrom(cosines, builtin)
	d.policy.Lock()
	d.calibration = c
	d.engine.Store(lookup.New(d.lookupConfig(), d.lookupDeps(), d.log))
	d.policy.Unlock()
	if c.Unrelated.SD == 0 {
		d.log.Warn("embedding model not calibrated, its scores do not count for `relevance`: the sample is too small, or its scores are all alike", "documents", len(titles))
		return nil
	}
	d.keepMeasured(c, documents)
	d.log.Info("embedding model calibrated by unrelated titles and chunks", "documents", len(titles), "mean", c.Unrelated.Mean, "sd", c.Unrelated.SD)
	return nil
}

// unrelated gives the cosines of each title with the passages of the other documents. What cannot be embedded is left out.
func unrelated(ctx context.Context, provider embedding.Provider, titles []string, passages []embedding.Passage) ([]float64, error) {
	vectors, err := provider.EmbedPassages(ctx, passages) // from the cache, as a rule: they are all in the index
	var some *embedding.PassageErrors
	if err != nil && !errors.As(err, &some) {
		return nil, err
	}
	queries := make([][]float32, len(titles))
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(queriesAtATime)
	for i, title := range titles {
		g.Go(func() (err error) {
			queries[i], err = provider.EmbedQuery(groupCtx, title)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var cosines []float64
	for i, query := range queries {
		for j, v := range vectors {
			if i != j && !embedding.IsZero(query) && !embedding.IsZero(v) {
				cosines = append(cosines, dot(query, v))
			}
		}
	}
	return cosines, nil
}

// sample gives at most n of the records that have a title and chunks, the same ones as long as the folder is: the first by docId, which
// says nothing about the text.
func sample(all []*registry.Record, n int) []*registry.Record {
	all = slices.DeleteFunc(slices.Clone(all), func(r *registry.Record) bool { return r.ChunkCount() == 0 || r.Title == "" })
	slices.SortFunc(all, func(a, b *registry.Record) int { return strings.Compare(a.DocID, b.DocID) })
	return all[:min(n, len(all))]
}

// dot is the cosine of normalised vectors.
func dot(v, w []float32) (sum float64) {
	for i := range v {
		sum += float64(v[i]) * float64(w[i])
	}
	return sum
}
