package milvus

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"go.uber.org/goleak"

	"knowledged/l1"
	"knowledged/l1/l1test"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// address is the real server's; `make milvus-test` starts it. With it set, a server that is not there is a failure.
func address(t testing.TB) string {
	t.Helper()
	a := os.Getenv("MILVUS_ADDRESS")
	if a == "" {
		t.Skip("needs the real Milvus: make milvus-test")
	}
	return a
}

// config is one for a collection of the test's own, which is dropped at its end.
func config(t testing.TB) Config {
	t.Helper()
	c := Config{
		Address: address(t), Database: "default", Collection: collectionName(t), Model: "test", Dimensions: fixed(l1test.Dims),
		WriterFile: filepath.Join(t.TempDir(), "writer"),
	}
	t.Cleanup(func() { dropAll(t, c) })
	return c
}

func collectionName(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, t.Name())
	return fmt.Sprintf("t%x_%.60s", time.Now().UnixNano(), name)
}

func fixed(dims int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return dims, nil }
}

// dialed is a bare SDK client.
func dialed(t testing.TB, c Config) client.Client {
	t.Helper()
	cl, err := c.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

func dropAll(t testing.TB, c Config) {
	cl, err := c.dial()
	if err != nil {
		t.Error(err)
		return
	}
	defer cl.Close()
	ctx := context.Background()
	cl.DropAlias(ctx, c.Collection)
	all, err := cl.ListCollections(ctx)
	if err != nil {
		t.Errorf("clean up: %v", err)
	}
	for _, coll := range all {
		if strings.HasPrefix(coll.Name, c.Collection) {
			if err := cl.DropCollection(ctx, coll.Name); err != nil {
				t.Errorf("clean up: %v", err)
			}
		}
	}
}

func opened(t testing.TB, c Config) *Store {
	t.Helper()
	s, err := Open(c, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// logBuffer keeps what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func eventually(t testing.TB, patience time.Duration, what string, ok func() bool) {
	t.Helper()
	eventuallyOr(t, patience, what, ok, func() string { return "" })
}

// eventuallyOr tells more when it is not so.
func eventuallyOr(t testing.TB, patience time.Duration, what string, ok func() bool, more func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s %s", patience, what, more())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// SPEC 3.5: the contract of a store, on the real server.
func TestStore_3_5(t *testing.T) {
	address(t)
	configs := make(map[string]Config)
	l1test.TestStore(t, func(t *testing.T) l1.Store {
		c, ok := configs[t.Name()]
		if !ok {
			c = config(t)
			configs[t.Name()] = c
		}
		s := opened(t, c)
		if hits, err := s.Search(t.Context(), l1test.Vector(1), 1, ""); err == nil {
			t.Errorf("a search before anything is connected finds %v", hits)
		}
		if _, err := s.IDs(t.Context()); err != nil { // as l1.Index.Run does
			t.Fatal(err)
		}
		return s
	})
}
