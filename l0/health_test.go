package l0

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

func TestHealth_ReportsOnceAndRecovers(t *testing.T) {
	var log strings.Builder
	h := newHealth("some/dir", slog.New(slog.NewTextHandler(&log, nil)))
	h.stop() // report then does not wait for the next try
	h.report(errors.New("no space left on device"))
	h.report(errors.New("no space left on device"))
	h.persisted()
	h.persisted()
	if strings.Count(log.String(), "level=WARN") != 1 || strings.Count(log.String(), "level=INFO") != 1 {
		t.Errorf("want one WARN and one INFO:\n%s", &log)
	}
	if h.err() != nil {
		t.Errorf("a full disk does not break the index: %v", h.err())
	}
}

func TestHealth_DeadIndexAnswersErrors(t *testing.T) {
	x := openIndex(t, t.TempDir())
	x.log = slog.New(slog.DiscardHandler)
	x.health.log = x.log
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.health.report(fmt.Errorf("merger: %w", scorch.ErrAsyncPanic))
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("report hangs")
	}
	if err := x.Apply(Batch{GoneChunks: []string{"a"}}); err == nil {
		t.Error("apply on a dead index")
	}
	if _, err := x.Search(context.Background(), "a", SearchOptions{K: 1}); err == nil {
		t.Error("search on a dead index")
	}
}

// The daemon has to end within 5 s of SIGTERM, and has more to close than this.
func TestHealth_UnwritableDiskIsNotWaitedForLong(t *testing.T) {
	x := openIndex(t, t.TempDir())
	usual := x.health.flushPatience()
	x.health.mu.Lock()
	x.health.failing = true
	x.health.mu.Unlock()
	if wait := x.health.flushPatience(); wait >= usual || wait <= retryDelay {
		t.Errorf("Close waits %s for an unwritable disk, %s for any other", wait, usual)
	}
	if !x.room.TryAcquire(maxUnpersisted) {
		t.Fatal("no room in an empty index")
	}
	answer := make(chan bool)
	go func() { answer <- x.waitForRoom(1) }()
	select {
	case room := <-answer:
		if room {
			t.Error("room where there is none")
		}
	case <-time.After(patience - time.Second):
		t.Error("a write waits for a disk that takes nothing")
	}
	x.room.Release(maxUnpersisted)
}
