package embedding

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// A text that kills the server, which its supervisor starts again, is found all the same, and not asked for again and again.
func TestOpenAITextThatKillsTheServer(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 8 })
	cache, _ := openCache(t, o, filepath.Join(t.TempDir(), "cache"))
	texts := numbered(20)
	var dead atomic.Bool
	var killed atomic.Int64
	s.set(func(_ http.ResponseWriter, _ *http.Request, got []string) bool {
		if slices.Contains(got, texts[11]) {
			dead.Store(true)
			killed.Add(1)
		}
		if dead.Load() {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	for range 12 {
		dead.Store(false) // started again
		got, err := cache.EmbedPassages(t.Context(), passages(texts...))
		var failed *PassageErrors
		if !errors.As(err, &failed) {
			if err == nil {
				t.Fatal("no error")
			}
			continue
		}
		wantVectors(t, s, texts, got, err, 11)
		if !strings.Contains(err.Error(), "the server died twice of this text") {
			t.Errorf("error %v", err)
		}
		if n := killed.Load(); n > 14 { // in a batch of 8, 4 and 2, and twice alone; mostly on a second connection as well
			t.Errorf("killed %d times", n)
		}
		return
	}
	t.Error("not found")
}

// A server that is away behind something that answers for it and hangs up dies of no text.
func TestOpenAIHangUpsBlameNoText(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions, c.Batch = 16, 4 })
	texts := numbered(12)
	for n := range 20 {
		s.set(func(http.ResponseWriter, *http.Request, []string) bool { panic(http.ErrAbortHandler) })
		_, err := o.EmbedPassages(t.Context(), passages(texts...))
		var failed *PassageErrors
		if err == nil || errors.As(err, &failed) {
			t.Fatal(err)
		}
		if size := o.batch.Load(); size < 2 {
			t.Errorf("a batch is %d texts", size)
		}
		if n == 10 { // back for a while
			s.set(nil)
			if got, err := o.EmbedPassages(t.Context(), passages(texts...)); err != nil {
				t.Fatal(err)
			} else {
				wantVectors(t, s, texts, got, err)
			}
		}
	}
	s.set(nil)
	got, err := o.EmbedPassages(t.Context(), passages(texts...))
	wantVectors(t, s, texts, got, err)
	if err != nil {
		t.Error(fmt.Errorf("afterwards: %w", err))
	}
}
