package embedding

import (
	"context"
	"hash/fnv"
	"strings"
	"unicode"
)

// Hash is a deterministic provider for tests: a text's vector is the sum of pseudo-random directions of its words (runs of
// letters and digits; each Chinese character is one), so texts that share words are similar and others are not. The zero
// value has 128 dimensions.
type Hash struct {
	Dims  int
	Model string // name, "hash" if empty
}

// Name is the model's id.
func (h Hash) Name() string {
	if h.Model == "" {
		return "hash"
	}
	return h.Model
}

// Dimensions is the length of its vectors.
func (h Hash) Dimensions() int {
	if h.Dims <= 0 {
		return 128
	}
	return h.Dims
}

// EmbedQuery gives a zero vector for a text without words.
func (h Hash) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	return h.encode(query), ctx.Err()
}

// EmbedPassages weighs text and breadcrumb as the built-in model does.
func (h Hash) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	out := make([][]float32, len(passages))
	var failed PassageErrors
	for i, p := range passages {
		v := h.encode(p.Text)
		if !mix(v, h.encode(p.Breadcrumb)) {
			failed.Add(i, ErrNothingKnown)
			continue
		}
		out[i] = v
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, failed.OrNil()
}

func (h Hash) encode(text string) []float32 {
	out := make([]float32, h.Dimensions())
	for _, word := range words(text) {
		f := fnv.New64a()
		f.Write([]byte(word))
		x := f.Sum64() | 1
		for d := range out {
			x ^= x << 13 // xorshift
			x ^= x >> 7
			x ^= x << 17
			out[d] += float32(int8(x >> 32))
		}
	}
	Normalize(out)
	return out
}

func words(text string) []string {
	var out []string
	for _, run := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		start := 0
		for i, c := range run {
			if !unicode.Is(unicode.Han, c) {
				continue
			}
			if start < i {
				out = append(out, run[start:i])
			}
			start = i + len(string(c))
			out = append(out, run[i:start])
		}
		if start < len(run) {
			out = append(out, run[start:])
		}
	}
	return out
}
