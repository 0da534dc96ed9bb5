package milvus

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"knowledged/document"
	"knowledged/embedding"
	"knowledged/l1"
)

// folder is a source of chunks in memory.
type folder struct {
	ids   []string
	texts map[string]string
}

func newFolder(n int) *folder {
	f := &folder{texts: make(map[string]string, n)}
	for i := range n {
		id := fmt.Sprintf("%032x", i)
		f.ids = append(f.ids, id)
		f.texts[id] = fmt.Sprintf("%d %s", i, strings.Repeat("text of a chunk ", 50))
	}
	return f
}

func (f *folder) Chunk(id string) (document.Chunk, l1.RowMeta, bool) {
	text, ok := f.texts[id]
	return document.Chunk{ID: id, Text: text, Breadcrumb: "Title > Heading"},
		l1.RowMeta{Path: "api/a.md", Source: "kb/api/a.md", FileName: "a.md", Category: "api", Title: "Title"}, ok
}

func (f *folder) ChunkIDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range f.ids {
			if !yield(id) {
				return
			}
		}
	}
}

// ready is a provider whose vectors cost nothing, as cached ones nearly do.
type ready struct {
	embedding.Provider
	vectors [][]float32
}

const readyDims = 384

func newReady() *ready {
	r := &ready{}
	for i := range 997 {
		v := make([]float32, readyDims)
		for j := range v {
			v[j] = float32((i*31+j*17)%101-50) / 50
		}
		embedding.Normalize(v)
		r.vectors = append(r.vectors, v)
	}
	return r
}

func (r *ready) Name() string    { return "ready" }
func (r *ready) Dimensions() int { return readyDims }

func (r *ready) EmbedQuery(context.Context, string) ([]float32, error) { return r.vectors[0], nil }

func (r *ready) EmbedPassages(_ context.Context, passages []embedding.Passage) ([][]float32, error) {
	out := make([][]float32, len(passages))
	for i, p := range passages {
		var n int
		fmt.Sscan(p.Text, &n)
		out[i] = r.vectors[n%len(r.vectors)]
	}
	return out, nil
}

// A first sync of 20,000 chunks against the SDK's bare upserts of the same rows. Who comes second meets a server that still
// indexes what the first has written, so they take turns; a single pair says little, the sums of many do.
func BenchmarkSync(b *testing.B) {
	const chunks = 20_000
	files, provider := newFolder(chunks), newReady()
	var bare, sync time.Duration
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		var thisBare, thisSync time.Duration
		if round%2 == 0 {
			thisBare = bareUpserts(b, files, provider)
			thisSync = firstSync(b, files, provider)
		} else {
			thisSync = firstSync(b, files, provider)
			thisBare = bareUpserts(b, files, provider)
		}
		bare, sync = bare+thisBare, sync+thisSync
		ratios = append(ratios, thisSync.Seconds()/thisBare.Seconds())
	}
	slices.Sort(ratios)
	b.ReportMetric(bare.Seconds()/float64(len(ratios)), "bare-s/op")
	b.ReportMetric(sync.Seconds()/float64(len(ratios)), "sync-s/op")
	b.ReportMetric(sync.Seconds()/bare.Seconds(), "sync/bare")
	b.ReportMetric(ratios[len(ratios)/2], "sync/bare-median")
}

func firstSync(b *testing.B, files *folder, provider *ready) time.Duration {
	c := config(b)
	c.Dimensions = fixed(readyDims)
	s := opened(b, c)
	x := l1.New(l1.Config{Store: s, Provider: provider, Source: files, Log: slog.New(slog.DiscardHandler)})
	if _, err := s.need(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	start := time.Now()
	go func() { done <- x.Run(ctx) }()
	if err := x.Idle(ctx); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	stop()
	<-done
	return took
}

func bareUpserts(b *testing.B, files *folder, provider *ready) time.Duration {
	c := config(b)
	c.Dimensions = fixed(readyDims)
	s := opened(b, c)
	ses, err := s.need(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var rows []l1.Row
	for i, id := range files.ids {
		chunk, meta, _ := files.Chunk(id)
		rows = append(rows, l1.Row{
			ID: id, Vector: provider.vectors[i%len(provider.vectors)], Source: meta.Source, FileName: meta.FileName,
			Category: meta.Category, Title: meta.Title, Breadcrumb: chunk.Breadcrumb, Text: chunk.Text,
		})
	}
	start := time.Now()
	for len(rows) > 0 {
		columns, err := columnsOf(rows[:batchRows], readyDims)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ses.client.Upsert(b.Context(), ses.rows, "", columns...); err != nil {
			b.Fatal(err)
		}
		rows = rows[batchRows:]
	}
	return time.Since(start)
}
