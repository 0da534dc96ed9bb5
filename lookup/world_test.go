package lookup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"knowledged/document"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a folder with its indexes, all of it hand-made: each test says what the indexes find.
type world struct {
	t       testing.TB
	cfg     Config
	docs    map[string]*Doc
	chunks  map[string]document.Chunk
	owner   map[string]string
	order   map[string][]string
	files   map[string]*document.Document
	folder  int            // its documents, as the engine counts them; 0: as many as the thresholds are for
	missing map[string]int // looks at a file that find nothing before it is there; -1: for ever
	looked  func()         // runs at each look at a file

	matches  []document.Match
	text     []document.Hit
	textBy   map[string][]document.Hit // for these queries instead
	coverage float64
	known    float64  // of the question's words, by the folder
	knownIn  []string // the chunks that hold them; nil: any
	textErr  error
	textIs   func(ctx context.Context) // runs inside the search
	textAsk  atomic.Int32

	meaning    []document.Hit
	meaningErr error
	meaningIs  func(ctx context.Context)
	meaningAsk atomic.Int32
	category   string

	soft     map[string]float64 // by chunk text
	noL1     bool
	noSoft   bool
	indexing bool
	log      *slog.Logger
}

func newWorld(t testing.TB) *world {
	return &world{
		t: t, docs: map[string]*Doc{}, chunks: map[string]document.Chunk{}, owner: map[string]string{},
		order: map[string][]string{}, files: map[string]*document.Document{}, missing: map[string]int{},
		soft: map[string]float64{}, coverage: 0.9, known: 0.9, log: slog.New(slog.DiscardHandler),
		cfg: Config{Calibration: BuiltinCalibration},
	}
}

// add puts a document with one chunk a passage into the folder; chunk ids are path#0, path#1 …
func (w *world) add(path, title, category string, passages ...string) *Doc {
	d := &Doc{
		DocID: "id-" + path, Path: path, Source: "kb/" + path, FilePath: "/srv/kb/" + path, Title: title,
		Summary: "Summary of " + title, Category: category, Keywords: []string{"k1", "k2"}, InL0: true,
	}
	w.docs[path] = d
	body := "## First\n\n" + strings.Join(passages, "\n\n") + "\n"
	w.files[path] = &document.Document{
		Path: path, Source: d.Source, Title: title, Summary: d.Summary, HasFrontmatter: true,
		Body: body, Sections: []document.Section{{Title: "First", Level: 2, Line: 1, Start: 0, Text: 9, Next: len(body), End: len(body)}},
	}
	ids := []document.Chunk{{Head: &document.Head{Title: title, Summary: d.Summary}, Breadcrumb: title, Text: title + "\n" + d.Summary}}
	for _, p := range passages {
		ids = append(ids, document.Chunk{Breadcrumb: title + " > First", Text: p})
	}
	for i, c := range ids {
		c.ID, c.Index, c.Total = fmt.Sprintf("%s#%d", path, i), i, len(ids)
		w.chunks[c.ID], w.owner[c.ID] = c, path
		w.order[path] = append(w.order[path], c.ID)
	}
	return d
}

func (w *world) match(paths ...string) {
	for _, p := range paths {
		w.matches = append(w.matches, document.Match{
			Path:  p,
			Names: []document.MatchedName{{Name: "query", Kind: "keyword", How: "query_contains_name"}},
		})
	}
}

func hit(id string, score float64) document.Hit { return document.Hit{ChunkID: id, Score: score} }

func (w *world) engine() *Engine {
	d := Deps{
		Keyword: keywordFake{w}, Documents: documentsFake{w}, Reranker: softFake{w},
		Indexing: func() bool { return w.indexing }, Read: w.read, Exists: w.exists,
	}
	if !w.noL1 {
		d.Semantic = semanticFake{w}
	}
	if w.noSoft {
		d.Reranker = nil
	}
	return New(w.cfg, d, w.log)
}

func (w *world) lookup(req Request) *Answer {
	w.t.Helper()
	if req.Query == "" {
		req.Query = "query"
	}
	a, err := w.engine().Lookup(w.t.Context(), req)
	if err != nil {
		w.t.Fatalf("lookup: %v", err)
	}
	return a
}

func (w *world) read(path string) (*document.Document, error) {
	if d, ok := w.files[path]; ok {
		return d, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func (w *world) exists(path string) bool {
	if w.looked != nil {
		w.looked()
	}
	n := w.missing[path]
	if n > 0 {
		w.missing[path]--
	}
	return n == 0
}

type keywordFake struct{ w *world }

func (k keywordFake) Match(string) []document.Match { return k.w.matches }

func (k keywordFake) Search(ctx context.Context, query string, opt SearchOptions) (FullText, error) {
	if opt.K == 0 && k.w.textErr == nil {
		if opt.Keep != nil && k.w.knownIn != nil && !slices.ContainsFunc(k.w.knownIn, opt.Keep) {
			return FullText{}, nil
		}
		return FullText{Coverage: k.w.known}, nil
	}
	k.w.textAsk.Add(1)
	if k.w.textIs != nil {
		k.w.textIs(ctx)
	}
	if k.w.textErr != nil {
		return FullText{}, k.w.textErr
	}
	found, ok := k.w.textBy[query]
	if !ok {
		found = k.w.text
	}
	var hits []document.Hit
	for _, h := range found {
		if opt.Keep != nil && !opt.Keep(h.ChunkID) {
			continue
		}
		if len(hits) < opt.K {
			hits = append(hits, h)
		}
	}
	return FullText{Hits: hits, Ideal: 10, Coverage: k.w.coverage}, nil
}

type semanticFake struct{ w *world }

func (s semanticFake) Search(ctx context.Context, _ string, k int, category string) ([]document.Hit, error) {
	s.w.meaningAsk.Add(1)
	s.w.category = category
	if s.w.meaningIs != nil {
		s.w.meaningIs(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return s.w.meaning[:min(k, len(s.w.meaning))], s.w.meaningErr
}

type softFake struct{ w *world }

func (s softFake) Soft(_ string, passages []Passage) []float64 {
	out := make([]float64, len(passages))
	for i, p := range passages {
		out[i] = s.w.soft[p.Text]
	}
	return out
}

type documentsFake struct{ w *world }

func (d documentsFake) Len() int { return d.w.folder }

func (d documentsFake) Owner(id string) (string, int, bool) {
	p, ok := d.w.owner[id]
	return p, d.w.chunks[id].Index, ok
}

func (d documentsFake) Doc(path string) (*Doc, bool)           { x, ok := d.w.docs[path]; return x, ok }
func (d documentsFake) ChunkIDs(path string) []string          { return d.w.order[path] }
func (d documentsFake) Chunk(id string) (document.Chunk, bool) { c, ok := d.w.chunks[id]; return c, ok }

func sources(a *Answer) []string {
	out := []string{}
	for _, r := range a.Results {
		out = append(out, strings.TrimPrefix(r.Source, "kb/"))
	}
	return out
}

func wantList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

var errBoom = errors.New("boom")

// hang blocks as a search does whose backend is away: until its context ends.
func hang(ctx context.Context) { <-ctx.Done() }

// deaf blocks whatever the context says.
func deaf(d time.Duration) func(context.Context) { return func(context.Context) { time.Sleep(d) } }
