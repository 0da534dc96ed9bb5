package daemon

import (
	"context"
	"log/slog"
	"path/filepath"

	"knowledged/config"
	"knowledged/embedding"
	"knowledged/l1/milvus"
)

// TryEmbedding has one real passage embedded by the provider that cfg names, and tells the model and the length of its
// vectors. Nothing is kept.
func TryEmbedding(ctx context.Context, cfg *config.Config, log *slog.Logger) (model string, dimensions int, err error) {
	var provider embedding.Provider
	if cfg.Embedding.Provider == config.ProviderOpenAI {
		remote, err := embedding.NewOpenAI(openAIConfig(cfg, ""), log)
		if err != nil {
			return "", 0, err
		}
		defer remote.Close()
		provider = remote
	} else if provider, err = embedding.NewBuiltin(); err != nil {
		return "", 0, err
	}
	vectors, err := provider.EmbedPassages(ctx, []embedding.Passage{{Breadcrumb: "Trial", Text: "Payment timeouts and what to do about them. 支付超时怎么办。"}})
	if err != nil {
		return provider.Name(), 0, err
	}
	return provider.Name(), len(vectors[0]), embedding.Check(vectors[0], len(vectors[0]))
}

// TryMilvus reports what is wrong with the Milvus server that cfg names, or with the way to it. It makes nothing there.
func TryMilvus(ctx context.Context, cfg *config.Config, model string, dimensions int) error {
	learned := func(context.Context) (int, error) { return dimensions, nil }
	return milvus.Check(ctx, milvusConfig(cfg, filepath.Join(cfg.StateDir, "l1"), model, learned))
}
