package embedding

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
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
