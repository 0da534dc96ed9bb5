package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/text/unicode/norm"

	"knowledged/config"
	"knowledged/document"
	"knowledged/embedding"
	"knowledged/l0"
	"knowledged/lookup"
	"knowledged/registry"
)

// lookupDeps are the parts as lookup's interfaces see them. The adapters only rename: policy is lookup's.
func (d *Daemon) lookupDeps() lookup.Deps {
	deps := lookup.Deps{
		Keyword:   keywordAdapter{d.l0},
		Documents: documentsAdapter{d.registry, d.base, d.baseName},
		Indexing:  func() bool { return !d.Ready() },
		Read:      d.readDocument,
		Exists:    d.exists,
	}
	deps.Corrector = d.l0
	deps.Metrics = d.metrics.lookup
	if d.l1 != nil {
		deps.Semantic = d.l1
	}
	deps.Reranker = rerankAdapter{d.builtin} // whatever makes the vectors, and without any (MODEL_CARD.md)
	return deps
}

// lookupConfig needs policy once Run runs.
func (d *Daemon) lookupConfig() lookup.Config {
	c := d.live.Lookup
	cfg := lookup.Config{
		AlwaysSemantic: c.AlwaysSemantic,
		UniqueMatch:    c.UniqueMatch,
		TopK:           c.TopK,
		L1TopK:         c.L1TopK,
		Candidates:     c.Candidates,
		L1Timeout:      time.Duration(c.L1Timeout),
		MinScore:       c.MinScore.Value(),
		Fusion: lookup.Fusion{
			Method: c.Fusion.Method,
			RRF:    lookup.RRF{K: c.Fusion.RRF.K, Exact: c.Fusion.RRF.Exact, Fulltext: c.Fusion.RRF.Fulltext, Semantic: c.Fusion.RRF.Semantic},
			Score:  lookup.ScoreWeights{Fulltext: c.Fusion.Score.Fulltext, Soft: c.Fusion.Score.Soft},
		},
		FillUnique:  true,
		Calibration: d.calibration,
	}
	if d.provider != nil && d.cfg.Embedding.Provider == config.ProviderBuiltin {
		cfg.Calibration = lookup.BuiltinCalibration // its thresholds are of that model's cosines
	}
	return cfg
}

// readDocument parses a document's file as it is now; or as it was, while the file was touched a moment ago, looks half-written
// and the indexes hold the text of before.
func (d *Daemon) readDocument(path string) (*document.Document, error) {
	data, info, err := readFile(filepath.Join(d.base, filepath.FromSlash(path)), int64(d.cfg.Knowledge.MaxFileSize))
	if err != nil {
		d.watcher.Touch(path)
		return nil, err
	}
	doc, err := document.Parse(path, data, d.docOpt)
	rec, ok := d.registry.Get(path)
	if !ok || rec.Failed() || !d.pipeline.recent(info.ModTime()) || !cutShort(rec, doc, data) || rec.FileHash == hashOf(data, true) {
		return doc, err
	}
	if before, ok := d.rebuilt(rec); ok {
		return before, nil
	}
	return doc, err
}

// exists reports whether a document's file is there now; if not, the watcher is told to look.
func (d *Daemon) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(d.base, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		d.watcher.Touch(path)
		return false
	}
	return true
}

type keywordAdapter struct{ index *l0.Index }

func (k keywordAdapter) Match(query string) []document.Match { return k.index.Match(query) }

func (k keywordAdapter) Search(ctx context.Context, query string, opt lookup.SearchOptions) (lookup.FullText, error) {
	r, err := k.index.Search(ctx, query, l0.SearchOptions{K: opt.K, Keep: opt.Keep, Explain: opt.Explain})
	return lookup.FullText{Hits: r.Hits, Ideal: r.Ideal, Coverage: r.Coverage}, err
}

type documentsAdapter struct {
	registry       *registry.Registry
	base, baseName string
}

func (a documentsAdapter) Len() int { return a.registry.Len() }

func (a documentsAdapter) Owner(chunkID string) (path string, index int, ok bool) {
	rec, index, ok := a.registry.Owner(chunkID)
	if !ok {
		return "", 0, false
	}
	return rec.Path, index, true
}

func (a documentsAdapter) Doc(path string) (*lookup.Doc, bool) {
	rec, ok := a.registry.Get(path)
	if !ok {
		return nil, false
	}
	return &lookup.Doc{
		DocID: rec.DocID, Path: rec.Path, Source: a.baseName + "/" + rec.Path,
		FilePath: filepath.Join(a.base, filepath.FromSlash(rec.Path)),
		Title:    rec.Title, Summary: rec.Summary, Category: rec.Category, Keywords: rec.Keywords, Aliases: rec.Aliases,
		Sections: rec.Sections, Chinese: rec.Chinese, InL0: rec.InL0,
	}, true
}

func (a documentsAdapter) ChunkIDs(path string) []string {
	rec, ok := a.registry.Get(path)
	if !ok {
		return nil
	}
	return rec.ChunkIDs()
}

func (a documentsAdapter) Chunk(chunkID string) (document.Chunk, bool) {
	c, _, ok := a.registry.Chunk(chunkID)
	return c, ok
}

type rerankAdapter struct{ model *embedding.Builtin }

func (r rerankAdapter) Soft(query string, passages []lookup.Passage) []float64 {
	in := make([]embedding.Passage, len(passages))
	for i, p := range passages {
		in[i] = embedding.Passage(p)
	}
	return r.model.Soft(query, in)
}

// spellings are the forms a file name may have on disk: as given, composed, decomposed (SPEC 1.4).
func spellings(path string) []string {
	out := []string{path}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if s := form.String(path); s != path {
			out = append(out, s)
		}
	}
	return out
}
