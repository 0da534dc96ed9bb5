package l1

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"knowledged/embedding"
)

// work is a chunk to put: what the provider and the store need of it. Its row has no vector yet.
type work struct {
	item
	passage embedding.Passage
	row     Row

	path, requestID string
}

// sync brings the store up to date with these ids: rows that the source no longer has are deleted, those that it has and
// the store has not are embedded and put. What fails is released and tried again later.
func (x *Index) sync(ctx context.Context, items []item) {
	start := time.Now()
	x.mu.Lock()
	x.pace.begin(start)
	x.mu.Unlock()
	var gones []item
	var puts []work
	for _, it := range items {
		if w, ok := x.prepare(it); ok {
			puts = append(puts, w)
		} else {
			gones = append(gones, it)
		}
	}
	if !x.delete(ctx, gones) {
		x.giveBack(itemsOf(puts), false)
		return
	}
	written := x.put(ctx, x.skipPresent(puts), start)
	x.report(ctx, len(gones), written, time.Since(start))
}

// report logs what a batch did, each document by itself: who follows one save finds its vectors by its requestId.
func (x *Index) report(ctx context.Context, deleted int, written []work, took time.Duration) {
	if deleted+len(written) == 0 || !x.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	chunks := map[string]int{}
	for _, w := range written {
		chunks[w.path]++
	}
	for _, w := range written {
		if n := chunks[w.path]; n > 0 {
			x.log.Debug("document's vectors stored", "path", w.path, "requestId", w.requestID, "chunks", n)
			delete(chunks, w.path)
		}
	}
	x.log.Debug("semantic index updated", "deleted", deleted, "written", len(written), "took", took)
}

// prepare reads a chunk; there is none if the source no longer has it.
func (x *Index) prepare(it item) (work, bool) {
	chunk, meta, ok := x.source.Chunk(it.id)
	if !ok {
		return work{}, false
	}
	path := cmp.Or(meta.Path, meta.Source)
	x.mu.Lock()
	x.revive(path, it.generation)
	x.mu.Unlock()
	return work{
		item: it, path: path, requestID: meta.RequestID,
		passage: embedding.Passage{Breadcrumb: chunk.Breadcrumb, Text: chunk.Text},
		row: Row{
			ID: it.id, Source: meta.Source, FileName: meta.FileName, Category: meta.Category, Title: meta.Title,
			Breadcrumb: chunk.Breadcrumb, Text: chunk.Text, ChunkIndex: chunk.Index, TotalChunks: chunk.Total,
		},
	}, true
}

func itemsOf(works []work) []item {
	items := make([]item, len(works))
	for i, w := range works {
		items[i] = w.item
	}
	return items
}

func (x *Index) delete(ctx context.Context, gones []item) (ok bool) {
	if len(gones) == 0 {
		return true
	}
	ids := make([]string, len(gones))
	for i, it := range gones {
		ids[i] = it.id
	}
	if err := x.store.Delete(ctx, ids); err != nil {
		x.giveBack(gones, true)
		x.broke(ctx, partStore, err)
		return false
	}
	x.answered()
	x.finish(gones, false)
	return true
}

// put embeds and stores; it gives what was written.
func (x *Index) put(ctx context.Context, puts []work, start time.Time) []work {
	if x.embedWait.left() > 0 { // these came in the deletions' line, and are wanted again
		x.giveBack(itemsOf(puts), false)
		return nil
	}
	var embedded []work
	begin := time.Now()
	for len(puts) > 0 && (len(embedded) == 0 || time.Since(start) < flushAfter) {
		batch := puts[:min(batchPassages, len(puts))]
		done, ok := x.embed(ctx, batch)
		embedded = append(embedded, done...)
		if !ok { // what was embedded is stored all the same
			made := make(map[string]bool, len(done))
			for _, w := range done {
				made[w.id] = true
			}
			puts = slices.DeleteFunc(puts, func(w work) bool { return made[w.id] })
			break
		}
		puts = puts[len(batch):]
	}
	x.giveBack(itemsOf(puts), false)
	if len(embedded) == 0 {
		return nil
	}
	embedTook := time.Since(begin)
	begin = time.Now()
	rows := make([]Row, len(embedded))
	for i, w := range embedded {
		rows[i] = w.row
	}
	if err := x.store.Upsert(ctx, rows); err != nil {
		x.giveBack(itemsOf(embedded), false)
		x.cannotAdd(ctx, err)
		return nil
	}
	x.worked(partStore)
	x.finish(itemsOf(embedded), true)
	x.log.Debug("vectors made and stored", "chunks", len(rows), "embed", embedTook, "store", time.Since(begin))
	return embedded
}

// skipPresent finishes with what needs no work: a chunk that left and came back.
func (x *Index) skipPresent(puts []work) []work {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := puts[:0]
	for _, w := range puts {
		if x.has(w.id) {
			x.done(w.item, true)
			continue
		}
		left = append(left, w)
	}
	if len(left) < len(puts) {
		x.advanced()
	}
	return left
}

// embed makes the vectors of a batch. Passages that fail alone are noted; ok is false if the provider failed before the end,
// and then the passages that are not done wait.
func (x *Index) embed(ctx context.Context, batch []work) (done []work, ok bool) {
	passages := make([]embedding.Passage, len(batch))
	for i, w := range batch {
		passages[i] = w.passage
	}
	vectors, err := x.provider.EmbedPassages(ctx, passages)
	var some *embedding.PassageErrors
	isSome := errors.As(err, &some)
	if (err == nil || isSome) && len(vectors) != len(passages) {
		err, isSome = fmt.Errorf("%s gave %d vectors for %d passages", x.provider.Name(), len(vectors), len(passages)), false
	}
	if ok = err == nil || isSome; ok {
		x.worked(partProvider)
	} else {
		x.broke(ctx, partProvider, err)
	}
	for i, w := range batch {
		if !ok && (len(vectors) != len(batch) || vectors[i] == nil) {
			continue
		}
		var err error
		if isSome {
			err = some.Errs[i]
		}
		if err == nil {
			err = embedding.Check(vectors[i], x.provider.Dimensions())
		}
		if err != nil {
			x.giveUp(w, err)
			continue
		}
		w.row.Vector = vectors[i]
		done = append(done, w)
	}
	return done, ok
}

// maxWarnings bounds the WARNs of one backlog; the rest is summed up in one line.
const maxWarnings = 20

// giveUp notes that a passage failed, for now or for good.
func (x *Index) giveUp(w work, err error) {
	x.mu.Lock()
	final := x.fail(w.item, w.path, err, errors.Is(err, embedding.ErrNothingKnown), time.Now())
	if final {
		x.advanced()
	}
	x.mu.Unlock()
	if !final {
		return
	}
	if errors.Is(err, embedding.ErrNothingKnown) {
		// Only emoji, or a script the model was not made for: nothing that anybody could mend.
		x.log.Debug("the model knows nothing of a passage; keywords still find it", "path", w.path, "chunk", w.id, "requestId", w.requestID)
		return
	}
	if x.warnings++; x.warnings <= maxWarnings {
		x.log.Warn("passage cannot be embedded and is left out of the semantic index", "path", w.path,
			"chunk", w.id, "breadcrumb", w.passage.Breadcrumb, "position", w.row.ChunkIndex, "err", err)
	}
}

func (x *Index) sumUpWarnings() {
	if more := x.warnings - maxWarnings; more > 0 {
		x.log.Warn("more passages cannot be embedded and are left out of the semantic index", "passages", more)
	}
	x.warnings = 0
}

func (x *Index) giveBack(items []item, gone bool) {
	x.mu.Lock()
	x.release(items, gone)
	x.mu.Unlock()
}

func (x *Index) finish(items []item, have bool) {
	x.mu.Lock()
	for _, it := range items {
		x.done(it, have)
	}
	x.pace.advance(len(items), x.pendingCount())
	x.advanced()
	x.mu.Unlock()
}

// advanced wakes who waits for progress. It needs mu.
func (x *Index) advanced() {
	close(x.progress)
	x.progress = make(chan struct{})
}
