package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/lookup"
)

func (w *world) list(q ipc.DocumentsQuery) (sources []string) {
	w.t.Helper()
	q.Limit = 2 // so that there are pages
	for {
		page, err := w.Documents(context.Background(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, rec := range page.Documents {
			sources = append(sources, rec.Source)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return sources
		}
	}
}

// SPEC 5.2: documents are listed, filtered and paged; a page is not disturbed by what comes and goes.
func TestDocuments_5_2(t *testing.T) {
	w := newWorld(t)
	w.save("api/a.md", doc("Alpha", "支付网关"))
	w.save("api/b.md", "# plain")
	w.save("ops/c.md", strings.Replace(doc("Gamma", "kw-gamma"), "summary", "aliases: [PG-504]\nsummary", 1))
	w.save("ops/d.md", "\x00\x00\xff")
	w.save("ops/e.md", "---\ntitle: [x\n---\n")
	w.start()
	cases := []struct {
		q    ipc.DocumentsQuery
		want string
	}{
		{ipc.DocumentsQuery{}, "kb/api/a.md kb/api/b.md kb/ops/c.md kb/ops/d.md kb/ops/e.md"},
		{ipc.DocumentsQuery{Category: "api"}, "kb/api/a.md kb/api/b.md"},
		{ipc.DocumentsQuery{Category: "nowhere"}, ""},
		{ipc.DocumentsQuery{Status: ipc.StatusFailed}, "kb/ops/d.md"},
		{ipc.DocumentsQuery{Status: ipc.StatusIndexed}, "kb/api/a.md kb/api/b.md kb/ops/c.md kb/ops/e.md"},
		{ipc.DocumentsQuery{Layer: "l0"}, "kb/api/a.md kb/ops/c.md"},
		{ipc.DocumentsQuery{Layer: "l1", Category: "api"}, "kb/api/a.md kb/api/b.md"},
		{ipc.DocumentsQuery{Warnings: true}, "kb/ops/d.md kb/ops/e.md"},
		{ipc.DocumentsQuery{Q: "支付"}, "kb/api/a.md"},
		{ipc.DocumentsQuery{Q: "ＰＧ-504"}, "kb/ops/c.md"},
		{ipc.DocumentsQuery{Q: "ops/"}, "kb/ops/c.md kb/ops/d.md kb/ops/e.md"},
	}
	for _, c := range cases {
		if got := strings.Join(w.list(c.q), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	var invalid *ipc.InvalidError
	for _, cursor := range []string{"%", "abcd"} {
		if _, err := w.Documents(context.Background(), ipc.DocumentsQuery{Limit: 2, Cursor: cursor}); !errors.As(err, &invalid) {
			t.Errorf("a cursor that is none: %v", err)
		}
	}
	page, err := w.Documents(context.Background(), ipc.DocumentsQuery{Limit: 2})
	w.must(err)
	rec := w.record("api/b.md")
	if _, err := w.Delete(context.Background(), rec.DocID, ipc.Match{}); err != nil {
		t.Fatal(err)
	}
	page, err = w.Documents(context.Background(), ipc.DocumentsQuery{Limit: 2, Cursor: page.NextCursor})
	if err != nil || len(page.Documents) != 2 || page.Documents[0].Source != "kb/ops/c.md" {
		t.Errorf("the next page: %+v, %v", page, err)
	}
}

// SPEC 1.4, 1.5, 2.9: one document: by id, by source in either spelling, its text, its chunks.
func TestDocument_1_5_2_9(t *testing.T) {
	w := newWorld(t)
	decomposed, composed := "u\u0308ber.md", "\u00fcber.md"
	w.save(decomposed, doc("Über", "kw-uber")+"\n## Section Two\n\nsecond part\n")
	w.start()
	rec := w.record(composed)
	ctx := context.Background()
	if byID, err := w.Document(ctx, rec.DocID); err != nil || byID.Source != rec.Source {
		t.Errorf("%+v, %v", byID, err)
	}
	c, err := w.Content(ctx, rec.DocID, ipc.ContentQuery{MaxChars: 2000})
	if err != nil || c.Content != w.read(decomposed) || c.Truncated || c.FileHash != rec.FileHash || len(c.AvailableSections) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = w.Content(ctx, rec.DocID, ipc.ContentQuery{MaxChars: 20}); err != nil || !c.Truncated || len([]rune(c.Content)) > 23 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = w.Content(ctx, rec.DocID, ipc.ContentQuery{MaxChars: 2000, Section: "section two"}); err != nil || c.Section == nil || !strings.Contains(c.Content, "second part") {
		t.Errorf("%+v, %v", c, err)
	}
	chunks, err := w.Chunks(ctx, rec.DocID)
	if err != nil || len(chunks) != rec.ChunkCount || !chunks[0].Synced || chunks[1].ChunkIndex != 1 || chunks[1].TotalChunks != len(chunks) || chunks[1].Title != "Über" {
		t.Errorf("%+v, %v", chunks, err)
	}
	w.save(decomposed, "\x00\xff\x00")
	var invalid *ipc.InvalidError
	if _, err = w.Content(ctx, rec.DocID, ipc.ContentQuery{MaxChars: 10}); err != nil && !errors.As(err, &invalid) {
		t.Errorf("text that is none: %v", err)
	}
	w.delete(decomposed)
	if _, err = w.Content(ctx, rec.DocID, ipc.ContentQuery{MaxChars: 10}); !errors.Is(err, ipc.ErrNotFound) {
		t.Errorf("a file that is gone: %v", err)
	}
	w.eventually("the record is gone", func() bool { return !w.has(decomposed) })
	_, err1 := w.Document(ctx, "nobody")
	_, err2 := w.BySource(ctx, "kb/nothing.md")
	_, err3 := w.Chunks(ctx, "nobody")
	_, err4 := w.Content(ctx, "nobody", ipc.ContentQuery{})
	for i, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, ipc.ErrNotFound) {
			t.Errorf("unknown, call %d: %v", i+1, err)
		}
	}
}

// What was deleted is never returned, not even before the watcher has seen it (SPEC 3.6).
func TestDeletedIsNotReturned_3_6(t *testing.T) {
	w := newWorld(t)
	w.cfg.Watch.Mode = "poll" // nothing is noticed by itself
	w.cfg.Watch.PollInterval = config.Duration(time.Hour)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	w.delete("a.md")
	if a := w.ask("kw-alpha"); a.Found || a.Primary != nil {
		t.Errorf("answer %+v", a)
	}
	w.eventually("the lookup told the watcher", func() bool { return !w.has("a.md") })
}

// SPEC 4.2: while the base folder is away, answers say so.
func TestMissingBaseIsTold_4_2(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	if a := w.ask("kw-alpha"); a.Hint != "" {
		t.Errorf("hint %q", a.Hint)
	}
	aside := w.base + ".aside"
	w.move("", aside)
	w.eventually("missing", func() bool { return w.status().Watch.BaseMissing })
	if a := w.ask("kw-alpha"); a.Found || a.Hint != "the documents folder is missing: put "+w.base+" back" {
		t.Errorf("answer %+v", a)
	}
	w.move(aside, "")
	w.eventually("back", func() bool { return !w.status().Watch.BaseMissing })
	w.idle()
	if a := w.ask("kw-alpha"); !a.Found || a.Hint != "" {
		t.Errorf("answer %+v", a)
	}
}

// A status with nothing pending counts what there is (API.md): the counts are not older than the zero.
func TestStatusIsWhole(t *testing.T) {
	w := newWorld(t)
	w.start()
	for i := range 60 {
		w.mustPut("", fmt.Sprintf("%d.md", i), doc(fmt.Sprint("Alpha ", i), fmt.Sprint("kw-", i)))
		for {
			s := w.status()
			if s.Pending != (ipc.Pending{}) {
				continue
			}
			if s.Documents.Total != i+1 || s.Documents.L1 != i+1 {
				t.Fatalf("status %+v after %d uploads", s.Documents, i+1)
			}
			break
		}
	}
}

// SPEC 3.5: without a semantic index the rest works.
func TestWithoutL1_3_5(t *testing.T) {
	w := newWorld(t)
	w.cfg.L1.Backend = config.BackendOff
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	s := w.status()
	if s.L1.State != ipc.L1Off || s.L1.Backend != config.BackendOff || s.Documents.L1 != 0 || s.Pending.L1 != 0 || s.Embedding.Model != "" {
		t.Errorf("status %+v", s)
	}
	if rec := w.record("a.md"); rec.Status != ipc.StatusIndexed || rec.InL1 {
		t.Errorf("record %+v", rec)
	}
	rec := w.mustPut("", "b.md", doc("Beta", "kw-beta"))
	if done, err := w.Delete(context.Background(), rec.DocID, ipc.Match{}); err != nil || !done {
		t.Error(done, err)
	}
	if job, err := w.Reconcile(context.Background(), false); err != nil || len(job.Problems) != 0 {
		t.Errorf("%+v, %v", job, err)
	}
	if chunks, err := w.Chunks(context.Background(), w.record("a.md").DocID); err != nil || chunks[0].Synced {
		t.Errorf("%+v, %v", chunks, err)
	}
	if err := w.WaitIndexed(context.Background(), 0); err != nil {
		t.Error(err)
	}
	if a := w.ask("text of alpha"); !a.Found {
		t.Errorf("answer %+v", a)
	}
}

// SPEC 7.2: lookups are kept and summed up.
func TestHistory_7_2(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	ctx := context.Background()
	for _, q := range []string{"kw-alpha", "kw-alpha", "quantum chromodynamics lattice"} {
		if _, err := w.Lookup(ctx, lookup.Request{Query: q, Caller: "me", Tool: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	var input *lookup.InputError
	if _, err := w.Lookup(ctx, lookup.Request{Query: " "}); !errors.As(err, &input) {
		t.Errorf("a blank question: %v", err)
	}
	all, err := w.Lookups(ctx, time.Time{}, 10)
	if err != nil || len(all) != 3 || all[0].Found || !all[2].Found || all[2].Confidence != "high" || all[2].Source != "kb/a.md" || all[2].Caller != "me" || all[2].Tool != "test" {
		t.Errorf("%+v, %v", all, err)
	}
	s, err := w.Stats(ctx, time.Time{})
	if err != nil || s.Lookups != 3 || s.Found != 2 || s.HitRate < 0.6 || len(s.Kinds) != 2 || s.Kinds[0].Lookups != 2 || len(s.Unanswered) != 1 || s.Since != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = w.Stats(ctx, time.Now().Add(time.Hour)); err != nil || s.Lookups != 0 || s.HitRate != 0 || s.Since == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// API.md, GET /v1/events: every change is told once, with what happened.
func TestEvents(t *testing.T) {
	w := newWorld(t).start()
	ctx, cancel := context.WithCancel(context.Background())
	events := w.Subscribe(ctx)
	var got []string
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.eventually("created", func() bool { return w.has("a.md") })
	w.save("a.md", doc("Beta", "kw-alpha"))
	w.eventually("updated", func() bool { return w.title("a.md") == "Beta" })
	w.save("a.md", "\x00\xff\x00")
	w.eventually("failed", func() bool { return w.record("a.md").Status == ipc.StatusFailed })
	w.delete("a.md")
	w.eventually("deleted", func() bool { return !w.has("a.md") })
	w.mustPut("", "b.md", doc("Up", "kw-up"))
	w.idle()
	states := map[string]bool{}
	updates := uint64(0)
	for deadline := time.After(patience); updates < 4 || len(got) < 5 || !states[ipc.L1Ready]; {
		select {
		case e := <-events:
			switch e.Type {
			case ipc.EventDocument:
				got = append(got, fmt.Sprintf("%s %s %s %t", e.Action, e.Source, e.Title, e.Error != ""))
				if e.DocID == "" || e.Time.IsZero() {
					t.Errorf("event %+v", e)
				}
			case ipc.EventIndex:
				updates = e.Updates
			case ipc.EventL1:
				states[e.State] = true
			}
		case <-deadline:
			t.Fatalf("events %q, updates %d, states %v", got, updates, states)
		}
	}
	want := "created kb/a.md Alpha false|updated kb/a.md Beta false|failed kb/a.md a true|deleted kb/a.md a false|created kb/b.md Up false"
	if strings.Join(got, "|") != want {
		t.Errorf("events %q", got)
	}
	cancel()
	for range events { // closed in the end
	}
}

// Faults of the file system become what the doors can tell (SPEC 5.1).
func TestFileError_5_1(t *testing.T) {
	fault := func(err error) error {
		return fileError("save a.md", &fs.PathError{Op: "open", Path: "/secret/a.md", Err: err})
	}
	if err := fault(syscall.EROFS); !errors.Is(err, ipc.ErrReadOnly) || strings.Contains(err.Error(), "/secret") {
		t.Error(err)
	}
	if err := fault(syscall.EACCES); !errors.Is(err, ipc.ErrReadOnly) {
		t.Error(err)
	}
	if err := fault(syscall.ENOSPC); !errors.Is(err, ipc.ErrNoSpace) {
		t.Error(err)
	}
	var invalid *ipc.InvalidError
	if err := fault(syscall.ENAMETOOLONG); !errors.As(err, &invalid) {
		t.Error(err)
	}
	if err := fault(syscall.EIO); !errors.Is(err, syscall.EIO) || !errors.Is(err, ipc.ErrReadOnly) {
		t.Error(err)
	}
	if isNotDir(syscall.ENOENT) || !isNotDir(syscall.ENOTDIR) || !isFault(&os.PathError{Err: syscall.EIO}) || isFault(fs.ErrNotExist) {
		t.Error("faults are mistaken")
	}
}
