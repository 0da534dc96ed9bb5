package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"knowledged/document"
)

func testLog(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// warnings is a log that keeps what it is told.
type warnings struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *warnings) log() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func (w *warnings) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.buf.String(), "level=WARN")
}

func hexSum(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:n]
}

// sample makes a document's change, determined by path and version.
func sample(path string, version, chunks int) Change {
	text := fmt.Sprintf("%s@%d", path, version)
	at := time.Date(2025, 1, 2, 3, 4, 5, 678, time.UTC).Add(time.Duration(version) * time.Hour)
	rec := &Record{
		DocID: hexSum(path, 36), Path: path, FileHash: hexSum(text, 64), FileSize: 9000, ModTime: at.UnixNano(), ChangeTime: at.UnixNano() + 1, Inode: 42,
		FormatVersion: 1, IndexedAt: at, CreatedAt: at, UpdatedAt: at,
		Title: "支付网关错误码定义 " + text, Summary: "记录了支付网关所有核心错误码的含义及排查方向", Category: "api",
		Keywords: []string{"ERR_TIMEOUT", "超时", "支付网关"}, Aliases: []string{"PG-504"},
		Metadata:       json.RawMessage(`{"title":"支付网关错误码定义","keywords":["ERR_TIMEOUT","超时","支付网关"],"version":"2.1"}`),
		HasFrontmatter: true, InL0: version%2 == 1, Chinese: true,
		Warnings:     []document.Warning{{Line: 3, Message: "a tab"}},
		SectionNames: []document.SectionName{{Name: "超时排查", Heading: "1. 超时类错误", Level: 2}},
		Sections:     []string{"超时排查", "1. 超时类错误", "2. 签名类错误", "ERR_TIMEOUT", "ERR_SIGN", "附录"},
	}
	c := Change{Path: path, Record: rec}
	for i := range chunks {
		chunk := document.Chunk{ID: hexSum(fmt.Sprintf("%s#%d", text, i), 32), Breadcrumb: rec.Title + " > " + rec.Sections[i%6], Text: strings.Repeat(text+" 超时", 60), Index: i, Total: chunks}
		if i == 0 {
			chunk.Head = &document.Head{Title: rec.Title, Keywords: rec.Keywords, Aliases: rec.Aliases, Summary: rec.Summary, Headings: rec.Sections}
		}
		c.Chunks = append(c.Chunks, chunk)
	}
	return c
}

// diff is cmp.Diff after a quicker look: nearly all that is compared is equal, and the race detector makes cmp slow.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// diffRecord compares what a record says; want was never stored.
func diffRecord(want, got *Record) string {
	said := *got
	said.chunkIDs, said.slot = "", 0
	if reflect.DeepEqual(want, &said) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Record{}))
}

func mustOpen(t testing.TB, dir string) *Registry {
	t.Helper()
	r, err := Open(dir, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func mustApply(t testing.TB, r *Registry, changes ...Change) {
	t.Helper()
	if err := r.Apply(changes); err != nil {
		t.Fatal(err)
	}
}

// expect checks that the registry holds exactly these documents, by every way of asking.
func expect(t *testing.T, r *Registry, want ...Change) {
	t.Helper()
	slices.SortFunc(want, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	all := r.All()
	if len(all) != len(want) || r.Len() != len(want) {
		t.Fatalf("%d records, Len %d, want %d", len(all), r.Len(), len(want))
	}
	var ids []string
	for i, c := range want {
		rec, ok := r.Get(c.Path)
		if !ok || rec != all[i] {
			t.Fatalf("Get(%s) = %v, %v; All has %s there", c.Path, rec, ok, all[i].Path)
		}
		if diff := diffRecord(c.Record, rec); diff != "" {
			t.Errorf("record %s (-want +got):\n%s", c.Path, diff)
		}
		if byID, ok := r.ByID(c.Record.DocID); !ok || byID != rec {
			t.Errorf("ByID(%s) = %v, %v", c.Record.DocID, byID, ok)
		}
		if !slices.Contains(r.ByHash(c.Record.FileHash), rec) {
			t.Errorf("ByHash(%s) lacks %s", c.Record.FileHash, c.Path)
		}
		chunks, err := r.Chunks(c.Path)
		if err != nil {
			t.Errorf("Chunks(%s): %v", c.Path, err)
		}
		if diff := diff(c.Chunks, chunks); diff != "" {
			t.Errorf("chunks of %s (-want +got):\n%s", c.Path, diff)
		}
		for j, want := range c.Chunks {
			ids = append(ids, want.ID)
			if owner, index, ok := r.Owner(want.ID); owner != rec || index != j || !ok {
				t.Errorf("Owner(%s) = %v, %d, %v", want.ID, owner, index, ok)
			}
			got, owner, ok := r.Chunk(want.ID)
			if diff := diff(want, got); diff != "" || owner != rec || !ok {
				t.Errorf("Chunk(%s): %v, %v (-want +got):\n%s", want.ID, owner, ok, diff)
			}
		}
		if got := rec.ChunkIDs(); len(got) != len(c.Chunks) || rec.ChunkCount() != len(c.Chunks) {
			t.Errorf("%s has ids %v, count %d", c.Path, got, rec.ChunkCount())
		}
	}
	if diff := cmp.Diff(ids, slices.Collect(r.ChunkIDs()), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ChunkIDs (-want +got):\n%s", diff)
	}
	if len(r.owners) != len(ids) || r.Len() != len(r.slots)-len(r.free) {
		t.Errorf("%d owners of %d ids; %d slots, %d free", len(r.owners), len(ids), len(r.slots), len(r.free))
	}
}

// SPEC 1.5: the registry survives restarts with every field.
func TestRegistry_1_5_SurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	a, b, failed := sample("api/a.md", 1, 6), sample("domain/b.md", 1, 1), Change{Path: "x.md", Record: &Record{DocID: "x", Path: "x.md", Error: "not text", FileHash: "f"}}
	r := mustOpen(t, dir)
	expect(t, r)
	mustApply(t, r, a, b, failed)
	expect(t, r, a, b, failed)
	if rec, _ := r.Get("x.md"); !rec.Failed() || !rec.IndexedAt.IsZero() {
		t.Errorf("failed record: %+v", rec)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = mustOpen(t, dir)
	expect(t, r, a, b, failed)

	a2 := sample("api/a.md", 2, 3)
	mustApply(t, r, a2, Change{Path: b.Path}, Change{Path: "never/was.md"})
	expect(t, r, a2, failed)
	r.Close()
	expect(t, mustOpen(t, dir), a2, failed)
	info, err := os.Stat(filepath.Join(dir, "registry.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("registry.db: %v, %v", info.Mode(), err)
	}
}

// SPEC 1.5: docId follows a rename, whichever order the two halves come in.
func TestRegistry_1_5_MoveKeepsDocID(t *testing.T) {
	for _, order := range []string{"delete first", "put first"} {
		t.Run(order, func(t *testing.T) {
			dir := t.TempDir()
			r := mustOpen(t, dir)
			from, to := sample("old.md", 1, 4), sample("new.md", 1, 4)
			to.Record.DocID, to.Record.FileHash = from.Record.DocID, from.Record.FileHash
			mustApply(t, r, from)
			changes := []Change{{Path: "old.md"}, to}
			if order == "put first" {
				slices.Reverse(changes)
			}
			mustApply(t, r, changes...)
			expect(t, r, to)
			r.Close()
			expect(t, mustOpen(t, dir), to)
		})
	}
}

func TestRegistry_KeepChunks(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	a := sample("a.md", 1, 5)
	mustApply(t, r, a)
	touched := *mustGet(t, r, "a.md")
	touched.ModTime++
	mustApply(t, r, Change{Path: "a.md", Record: &touched, KeepChunks: true})
	a.Record.ModTime++
	expect(t, r, a)
	r.Close()
	r = mustOpen(t, dir)
	expect(t, r, a)
	mustApply(t, r, Change{Path: "b.md", Record: &Record{DocID: "b", FileHash: "h"}, KeepChunks: true}) // nothing there to keep
	expect(t, r, a, Change{Path: "b.md", Record: &Record{Path: "b.md", DocID: "b", FileHash: "h"}})
}

func mustGet(t *testing.T, r *Registry, path string) *Record {
	t.Helper()
	rec, ok := r.Get(path)
	if !ok {
		t.Fatalf("no record of %s", path)
	}
	return rec
}

func TestRegistry_RecordsAreNotTheCallers(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	c := sample("a.md", 1, 1)
	mustApply(t, r, c)
	before := mustGet(t, r, "a.md")
	c.Record.Keywords[0] = "changed by the caller"
	if before.Keywords[0] != "ERR_TIMEOUT" {
		t.Error("the registry shares memory with the caller's record")
	}
	mustApply(t, r, sample("a.md", 2, 1))
	if before.Title != "支付网关错误码定义 a.md@1" {
		t.Errorf("a record that was handed out changed: %q", before.Title)
	}
}

func TestRegistry_ByHashTwins(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	paths := func() (p []string) {
		for _, rec := range r.ByHash("same") {
			p = append(p, rec.Path)
		}
		slices.Sort(p)
		return p
	}
	for _, p := range []string{"a.md", "b.md", "c.md"} {
		c := sample(p, 1, 1)
		c.Record.FileHash = "same"
		mustApply(t, r, c)
	}
	for _, step := range []struct {
		gone string
		want []string
	}{{"", []string{"a.md", "b.md", "c.md"}}, {"a.md", []string{"b.md", "c.md"}}, {"c.md", []string{"b.md"}}, {"b.md", nil}} {
		if step.gone != "" {
			mustApply(t, r, Change{Path: step.gone})
		}
		if got := paths(); !slices.Equal(got, step.want) {
			t.Errorf("after %q: %v, want %v", step.gone, got, step.want)
		}
	}
	if r.Bytes() != 0 || len(r.byHash)+len(r.twins)+len(r.byID)+len(r.owners) != 0 {
		t.Errorf("emptied registry still holds %d bytes", r.Bytes())
	}
}

func TestRegistry_BadChanges(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	good := sample("a.md", 1, 1)
	for name, bad := range map[string]Change{
		"empty path": {Record: &Record{}},
		"long path":  {Path: strings.Repeat("x", 40000), Record: &Record{}},
		"short id":   {Path: "b.md", Record: &Record{}, Chunks: []document.Chunk{{ID: "abc"}}},
		"not hex":    {Path: "b.md", Record: &Record{}, Chunks: []document.Chunk{{ID: strings.Repeat("z", 32)}}},
	} {
		if err := r.Apply([]Change{good, bad}); err == nil {
			t.Errorf("%s: no error", name)
		}
		expect(t, r) // all or nothing
	}
	for _, id := range []string{"", "x", strings.Repeat("0", 32), strings.Repeat("z", 32), strings.Repeat("0", 31) + "é"} {
		if _, _, ok := r.Owner(id); ok {
			t.Errorf("Owner(%q) found", id)
		}
		if _, _, ok := r.Chunk(id); ok {
			t.Errorf("Chunk(%q) found", id)
		}
	}
	if _, err := r.Chunks("none.md"); err == nil {
		t.Error("Chunks of an unknown path: no error")
	}
}

func TestRegistry_Closed(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	c := sample("a.md", 1, 2)
	mustApply(t, r, c)
	r.Close()
	if err := r.Apply([]Change{c}); !errors.Is(err, ErrClosed) {
		t.Errorf("Apply after Close: %v", err)
	}
	if _, _, ok := r.Chunk(c.Chunks[0].ID); ok {
		t.Error("Chunk after Close found something")
	}
	if _, err := r.Chunks("a.md"); !errors.Is(err, ErrClosed) {
		t.Errorf("Chunks after Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}
