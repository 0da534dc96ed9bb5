package embedding

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

func TestHash(t *testing.T) {
	h := Hash{}
	q := func(s string) []float32 {
		v, err := h.EmbedQuery(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	cos := func(a, b []float32) (sum float32) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	base := q("连接超时 timeout")
	if err := Check(base, h.Dimensions()); err != nil || !slices.Equal(base, q("连接超时 timeout")) {
		t.Errorf("not a fixed unit vector: %v", err)
	}
	near, far := cos(base, q("超时了 Timeout!")), cos(base, q("公园 weather"))
	if near < 0.5 || far > 0.4 {
		t.Errorf("shared words %v, none %v", near, far)
	}
	if !IsZero(q("……")) || (Hash{Model: "m", Dims: 4}).Name() != "m" {
		t.Error("no words, or name")
	}
	out, err := h.EmbedPassages(t.Context(), []Passage{{"", "…"}, {"超时", "…"}})
	var failed *PassageErrors
	if !errors.As(err, &failed) || !errors.Is(failed.Errs[0], ErrNothingKnown) || !slices.Equal(out[1], q("超时")) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.EmbedPassages(ctx, []Passage{{"", "a"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWords(t *testing.T) {
	if got := words("ERR_TIMEOUT a支付b 7天！"); !slices.Equal(got, []string{"err", "timeout", "a", "支", "付", "b", "7", "天"}) {
		t.Errorf("%q", got)
	}
}

func TestRetryError(t *testing.T) {
	inner := errors.New("429")
	err := error(&RetryError{After: 2 * time.Second, Err: inner})
	var told *RetryError
	if !errors.Is(err, inner) || err.Error() != "429 (retry after 2s)" || !errors.As(err, &told) || told.RetryAfter() != 2*time.Second {
		t.Errorf("%v", err)
	}
}
