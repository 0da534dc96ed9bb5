package daemon

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"knowledged/config"
	"knowledged/document"
	"knowledged/embedding"
	"knowledged/l1"
	"knowledged/l1/embedded"
	"knowledged/l1/milvus"
	"knowledged/registry"
)

// openSemantic opens the embedding provider and the vector store. With l1.backend off there is neither.
func (d *Daemon) openSemantic() error {
	if d.cfg.L1.Backend == config.BackendOff {
		return nil
	}
	dir := filepath.Join(d.cfg.StateDir, "l1")
	provider, learn, err := d.openProvider(dir)
	if err != nil {
		return err
	}
	d.provider = provider
	d.takeMeasured()
	index := l1.Config{Provider: provider, Source: d.chunkSource(), Log: d.log}
	if d.cfg.L1.Backend == config.BackendMilvus {
		index.ReadOnly = d.readsOnly()
		index.CompareEvery = compareEvery
		index.Store, err = d.openMilvus(dir, provider, learn)
	} else {
		index.Store, err = d.openEmbedded(dir, provider, learn)
	}
	if err != nil {
		return fmt.Errorf("open the vector store: %w", err)
	}
	d.store, d.l1 = index.Store, l1.New(index)
	d.closers = append(d.closers, index.Store.Close)
	return nil
}

// readsOnly reports whether other daemons write the vectors.
func (d *Daemon) readsOnly() bool {
	return d.cfg.L1.Backend == config.BackendMilvus && d.cfg.L1.Milvus.Role == config.MilvusReader
}

// compareEvery is how often the rows of a store that others can reach are compared with the chunks.
const compareEvery = 10 * time.Minute

func (d *Daemon) openEmbedded(dir string, provider embedding.Provider, learn func(context.Context) (int, error)) (l1.Store, error) {
	open := func(ctx context.Context) (l1.Store, error) {
		dims, err := learn(ctx)
		if err != nil {
			return nil, err
		}
		store, err := embedded.Open(dir, provider.Name(), dims, d.log)
		return store, ofState(err)
	}
	if provider.Dimensions() == 0 { // the server that knows them may be down
		return l1.NewLazy(open), nil
	}
	return open(context.Background())
}

func (d *Daemon) openMilvus(dir string, provider embedding.Provider, learn func(context.Context) (int, error)) (l1.Store, error) {
	return milvus.Open(milvusConfig(d.cfg, dir, provider.Name(), learn), d.log)
}

func milvusConfig(cfg *config.Config, dir, model string, learn func(context.Context) (int, error)) milvus.Config {
	c := cfg.L1.Milvus
	return milvus.Config{
		Address:      c.Address,
		Username:     c.Username,
		PasswordFile: c.PasswordFile,
		TokenFile:    c.TokenFile,
		Database:     c.Database,
		Collection:   c.Collection,
		TLS:          c.TLS,
		CAFile:       c.CAFile,
		Consistency:  c.Consistency,
		ReadOnly:     c.Role == config.MilvusReader,
		Model:        model,
		Dimensions:   learn,
		WriterFile:   filepath.Join(dir, "milvus-writer"),
	}
}

// openProvider makes the embedding provider; learn gives the length of its vectors, which it may have to ask for.
func (d *Daemon) openProvider(dir string) (provider embedding.Provider, learn func(context.Context) (int, error), err error) {
	if d.cfg.Embedding.Provider != config.ProviderOpenAI {
		// No cache: it would take longer than the model.
		return embedding.Measured(d.builtin, d.metrics.embedding), func(context.Context) (int, error) { return d.builtin.Dimensions(), nil }, nil
	}
	remote, err := embedding.NewOpenAI(openAIConfig(d.cfg, filepath.Join(dir, "dimensions.json")), d.log)
	if err != nil {
		return nil, nil, err
	}
	d.closers = append(d.closers, remote.Close)
	cache, err := embedding.NewCache(embedding.Measured(remote, d.metrics.embedding), filepath.Join(dir, "embeddings.cache"), d.log)
	if err != nil {
		return nil, nil, ofState(err)
	}
	d.closers = append(d.closers, cache.Close)
	return cache, remote.Learn, nil
}

func openAIConfig(cfg *config.Config, dimensionsFile string) embedding.OpenAIConfig {
	c := cfg.Embedding.OpenAI
	return embedding.OpenAIConfig{
		BaseURL:        c.BaseURL,
		Model:          c.Model,
		APIKeyFile:     c.APIKeyFile,
		Dimensions:     c.Dimensions,
		DimensionsFile: dimensionsFile,
		Batch:          c.Batch,
		Timeout:        time.Duration(c.Timeout),
		QueryPrefix:    c.QueryPrefix,
		DocumentPrefix: c.DocumentPrefix,
		QueryBody:      c.QueryBody,
		DocumentBody:   c.DocumentBody,
	}
}

// chunkSource is the registry as the semantic index reads it.
type chunkSource struct {
	registry  *registry.Registry
	baseName  string
	requestID func(path string) string // of the document's latest indexing
}

func (d *Daemon) chunkSource() chunkSource {
	return chunkSource{d.registry, d.baseName, func(path string) string { return d.pipeline.traces.of(path) }}
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

		RequestID: s.requestID(rec.Path),
	}, true
}

func (s chunkSource) ChunkIDs() iter.Seq[string] { return s.registry.ChunkIDs() }
