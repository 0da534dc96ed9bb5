package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	bolt "go.etcd.io/bbolt"
	"go.uber.org/goleak"
)

var epoch = time.Date(2025, 5, 6, 7, 8, 9, 0, time.UTC)

func lookupAt(i int) Lookup {
	return Lookup{
		RequestID: fmt.Sprintf("%08d", i), Query: fmt.Sprintf("query %d", i), Reason: "unique_match", Confidence: "high", Found: true,
		L0Matches: 1, Source: "knowledge_base/a.md", TotalMs: float64(i), L0Ms: 0.5, Caller: "socket", Time: epoch.Add(time.Duration(i) * time.Second),
	}
}

func mustHistory(t *testing.T, dir string) *History {
	t.Helper()
	h, err := OpenHistory(dir, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func ids(list []Lookup) string {
	var s []string
	for _, l := range list {
		s = append(s, strings.TrimLeft(l.RequestID, "0"))
	}
	return strings.Join(s, " ")
}

// SPEC 7.2: the history is kept, bounded, and can be listed.
func TestHistory_7_2_KeptAndBounded(t *testing.T) {
	dir := t.TempDir()
	h := mustHistory(t, dir)
	h.size = 5
	for i := 1; i <= 4; i++ {
		h.Add(lookupAt(i))
	}
	if got := ids(h.List(time.Time{}, 0)); got != "4 3 2 1" {
		t.Errorf("before a flush: %s", got)
	}
	if err := h.flush(); err != nil {
		t.Fatal(err)
	}
	for i := 5; i <= 7; i++ {
		h.Add(lookupAt(i))
	}
	if got := ids(h.List(time.Time{}, 0)); got != "7 6 5 4 3" {
		t.Errorf("half on disk: %s", got)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.Add(lookupAt(99))
	if got := h.List(time.Time{}, 0); got == nil || len(got) != 0 {
		t.Errorf("after Close: %v", got)
	}

	h = mustHistory(t, dir)
	if got := ids(h.List(time.Time{}, 0)); got != "7 6 5 4 3" {
		t.Errorf("after a restart: %s", got)
	}
	h.Add(lookupAt(8))
	if got := ids(h.List(epoch.Add(6*time.Second), 0)); got != "8 7 6" {
		t.Errorf("since: %s", got)
	}
	if got := h.List(time.Time{}, 1); len(got) != 1 || !cmp.Equal(got[0], lookupAt(8)) {
		t.Errorf("newest: %+v", got)
	}
	if err := h.flush(); err != nil {
		t.Fatal(err)
	}
	if got := h.List(epoch, 1); !cmp.Equal(got[0], lookupAt(8)) {
		t.Errorf("read back: %+v", got[0])
	}
}

func TestHistory_7_2_RunFlushesAndEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	h := mustHistory(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 250 {
				h.Add(lookupAt(g*250 + i))
				if i%50 == 0 {
					h.List(time.Time{}, 10)
				}
			}
		})
	}
	wg.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(h.recent) != 0 {
		t.Errorf("%d lookups are not on disk after Run", len(h.recent))
	}
	seen := map[string]bool{}
	for _, l := range h.List(time.Time{}, 0) {
		seen[l.RequestID] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d of 1000 lookups", len(seen))
	}
	h.Close()
}

func TestHistory_LongQueryIsCut(t *testing.T) {
	h := mustHistory(t, t.TempDir())
	h.Add(Lookup{Query: strings.Repeat("支", 5000), Section: "短"})
	l := h.List(time.Time{}, 1)[0]
	if n := len([]rune(l.Query)); n != historyQuery || l.Section != "短" || l.Time.IsZero() {
		t.Errorf("%d characters, section %q, time %v", n, l.Section, l.Time)
	}
}

func TestHistory_BrokenFile(t *testing.T) {
	dir := t.TempDir()
	h := mustHistory(t, dir)
	h.Add(lookupAt(1))
	h.Close()
	file := filepath.Join(dir, "history.db")
	data, _ := os.ReadFile(file)
	if err := os.WriteFile(file, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	var log warnings
	h, err := OpenHistory(dir, log.log())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if log.count() != 1 || len(h.List(time.Time{}, 0)) != 0 {
		t.Errorf("%d WARNs", log.count())
	}
	h.Add(lookupAt(2))
	if err := h.flush(); err != nil || ids(h.List(time.Time{}, 0)) != "2" {
		t.Errorf("%v, %s", err, ids(h.List(time.Time{}, 0)))
	}
	if _, err := OpenHistory(dir, log.log()); !errors.Is(err, ErrLocked) {
		t.Errorf("second open: %v", err)
	}
}

// One damaged entry is passed over, and does not spoil the numbering.
func TestHistory_DamagedEntry(t *testing.T) {
	dir := t.TempDir()
	h := mustHistory(t, dir)
	for i := 1; i <= 3; i++ {
		h.Add(lookupAt(i))
	}
	if err := h.flush(); err != nil {
		t.Fatal(err)
	}
	err := h.store.update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketLookups))
		return errors.Join(b.Put([]byte{0, 0, 0, 0, 0, 0, 0, 2}, []byte("xxxxx{}")), b.Put([]byte{255, 255, 255, 255, 255, 255, 255, 255}, []byte("xxxxx{}")))
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	h = mustHistory(t, dir)
	h.Add(lookupAt(4))
	if err := h.flush(); err != nil {
		t.Fatal(err)
	}
	if got := ids(h.List(time.Time{}, 0)); got != "4 3 1" {
		t.Errorf("%s", got)
	}
}

func TestHistory_FullDiskIsSaidOnce(t *testing.T) {
	var log warnings
	h, err := OpenHistory(t.TempDir(), log.log())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.size = 500
	h.store.db.MaxSize = 1
	for i := 1; i <= 600; i++ {
		h.Add(lookupAt(i))
	}
	h.flushLogged()
	h.flushLogged()
	if log.count() != 1 || len(h.recent) != 500 {
		t.Errorf("%d WARNs, %d kept", log.count(), len(h.recent))
	}
	h.store.db.MaxSize = 0
	h.flushLogged()
	if got := h.List(time.Time{}, 0); log.count() != 1 || len(h.recent) != 0 || len(got) != 500 || got[0].Query != "query 600" {
		t.Errorf("%d WARNs, %d left, %d on disk", log.count(), len(h.recent), len(got))
	}
}

// SPEC 7.2: hit rate by kind, slowest, unanswered queries.
func TestStats_7_2(t *testing.T) {
	h := mustHistory(t, t.TempDir())
	h.Add(Lookup{Query: "too old", Time: epoch.Add(-time.Hour)})
	for i := 1; i <= 100; i++ {
		h.Add(lookupAt(i))
	}
	for i, q := range []string{"Wie geht das", "ＷＩＥ geht  das", "wie GEHT das ", "什么"} {
		h.Add(Lookup{Query: q, Reason: "no_match", Tool: "lookup_knowledge", TotalMs: 1000, L1Ms: 90, Degraded: []string{"l1"}, Time: epoch.Add(time.Duration(200+i) * time.Second)})
	}
	s := h.Stats(epoch)
	want := Stats{
		Since: epoch, Lookups: 104, Found: 100, Unanswered: 4, Degraded: 4,
		ByReason:     map[string]Tally{"unique_match": {100, 100}, "no_match": {4, 0}},
		ByConfidence: map[string]Tally{"high": {100, 100}},
		ByTool:       map[string]Tally{"lookup_knowledge": {4, 0}},
		TotalMs:      Percentiles{P50: 52, P95: 99, P99: 1000, Max: 1000},
		L0Ms:         Percentiles{P50: .5, P95: .5, P99: .5, Max: .5},
		L1Ms:         Percentiles{P50: 90, P95: 90, P99: 90, Max: 90},
		UnansweredQueries: []QueryCount{
			{Query: "wie GEHT das ", Count: 3, Last: epoch.Add(202 * time.Second)},
			{Query: "什么", Count: 1, Last: epoch.Add(203 * time.Second)},
		},
		UnansweredGroups: []QueryGroup{
			{Count: 3, Queries: 1, Examples: []string{"wie GEHT das "}, Last: epoch.Add(202 * time.Second)},
			{Count: 1, Queries: 1, Examples: []string{"什么"}, Last: epoch.Add(203 * time.Second)},
		},
	}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreFields(Stats{}, "Slowest", "Answered")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(s.Slowest) != statsSlowest || s.Slowest[0].Query != "什么" || s.Slowest[4].Query != "query 100" {
		t.Errorf("slowest: %+v", s.Slowest)
	}
	empty := mustHistory(t, t.TempDir()).Stats(time.Time{})
	if empty.Lookups != 0 || empty.Slowest == nil || empty.UnansweredQueries == nil || empty.ByReason == nil {
		t.Errorf("empty: %+v", empty)
	}
}
