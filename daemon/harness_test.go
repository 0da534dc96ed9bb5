package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/lookup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far beyond what anything here takes; a test that is right never waits it out.
const patience = 60 * time.Second

// world is a daemon on a folder of its own. Nothing runs before start.
type world struct {
	*Daemon
	t     testing.TB
	base  string
	cfg   config.Config
	log   *logBook
	reads atomic.Int64 // files read by the pipeline
	stop  func()
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, base: filepath.Join(dir, "kb"), cfg: config.Default(), log: &logBook{}}
	w.cfg.Knowledge.BasePath = w.base
	w.cfg.StateDir = filepath.Join(dir, "state")
	if err := os.Mkdir(w.base, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.halt() })
	return w
}

// open makes the daemon without running it, so that a test may put something into its works.
func (w *world) open() *world {
	w.t.Helper()
	d, err := New(&w.cfg, "test", slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		w.t.Fatal(err)
	}
	w.Daemon = d
	w.reads.Store(0)
	read := d.pipeline.read
	d.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		w.reads.Add(1)
		return read(abs, limit)
	}
	return w
}

func (w *world) run() *world {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	d := w.Daemon
	go func() { ended <- d.Run(ctx, nil) }()
	w.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Run: %v", err)
		}
		if err := d.Close(); err != nil {
			w.t.Errorf("Close: %v", err)
		}
	}
	return w
}

// start runs the daemon and waits until all there is has been indexed.
func (w *world) start() *world {
	w.t.Helper()
	w.open().run()
	w.idle()
	return w
}

func (w *world) halt() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *world) eventually(what string, cond func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for !cond() {
		if time.Now().After(deadline) {
			log := w.log.text()
			w.t.Fatalf("%s: not within %s\nstatus %+v\nthe end of the log:\n%s", what, patience, w.status(), log[max(0, len(log)-4000):])
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

func (w *world) status() ipc.Status {
	s, _ := w.Status(context.Background())
	return s
}

func (w *world) idle() {
	w.t.Helper()
	w.eventually("nothing pending", func() bool {
		s := w.status()
		return s.Ready && s.Pending == ipc.Pending{}
	})
}

// settle waits until all that happened in the folder so far is applied: what was saved later is known.
func (w *world) settle() {
	w.t.Helper()
	marker := fmt.Sprintf("zz-marker-%d.md", time.Now().UnixNano())
	w.save(marker, doc("marker", marker))
	w.eventually("marker indexed", func() bool { return w.has(marker) })
	w.delete(marker)
	w.eventually("marker gone", func() bool { return !w.has(marker) })
	w.idle()
}

const settleUpdates = 2 // index updates that settle itself makes

// updatesOf counts the index updates that do causes.
func (w *world) updatesOf(do func()) int {
	w.t.Helper()
	before := w.status().Updates
	do()
	w.settle()
	return int(w.status().Updates-before) - settleUpdates
}

// cool waits until all saves so far are old news: the watcher has files of this very moment looked at twice, since their
// times might not show another write.
func (w *world) cool() {
	w.t.Helper()
	saved := time.Now()
	w.eventually("time passes", func() bool { return time.Since(saved) > 100*time.Millisecond })
}

func (w *world) abs(path string) string { return filepath.Join(w.base, filepath.FromSlash(path)) }

func (w *world) save(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.abs(path)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.abs(path), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(path string) {
	w.t.Helper()
	if err := os.RemoveAll(w.abs(path)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) move(from, to string) {
	w.t.Helper()
	if !filepath.IsAbs(from) {
		from = w.abs(from)
	}
	if !filepath.IsAbs(to) {
		to = w.abs(to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) has(path string) bool {
	_, ok := w.registry.Get(path)
	return ok
}

// title of the document at path, empty if there is none.
func (w *world) title(path string) string {
	rec, ok := w.registry.Get(path)
	if !ok {
		return ""
	}
	return rec.Title
}

func (w *world) record(path string) ipc.Record {
	w.t.Helper()
	rec, err := w.BySource(context.Background(), path)
	if err != nil {
		w.t.Fatalf("record of %s: %v", path, err)
	}
	return rec
}

func (w *world) paths() (all []string) {
	for _, rec := range w.registry.All() {
		all = append(all, rec.Path)
	}
	return all
}

func (w *world) ask(query string) *lookup.Answer {
	w.t.Helper()
	a, err := w.Lookup(context.Background(), lookup.Request{Query: query})
	if err != nil {
		w.t.Fatalf("lookup %q: %v", query, err)
	}
	return a
}

// answers reports whether query has this document as its unique match.
func (w *world) answers(query, path string) bool {
	a := w.ask(query)
	return a.Primary != nil && a.Decision.L0Matches == 1 && a.Primary.Source == "kb/"+path
}

// known reports whether a document has query among its names.
func (w *world) known(query string) bool { return w.ask(query).Decision.L0Matches > 0 }

// inL0 is the number of chunks in the full text.
func (w *world) inL0() int {
	ids, err := w.l0.IDs()
	if err != nil {
		w.t.Fatal(err)
	}
	return len(ids)
}

// doc is a document that is in L0 by its keyword.
func doc(title, keyword string) string {
	return "---\ntitle: " + title + "\nkeywords: [" + keyword + "]\nsummary: about " + keyword + "\n---\n\n## Part\n\nText of " + title + ".\n"
}

// logBook keeps JSON log lines.
type logBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBook) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *logBook) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Reset()
}

// lines are those of a level, or with this message.
func (b *logBook) lines(levelOrPart string) (found []map[string]any) {
	lines := bufio.NewScanner(strings.NewReader(b.text()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if msg, _ := line["msg"].(string); line["level"] == levelOrPart || strings.Contains(msg, levelOrPart) {
			found = append(found, line)
		}
	}
	return found
}

func lookupRequest(query string) lookup.Request { return lookup.Request{Query: query} }
