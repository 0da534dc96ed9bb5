package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"knowledged/ipc"
	"knowledged/lookup"
)

// SPEC 1.2, 4.3: a missing base folder is made; the scan goes into folders and says what it found.
func TestFirstScan_1_2_4_3(t *testing.T) {
	w := newWorld(t)
	w.delete("")
	w.open()
	if n := len(w.log.lines("made the base folder")); n != 1 {
		t.Errorf("%d INFO lines on the base folder", n)
	}
	w.save("api/deep/er/a.md", doc("Alpha", "kw-alpha"))
	w.save("b.MARKDOWN", "# Bare\n\nno front matter")
	w.save("notes.txt", "not a document")
	if s := w.status(); s.Ready || s.Pending.L0 == 0 || s.Pending.L1 == 0 {
		t.Errorf("before the first scan: %+v", s)
	}
	w.run()
	w.idle()
	s := w.status()
	if !s.Ready || s.Documents != (ipc.StatusDocuments{Total: 2, L0: 1, L1: 2}) || s.Updates != 2 || s.L1.State != ipc.L1Ready {
		t.Errorf("status %+v", s)
	}
	line := w.log.lines("first scan done")
	if len(line) != 1 || line[0]["documents"] != 2.0 || line[0]["in_l0"] != 1.0 {
		t.Errorf("log %v", line)
	}
	a := w.record("api/deep/er/a.md")
	if a.Category != "api" || a.Status != ipc.StatusIndexed || !a.InL0 || !a.InL1 || a.ChunkCount != 2 || a.FileName != "a.md" || a.FilePath != w.abs("api/deep/er/a.md") {
		t.Errorf("record %+v", a) // SPEC 1.1, 1.5
	}
	if b := w.record("kb/b.MARKDOWN"); b.HasFrontmatter || b.InL0 || !b.InL1 {
		t.Errorf("record %+v", b) // SPEC 1.3
	}
}

// SPEC 2.10: while the first scan runs, lookups answer and say that the rest isn't known yet.
func TestLookupWhileIndexing_2_10(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	w.halt()
	w.save("b.md", doc("Beta", "kw-beta"))
	w.open()
	hold := make(chan struct{})
	read := w.pipeline.read
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		<-hold
		return read(abs, limit)
	}
	w.run()
	a := w.ask("kw-alpha") // known from before
	if !a.Found || a.Primary == nil || a.Primary.Confidence != "low" || len(a.Degraded) == 0 || a.Degraded[0] != lookup.DegradedIndexing {
		t.Errorf("answer %+v", a)
	}
	if s := w.status(); s.Ready || s.Pending.L0 == 0 {
		t.Errorf("status %+v", s)
	}
	short, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.WaitIndexed(short, 0); err == nil {
		t.Error("WaitIndexed returned before the first scan was done")
	}
	close(hold)
	if err := w.WaitIndexed(context.Background(), patience); err != nil {
		t.Fatal(err)
	}
	a = w.ask("kw-alpha")
	if a.Primary == nil || a.Primary.Confidence != "high" || len(a.Degraded) != 0 || !w.answers("kw-beta", "b.md") {
		t.Errorf("answer %+v", a)
	}
}

// SPEC 3.6: vectors that cannot be made now are not waited for.
func TestWaitIndexed_ProviderDown_3_6(t *testing.T) {
	w := newWorld(t)
	w.cfg.Embedding.Provider = "openai"
	w.cfg.Embedding.OpenAI.BaseURL = "http://127.0.0.1:9/v1"
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.open().run()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.WaitIndexed(ctx, 2*patience); err != nil || w.status().Pending.L1 == 0 {
		t.Errorf("%v, pending %+v", err, w.status().Pending)
	}
}

// SPEC 1.4, 1.5: what can't be a document is FAILED with its reason, named once, and nothing else is held up.
func TestFailedFiles_1_4_1_5(t *testing.T) {
	w := newWorld(t)
	w.cfg.Knowledge.MaxFileSize = 2000
	w.save("binary.md", "a\x00\x01\x02\xff\xfe\x00b\x00")
	w.save("large.md", doc("Large", "kw-large")+strings.Repeat("x", 3000))
	w.save("good.md", doc("Good", "kw-good"))
	w.save("folder.md/inside.md", doc("Inside", "kw-inside"))
	w.must(makePipe(w.abs("pipe.md")))
	w.start()
	for path, part := range map[string]string{"binary.md": "", "large.md": "max_file_size"} {
		rec := w.record(path)
		if rec.Status != ipc.StatusFailed || rec.ErrorMessage == "" || !strings.Contains(rec.ErrorMessage, part) || rec.IndexedAt != nil || rec.ChunkCount != 0 {
			t.Errorf("record %+v", rec)
		}
	}
	if s := w.status(); s.Documents.Failed != 2 || s.Documents.Total != 4 {
		t.Errorf("status %+v", s.Documents)
	}
	if !w.answers("kw-good", "good.md") || !w.answers("kw-inside", "folder.md/inside.md") || w.has("pipe.md") {
		t.Errorf("documents %q", w.paths())
	}
	// A folder of a document's name, then the same files again: nobody is told twice.
	w.move("folder.md", "other")
	now := w.log.lines("WARN")
	w.settle()
	w.watcher.Rescan()
	w.settle()
	named := map[string]int{}
	for _, line := range w.log.lines("WARN") {
		named[line["path"].(string)]++
	}
	if len(now) != 3 || len(named) != 3 || named["binary.md"] != 1 || named["large.md"] != 1 || named["pipe.md"] != 1 {
		t.Errorf("warned of %v", named)
	}
	// Mended, they are documents; a limit that was raised is believed at the next start.
	w.save("binary.md", doc("Binary", "kw-binary"))
	w.eventually("mended", func() bool { return w.answers("kw-binary", "binary.md") })
	w.halt()
	w.cfg.Knowledge.MaxFileSize = 1 << 20
	w.start()
	if !w.answers("kw-large", "large.md") {
		t.Errorf("record %+v", w.record("large.md"))
	}
}

// A document that becomes unfit leaves both indexes (SPEC 1.4, 3.6).
func TestDocumentBecomesBinary_1_4(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	id := w.record("a.md").DocID
	w.save("a.md", "\x00\x01\x02\x03\xff\x00")
	w.eventually("failed", func() bool { return w.record("a.md").Status == ipc.StatusFailed })
	w.idle()
	if w.inL0() != 0 || w.l1.Status().Chunks != 0 || w.known("kw-alpha") || w.record("a.md").DocID != id {
		t.Errorf("%d chunks in L0, %d in L1", w.inL0(), w.l1.Status().Chunks)
	}
}

// SPEC 1.3: each document to mend is named, but a first scan doesn't flood the log.
func TestWarningsAreSummedUp_1_3(t *testing.T) {
	w := newWorld(t)
	for i := range briefWarnings + 5 {
		w.save(fmt.Sprintf("%02d.md", i), "---\ntitle: [broken\n---\ntext")
	}
	w.start()
	lines := w.log.lines("WARN")
	if len(lines) != briefWarnings+1 || lines[briefWarnings]["more"] != 5.0 {
		t.Errorf("%d WARNs, the last %v", len(lines), lines[len(lines)-1])
	}
	if lines[0]["path"] == "" || lines[0]["line"] == nil || lines[0]["requestId"] == "" {
		t.Errorf("line %v", lines[0])
	}
	list, err := w.Documents(context.Background(), ipc.DocumentsQuery{Warnings: true, Limit: 100})
	if err != nil || len(list.Documents) != briefWarnings+5 || w.status().Documents.Warnings != briefWarnings+5 {
		t.Errorf("%d documents with warnings (%v)", len(list.Documents), err)
	}
	w.log.reset()
	w.save("late.md", "---\ntitle: [broken\n---\ntext")
	w.eventually("warned", func() bool { return len(w.log.lines("WARN")) == 1 })
}

// A link that takes a document's place, and an ignore rule that comes to name it, end the document (SPEC 4.1).
func TestLinkOrRuleEndsADocument_4_1(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.save("dir/b.md", doc("Beta", "kw-beta"))
	w.save("c.md", doc("Gamma", "kw-gamma"))
	w.start()
	outside := t.TempDir()
	w.move("a.md", outside+"/a.md")
	w.move("dir", outside+"/dir")
	for from, to := range map[string]string{"a.md": outside + "/a.md", "dir": outside + "/dir"} {
		if err := os.Symlink(to, w.abs(from)); err != nil {
			t.Fatal(err)
		}
	}
	w.save(".knowledgeignore", "c.md\n")
	w.watcher.Rescan()
	w.eventually("all gone", func() bool { return len(w.paths()) == 0 })
	w.idle()
	if w.inL0() != 0 {
		t.Errorf("%d chunks stay", w.inL0())
	}
}
