package lookup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"knowledged/document"
)

// logged collects log lines as maps.
func logged(w *world) func() []map[string]any {
	var b bytes.Buffer
	w.log = slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return func() []map[string]any {
		var out []map[string]any
		for line := range strings.Lines(b.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				w.t.Fatalf("%v: %s", err, line)
			}
			out = append(out, m)
		}
		return out
	}
}

func count(lines []map[string]any, level string) (n int) {
	for _, l := range lines {
		if l["level"] == level {
			n++
		}
	}
	return n
}

// SPEC 2.10: L1 slower than the timeout, or failing: L0's answer at once, degraded, one WARN.
func TestL1LateOrFailing_2_10(t *testing.T) {
	for _, tt := range []struct {
		name  string
		set   func(*world)
		state string
		took  time.Duration
	}{
		{"hangs until its context ends", func(w *world) { w.meaningIs = hang }, L1Timeout, 400 * time.Millisecond},
		{"deaf to its context", func(w *world) { w.meaningIs = deaf(time.Second) }, L1Timeout, 400 * time.Millisecond},
		{"shorter timeout", func(w *world) { w.meaningIs = hang; w.cfg.L1Timeout = 50 * time.Millisecond }, L1Timeout, 50 * time.Millisecond},
		{"fails", func(w *world) { w.meaningErr = errBoom }, L1Failed, 0},
		{"panics", func(w *world) { w.meaningIs = func(context.Context) { panic("segment gone") } }, L1Failed, 0},
		{"in time", func(w *world) { w.meaningIs = deaf(399 * time.Millisecond) }, L1Used, 399 * time.Millisecond},
		{"beside a slow full text", func(w *world) { w.meaningIs = deaf(300 * time.Millisecond); w.textIs = deaf(300 * time.Millisecond) }, L1Used, 300 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := threeDocs(t)
				good(w)
				w.match("api/a.md", "ops/c.md")
				tt.set(w)
				lines := logged(w)
				start := time.Now()
				a := w.lookup(Request{})
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if a.Decision.L1 != tt.state || !a.Found || a.Primary == nil || a.Timings.L1Ms > 400 {
					t.Errorf("%+v", a)
				}
				want, warns := []string{DegradedL1}, 1
				if tt.state == L1Used {
					want, warns = []string{}, 0
				} else if a.Supplement != nil || !strings.Contains(a.Primary.Content, "---") {
					t.Errorf("supplement %+v, content %q", a.Supplement, a.Primary.Content)
				}
				wantList(t, "degraded", a.Degraded, want)
				if n := count(lines(), "WARN"); n != warns {
					t.Errorf("%d WARN lines, want %d", n, warns)
				}
				time.Sleep(time.Second) // abandoned searches end: synctest fails on goroutines left behind
			})
		})
	}
}

// SPEC 2.10: L0 unusable: L1's answer.
func TestL0Unusable_2_10(t *testing.T) {
	for name, set := range map[string]func(*world){
		"full text fails":  func(w *world) { w.textErr = errBoom },
		"full text panics": func(w *world) { w.textIs = func(context.Context) { panic("slice bounds out of range") } },
	} {
		t.Run(name, func(t *testing.T) {
			w := threeDocs(t)
			good(w)
			set(w)
			lines := logged(w)
			a := w.lookup(Request{})
			wantList(t, "degraded", a.Degraded, []string{DegradedL0})
			if !a.Found || a.Supplement == nil || a.Supplement.Source != "kb/api/b.md" || len(a.Results) != 3 || count(lines(), "WARN") != 1 {
				t.Errorf("%+v", a)
			}
			w.match("ops/c.md", "api/a.md") // names still match: they live in memory
			if a = w.lookup(Request{}); a.Primary == nil || a.Primary.Source != "kb/api/a.md" || a.Primary.Confidence != Low {
				t.Errorf("primary %+v", a.Primary)
			}
			w.meaningErr = errBoom
			w.matches = nil
			a = w.lookup(Request{})
			wantList(t, "both", a.Degraded, []string{DegradedL0, DegradedL1})
			if a.Found {
				t.Error("found, with no index left")
			}
		})
	}
}

// SPEC 2.10: while the first scan runs a unique match is low: the rest isn't known yet.
func TestIndexing_2_10(t *testing.T) {
	w := threeDocs(t)
	w.indexing = true
	w.match("api/a.md")
	a := w.lookup(Request{})
	wantList(t, "degraded", a.Degraded, []string{DegradedIndexing})
	if a.Primary.Confidence != Low || a.Decision.Reason != ReasonUniqueIndexing || a.Decision.L1 != L1Skipped || !strings.Contains(a.Primary.Content, "---") {
		t.Errorf("%+v %+v", a.Decision, a.Primary)
	}
}

// A client that goes away gets its context's error, and no WARN blames an index.
func TestClientGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := threeDocs(t)
		w.meaningIs, w.textIs, w.textErr = hang, hang, context.Canceled
		lines := logged(w)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		a, err := w.engine().Lookup(ctx, Request{Query: "query"})
		if a != nil || !errors.Is(err, context.Canceled) || count(lines(), "WARN") != 0 {
			t.Errorf("%v, %v, %v", a, err, lines())
		}
		synctest.Wait()
	})
}

// SPEC 3.6, 4.1: what was deleted is never returned, whichever index still knows it; a file that an editor is just
// replacing is waited for.
func TestVanishedFiles_4_1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := threeDocs(t)
		good(w)
		w.match("api/a.md", "ops/c.md")
		w.missing["api/a.md"], w.missing["api/b.md"] = -1, -1
		start := time.Now()
		a := w.lookup(Request{})
		if took := time.Since(start); took > presenceWait+movedWait+2*presenceStep {
			t.Errorf("waited %v", took)
		}
		if a.Decision.L0Matches != 1 || a.Primary.Source != "kb/ops/c.md" || a.Primary.Confidence != High {
			t.Errorf("%+v %+v", a.Decision, a.Primary)
		}
		w.matches = nil
		a = w.lookup(Request{})
		for _, s := range sources(a) {
			if s != "ops/c.md" {
				t.Errorf("results hold %s", s)
			}
		}
		if a.Supplement != nil && a.Supplement.Source != "kb/ops/c.md" {
			t.Errorf("supplement %+v", a.Supplement)
		}

		w = threeDocs(t)
		w.match("api/a.md")
		w.missing["api/a.md"] = 4 // between unlink and rename for some 6 ms
		if a = w.lookup(Request{}); !a.Found || a.Primary == nil || a.Primary.Confidence != High {
			t.Errorf("a save in progress lost the document: %+v", a)
		}
	})
}

// SPEC 4.1: a document that was moved and is not yet known at its new place is waited for; what the index has dropped
// already holds nobody up.
func TestMovedDocumentIsWaitedFor_4_1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := threeDocs(t)
		w.match("api/a.md")
		w.missing["api/a.md"] = -1
		start := time.Now()
		w.looked = func() {
			if w.docs["api/a.md"] != nil && time.Since(start) > 40*time.Millisecond { // the watcher's quiet time, and the update
				delete(w.docs, "api/a.md")
				w.add("ops/a.md", "Moved", "ops", "text")
				w.matches = nil
				w.match("ops/a.md")
			}
		}
		a := w.lookup(Request{})
		if took := time.Since(start); !a.Found || a.Primary == nil || a.Primary.Source != "kb/ops/a.md" || took > 50*time.Millisecond {
			t.Errorf("after %v: %+v", took, a)
		}
		w.matches, start = nil, time.Now()
		if a = w.lookup(Request{}); a.Decision.L0Matches != 0 || time.Since(start) > 0 {
			t.Errorf("%+v, waited %v", a.Decision, time.Since(start))
		}
	})
}

// A folder that is gone, or an index that does not get on, holds up one lookup and not each.
func TestMissingFolderHoldsUpOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := threeDocs(t)
		w.match("api/a.md", "api/b.md")
		w.missing["api/a.md"], w.missing["api/b.md"] = -1, -1
		e := w.engine()
		lookup := func() (*Answer, time.Duration) {
			start := time.Now()
			a, err := e.Lookup(t.Context(), Request{Query: "query"})
			if err != nil {
				t.Fatal(err)
			}
			return a, time.Since(start)
		}
		if _, took := lookup(); took < movedWait {
			t.Errorf("waited %v", took)
		}
		for range 3 {
			if a, took := lookup(); took > 0 || a.Decision.L0Matches != 0 {
				t.Errorf("waited %v again: %+v", took, a.Decision)
			}
		}
		// Back again: a save by rename is waited for as ever.
		w.missing["api/a.md"] = 0
		lookup()
		w.missing["api/a.md"] = 3
		if a, _ := lookup(); a.Decision.L0Matches != 1 {
			t.Errorf("%+v", a.Decision)
		}
		w.missing["api/a.md"] = -1
		time.Sleep(vainFor + time.Second)
		if _, took := lookup(); took < movedWait {
			t.Errorf("waited %v", took)
		}
	})
}

// What settles while another path does not is matched all the same.
func TestOneOfTwoSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := threeDocs(t)
		w.match("api/a.md", "api/b.md")
		w.missing["api/a.md"], w.missing["api/b.md"] = -1, -1
		start := time.Now()
		w.looked = func() {
			if w.docs["api/a.md"] != nil && time.Since(start) > 40*time.Millisecond {
				delete(w.docs, "api/a.md")
				w.add("ops/a.md", "Moved", "ops", "text")
				w.matches = nil
				w.match("ops/a.md", "api/b.md")
			}
		}
		if a := w.lookup(Request{}); !a.Found || a.Primary == nil || a.Primary.Source != "kb/ops/a.md" {
			t.Errorf("%+v", a)
		}
	})
}

// Chunks and documents that the registry does not know are dropped, and count as no answer of L1.
func TestUnknownChunksAreDropped_3_6(t *testing.T) {
	w := threeDocs(t)
	w.meaning = []document.Hit{hit("gone#1", 0.9)}
	w.text = []document.Hit{hit("gone#2", 9)}
	w.match("api/a.md", "api/b.md", "gone.md")
	a := w.lookup(Request{})
	if a.Decision.L0Matches != 2 || a.Decision.L1 != L1Empty || a.Supplement != nil || !strings.Contains(a.Primary.Content, "---") {
		t.Errorf("%+v %+v", a.Decision, a.Supplement)
	}
}

// A file that cannot be read now: the record answers, with a WARN that names the path.
func TestUnreadableFile_2_9(t *testing.T) {
	w := threeDocs(t)
	w.match("api/a.md")
	delete(w.files, "api/a.md")
	lines := logged(w)
	a := w.lookup(Request{})
	if !strings.Contains(a.Primary.Content, "Source: api/a.md") || a.Primary.AvailableSections == nil {
		t.Errorf("%+v", a.Primary)
	}
	for _, l := range lines() {
		if l["level"] == "WARN" && l["path"] == "api/a.md" {
			return
		}
	}
	t.Error("no WARN names the file")
}

// SPEC 7.1: one INFO line at the end, the requestId on every line, a WARN for a slow lookup.
func TestLogging_7_1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := threeDocs(t)
		good(w)
		w.textIs = deaf(2100 * time.Millisecond)
		lines := logged(w)
		a := w.lookup(Request{RequestID: "abc-1", Caller: "test"})
		if a.RequestID != "abc-1" {
			t.Errorf("requestId %s", a.RequestID)
		}
		all := lines()
		for _, l := range all {
			if l["requestId"] != "abc-1" {
				t.Errorf("line without requestId: %v", l)
			}
		}
		if count(all, "INFO") != 1 || count(all, "WARN") != 1 || count(all, "DEBUG") < 4 {
			t.Errorf("lines: %v", all)
		}
		info := all[len(all)-2]
		for _, k := range []string{"reason", "l0Matches", "l1", "supplement", "similarity", "l0Ms", "l1Ms", "took"} {
			if _, ok := info[k]; !ok {
				t.Errorf("INFO line lacks %s: %v", k, info)
			}
		}
		w.textIs = nil
		if a = w.lookup(Request{RequestID: "has blank"}); !ValidRequestID(a.RequestID) || len(a.RequestID) != 8 {
			t.Errorf("made requestId %q", a.RequestID)
		}
	})
}
