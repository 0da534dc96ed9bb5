package daemon

import (
	"fmt"
	"iter"
	"path/filepath"

	"knowledged/config"
	"knowledged/document"
	"knowledged/embedding"
	"knowledged/l1"
	"knowledged/l1/embedded"
	"knowledged/registry"
)

// openSemantic opens the embedding provider and the vector store. With l1.backend off there is neither.
func (d *Daemon) openSemantic() error {
	if d.cfg.L1.Backend == config.BackendOff {
		return nil
	}
	dir := filepath.Join(d.cfg.StateDir, "l1")
	provider, err := d.openProvider(dir)
	if err != nil {
		return err
	}
	d.provider = provider
	store, err := embedded.Open(dir, provider.Name(), provider.Dimensions(), d.log)
	if err != nil {
		return fmt.Errorf("open the vector store: %w", err)
	}
	d.l1 = l1.New(l1.Config{Store: store, Provider: provider, Source: chunkSource{d.registry, d.baseName}, Log: d.log})
	d.closers = append(d.closers, store.Close)
	return nil
}

// chunkSource is the registry as the semantic index reads it.
type chunkSource struct {
	registry *registry.Registry
	baseName string
}

// Chunk gives a chunk with what its row says of the document; positions come from the registry (SPEC 3.3).
func (s chunkSource) Chunk(id string) (document.Chunk, l1.RowMeta, bool) {
	c, rec, ok := s.registry.Chunk(id)
	if !ok {
		return document.Chunk{}, l1.RowMeta{}, false
	}
	return c, l1.RowMeta{
		Path:     rec.Path,
		Source:   s.baseName + "/" + rec.Path,
		FileName: filepath.Base(rec.Path),
		Category: rec.Category,
		Title:    rec.Title,
	}, true
}

func (s chunkSource) HasChunk(id string) bool {
	_, _, ok := s.registry.Owner(id)
	return ok
}

func (s chunkSource) ChunkIDs() iter.Seq[string] { return s.registry.ChunkIDs() }

// openProvider makes the embedding provider.
func (d *Daemon) openProvider(dir string) (embedding.Provider, error) {
	_ = dir
	return embedding.NewBuiltin()
}
