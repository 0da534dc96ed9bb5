package l1_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"knowledged/l1"
	"knowledged/l1/embedded"
	"knowledged/l1/l1test"
)

// Once open, Lazy is the store it has opened.
func TestLazyContract(t *testing.T) {
	root := t.TempDir()
	l1test.TestStore(t, func(t *testing.T) l1.Store {
		z := l1.NewLazy(func(context.Context) (l1.Store, error) {
			return embedded.Open(filepath.Join(root, t.Name()), "test", l1test.Dims, slog.New(slog.NewTextHandler(t.Output(), nil)))
		})
		if _, err := z.IDs(t.Context()); err != nil {
			t.Fatal(err)
		}
		return z
	})
}
