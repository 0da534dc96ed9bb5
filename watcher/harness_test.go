package watcher

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each awaited condition.
const patience = 60 * time.Second

// bench is a watcher on a real folder with a reader that does what a daemon does: it looks at the disk.
type bench struct {
	t    *testing.T
	root string
	w    *Watcher
	logs *logBuffer

	mu      sync.Mutex
	known   map[string]string // path → content: the daemon's index
	updates map[string]int    // path → how often its content was found changed, or it gone
	batches []Batch
	skipped map[string]string

	before func() // runs in the watcher's goroutine ahead of Run

	fsw  *fsnotify.Watcher // the latest one opened
	hold chan struct{}     // while not nil, the reader stops before Done until it can receive
}

type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newBench prepares a watcher that start runs. files are written before: name, content, name, content …
func newBench(t *testing.T, cfg Config, files ...string) *bench {
	t.Helper()
	b := &bench{t: t, root: filepath.Join(t.TempDir(), "kb"), logs: &logBuffer{}, known: map[string]string{}, updates: map[string]int{}, skipped: map[string]string{}}
	if err := os.MkdirAll(b.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		b.put(files[i], files[i+1])
	}
	cfg.Base = b.root
	w, err := New(cfg, slog.New(slog.NewTextHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	w.grace = 400 * time.Millisecond
	open := w.open
	w.open = func() (*fsnotify.Watcher, error) {
		fsw, err := open()
		b.mu.Lock()
		b.fsw = fsw
		b.mu.Unlock()
		return fsw, err
	}
	b.w = w
	return b
}

// start runs watcher and reader until the test ends and waits for the first listing.
func (b *bench) start() *bench {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan Batch)
	var wg sync.WaitGroup
	wg.Go(func() {
		if b.before != nil {
			b.before()
		}
		if err := b.w.Run(ctx, out); !errors.Is(err, context.Canceled) {
			b.t.Errorf("Run returned %v", err)
		}
	})
	wg.Go(func() {
		for {
			select {
			case batch := <-out:
				b.apply(batch)
				b.mu.Lock()
				hold := b.hold
				b.mu.Unlock()
				if hold != nil {
					select {
					case <-hold:
					case <-ctx.Done():
					}
				}
				b.w.Done(batch)
			case <-ctx.Done():
				return
			}
		}
	})
	b.t.Cleanup(func() {
		cancel()
		wg.Wait()
		if b.t.Failed() {
			b.t.Logf("log:\n%s", b.logs)
		}
	})
	b.idle()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.batches) == 0 || !b.batches[0].All {
		b.t.Fatalf("first batch is not the full listing: %+v", b.batches)
	}
	return b
}

// apply is the daemon in short.
func (b *bench) apply(batch Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, batch)
	if len(b.batches) == 1 && !batch.All {
		b.t.Error("first batch is not the full listing")
	}
	for _, s := range batch.Skipped {
		b.skipped[s.Path] = s.Reason
	}
	paths := batch.Paths
	if batch.All {
		for path := range b.known {
			if !slices.Contains(batch.Paths, path) {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		if !b.w.IsDocument(path) {
			b.t.Errorf("not a document: %s", path)
		}
		old, known := b.known[path]
		var text []byte
		_, err := b.w.Stat(path)
		if err == nil {
			text, err = os.ReadFile(b.file(path))
		}
		switch {
		case err != nil && known:
			delete(b.known, path)
			b.updates[path]++
		case err == nil && (!known || old != string(text)):
			b.known[path] = string(text)
			b.updates[path]++
		}
	}
}

// idle waits until nothing is pending.
func (b *bench) idle() {
	b.t.Helper()
	b.await("idle", func() bool { return b.w.Status().Pending == 0 })
}

func (b *bench) await(what string, ok func() bool) {
	b.t.Helper()
	await(b.t, what, ok)
}

func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(time.Millisecond) // the pace of looking, not a wait for something to have happened
	}
}

// index waits until the reader knows exactly these documents: path, content, path, content …
func (b *bench) index(want ...string) {
	b.t.Helper()
	state := func() string {
		b.mu.Lock()
		defer b.mu.Unlock()
		var lines []string
		for path, text := range b.known {
			lines = append(lines, path+"="+text)
		}
		slices.Sort(lines)
		return strings.Join(lines, " ")
	}
	var lines []string
	for i := 0; i < len(want); i += 2 {
		lines = append(lines, want[i]+"="+want[i+1])
	}
	slices.Sort(lines)
	goal := strings.Join(lines, " ")
	end := time.Now().Add(patience)
	for state() != goal {
		if time.Now().After(end) {
			b.t.Fatalf("index is\n%s\nwant\n%s", state(), goal)
		}
		time.Sleep(time.Millisecond)
	}
	b.idle()
	if got := state(); got != goal {
		b.t.Fatalf("index became\n%s\nwant\n%s", got, goal)
	}
}

// count returns how often the reader found path changed since start.
func (b *bench) count(path string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.updates[path]
}

func (b *bench) reason(path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.skipped[path]
}

// alls returns how many full listings came so far.
func (b *bench) alls() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, batch := range b.batches {
		if batch.All {
			n++
		}
	}
	return n
}

func (b *bench) file(name string) string { return filepath.Join(b.root, filepath.FromSlash(name)) }

func (b *bench) put(name, text string) {
	b.t.Helper()
	put(b.t, b.root, name, text)
}

func (b *bench) mv(from, to string) {
	b.t.Helper()
	b.must(os.Rename(b.file(from), b.file(to)))
}

func (b *bench) rm(name string) {
	b.t.Helper()
	b.must(os.RemoveAll(b.file(name)))
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}
