package embedding

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// SPEC 3.6: a server that hangs costs some lookups their time, not all; it is asked again when it is back.
func TestOpenAIQueriesDoNotWaitForAServerThatHangs_3_6(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions = 16 })
	release := make(chan struct{})
	var asked atomic.Int64
	s.set(func(_ http.ResponseWriter, r *http.Request, _ []string) bool {
		asked.Add(1)
		select {
		case <-release:
			return false
		case <-r.Context().Done():
			return true
		}
	})
	query := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		_, err := o.EmbedQuery(ctx, "how to")
		return err
	}
	var err error
	for tries := 0; !errors.Is(err, ErrAway); tries++ {
		if tries == 10 {
			t.Fatalf("still waiting for it: %v", err)
		}
		if err = query(); err == nil {
			t.Fatal("a server that hangs has answered")
		}
	}
	before := asked.Load()
	if err := query(); !errors.Is(err, ErrAway) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if n := asked.Load(); n != before {
		t.Errorf("asked %d times more", n-before)
	}
	cache, _ := openCache(t, Measured(o, NewMetrics(prometheus.NewRegistry())), filepath.Join(t.TempDir(), "cache"))
	if err := cache.Ailment(); !errors.Is(err, ErrAway) {
		t.Errorf("ailment %v", err)
	}
	close(release)
	back := time.Now().Add(20 * time.Second)
	for cache.Ailment() != nil { // who asks for the status has it found out, without a lookup
		if time.Now().After(back) {
			t.Fatalf("not asked again: %v", cache.Ailment())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := query(); err != nil {
		t.Error(err)
	}
}

// A refusal is an answer that costs no time: each query is asked, so that a new key works at once.
func TestOpenAIRefusalsAreAsked(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, nil)
	s.refuse(http.StatusUnauthorized, `{"error":"no key"}`)
	for range 10 {
		if _, err := o.EmbedQuery(t.Context(), "q"); err == nil || errors.Is(err, ErrAway) {
			t.Fatalf("error %v", err)
		}
	}
	s.set(nil)
	if _, err := o.EmbedQuery(t.Context(), "q"); err != nil {
		t.Error(err)
	}
}
