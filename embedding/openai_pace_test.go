package embedding

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A proxy that gives up waiting for the server behind it says what our own time-out says: the batch is too large for its speed.
func TestOpenAIGatewayTimeOut(t *testing.T) {
	for _, status := range []int{408, 504, 524} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 16 })
			texts := numbered(16)
			s.set(func(w http.ResponseWriter, _ *http.Request, got []string) bool {
				if len(got) <= 3 && !slices.Contains(got, texts[5]) {
					return false
				}
				w.WriteHeader(status)
				io.WriteString(w, "upstream timed out")
				return true
			})
			cache, _ := openCache(t, o, filepath.Join(t.TempDir(), "cache")) // what is made in one try is not asked for in the next
			for range 8 {
				got, err := cache.EmbedPassages(t.Context(), passages(texts...))
				var failed *PassageErrors
				if errors.As(err, &failed) {
					wantVectors(t, s, texts, got, err, 5)
					return
				}
				if !errors.Is(err, errTooSlow) {
					t.Fatal(err)
				}
			}
			t.Error("still asked for all at a time")
		})
	}
}

// A limit of tokens a minute that is smaller than one batch is never kept by waiting.
func TestOpenAIBatchBeyondTheRateLimit(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Batch = 16 })
	s.set(func(w http.ResponseWriter, _ *http.Request, got []string) bool {
		if len(got) <= 3 {
			return false
		}
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 3, Requested 16."}}`)
		return true
	})
	texts := numbered(16)
	for range 4 {
		if got, err := o.EmbedPassages(t.Context(), passages(texts...)); err == nil {
			wantVectors(t, s, texts, got, err)
			return
		}
	}
	t.Error("still asked for all at a time")
}

// SPEC 3.6: a batch for which the server fails, while it works for others, holds up none but its own, and becomes smaller.
func TestOpenAIBatchThatFailsHoldsUpNoOther_3_6(t *testing.T) {
	for name, fail := range map[string]func(w http.ResponseWriter, r *http.Request){
		"502":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"503":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions, c.Batch, c.Timeout = 16, 8, time.Second })
			cache, _ := openCache(t, o, filepath.Join(t.TempDir(), "cache"))
			texts := numbered(40)
			s.set(func(w http.ResponseWriter, r *http.Request, got []string) bool {
				if !slices.Contains(got, texts[5]) {
					return false
				}
				fail(w, r)
				return true
			})
			missing := 0
			for _, want := range []int{8, 4, 2} {
				got, err := cache.EmbedPassages(t.Context(), passages(texts...))
				var failed *PassageErrors
				if err == nil || errors.As(err, &failed) {
					t.Fatalf("error %v", err)
				}
				missing = 0
				for _, v := range got {
					if v == nil {
						missing++
					}
				}
				if missing != want {
					t.Errorf("%d texts wait, want %d", missing, want)
				}
			}
			got, err := cache.EmbedPassages(t.Context(), passages(texts...)) // alone, where another came through: its own fault
			wantVectors(t, s, texts, got, err, 5)
			_, err = cache.EmbedPassages(t.Context(), passages(texts...)) // nothing to compare it with, but for a time-out
			if errors.As(err, new(*PassageErrors)) != (name == "hangs") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A server that fails for every batch is not asked for all of them.
func TestOpenAIStopsAtTheSecondBatchThatFails(t *testing.T) {
	s := newFakeServer(t)
	o, _ := newOpenAI(t, s, func(c *OpenAIConfig) { c.Dimensions, c.Batch = 16, 2 })
	s.refuseIf(503, "overloaded", func(text string) bool { return text != controlText })
	if _, err := o.EmbedPassages(t.Context(), passages(numbered(60)...)); err == nil || !strings.Contains(err.Error(), "overloaded") {
		t.Errorf("error %v", err)
	}
	if n := len(s.take()); n > 2+maxBatches {
		t.Errorf("%d calls", n)
	}
}
