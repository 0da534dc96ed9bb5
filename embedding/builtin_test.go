package embedding

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func builtin(tb testing.TB) *Builtin {
	tb.Helper()
	b, err := NewBuiltin()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

type parityLine struct {
	Text string    `json:"text"`
	IDs  []int32   `json:"ids"`
	Vec  []float64 `json:"vec"`
}

func parityLines(tb testing.TB) []parityLine {
	tb.Helper()
	f, err := os.Open("testdata/parity.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var out []parityLine
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var l parityLine
		if err := dec.Decode(&l); err != nil {
			tb.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// Vectors are stored under the model's id: the shipped image keeps that of earlier releases, and one that is put in its place
// without a new name has another id all the same, so that everything is embedded anew.
func TestModelIDFollowsTheImage(t *testing.T) {
	if id := builtin(t).Name(); id != "zh-en-256-2" {
		t.Errorf("the shipped image has the id %q", id)
	}
	other := slices.Clone(modelImage)
	other[len(other)-1] ^= 1 // of the last row
	b, err := newBuiltin(other)
	if err != nil {
		t.Fatal(err)
	}
	if id := b.Name(); !strings.HasPrefix(id, "zh-en-256-2-") || id == builtin(t).Name() {
		t.Errorf("another image has the id %q", id)
	}
}

// The shipped image is the one the model card describes.
func TestModelImageIsTheCardsModel(t *testing.T) {
	sum := sha256.Sum256(modelImage)
	card, err := os.ReadFile("model/MODEL_CARD.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(card, []byte(hex.EncodeToString(sum[:]))) {
		t.Fatalf("model has sha256 %x, which the card does not name", sum)
	}
}

// SPEC 3.5: the built-in model gives the pieces and vectors of the reference implementation.
func TestParity_3_5(t *testing.T) {
	b := builtin(t)
	lines := parityLines(t)
	if len(lines) < 60 {
		t.Fatalf("only %d parity lines", len(lines))
	}
	var s scratch
	for _, l := range lines {
		if ids := b.model.tokenize(l.Text, &s); !slices.Equal(ids, l.IDs) {
			t.Errorf("%q: pieces %v, want %v", l.Text, ids, l.IDs)
		}
		v, err := b.EmbedQuery(context.Background(), l.Text)
		if err != nil {
			t.Fatal(err)
		}
		var dot, n1, n2 float64
		for d, x := range l.Vec {
			dot += x * float64(v[d])
			n1 += x * x
			n2 += float64(v[d]) * float64(v[d])
		}
		if n1 == 0 && n2 == 0 {
			continue
		}
		if cos := dot / math.Sqrt(n1*n2); !(cos >= 0.99999) {
			t.Errorf("%q: cosine %v", l.Text, cos)
		}
	}
}

func TestQueryOfNothingKnownIsZero(t *testing.T) {
	b := builtin(t)
	for _, q := range []string{"", "  \n", "\u200b", "😀", "\xff\xfe"} {
		v, err := b.EmbedQuery(context.Background(), q)
		if err != nil || len(v) != b.Dimensions() || !IsZero(v) {
			t.Errorf("%q: zero %v, err %v", q, IsZero(v), err)
		}
	}
	if v, _ := b.EmbedQuery(context.Background(), "超时"); IsZero(v) {
		t.Error("超时 gives a zero vector")
	}
}

// SPEC 3.2: the breadcrumb is embedded with the text, at half weight.
func TestPassageVector_3_2(t *testing.T) {
	b := builtin(t)
	ctx := context.Background()
	p := Passage{Breadcrumb: "支付网关错误码定义 > 超时类错误", Text: "请求在 30 秒内没有应答。ERR_TIMEOUT"}
	got, err := b.EmbedPassages(ctx, []Passage{p, {Text: "😀"}, {Text: p.Text}, {Breadcrumb: p.Breadcrumb, Text: "😀"}})
	var failed *PassageErrors
	if !errors.As(err, &failed) || len(failed.Errs) != 1 || !errors.Is(failed.Errs[1], ErrNothingKnown) || got[1] != nil {
		t.Fatalf("want passage 1 alone to fail, got %v", err)
	}
	text, _ := b.EmbedQuery(ctx, p.Text)
	crumb, _ := b.EmbedQuery(ctx, p.Breadcrumb)
	want := slices.Clone(text)
	for i := range want {
		want[i] += 0.5 * crumb[i]
	}
	Normalize(want)
	for i, w := range []([]float32){0: want, 2: text, 3: crumb} {
		if w == nil {
			continue
		}
		if err := Check(got[i], b.Dimensions()); err != nil {
			t.Errorf("passage %d: %v", i, err)
		}
		for d := range w {
			if math.Abs(float64(w[d]-got[i][d])) > 1e-6 {
				t.Fatalf("passage %d differs at %d: %v, want %v", i, d, got[i][d], w[d])
			}
		}
	}
}

func TestBuiltinEndsWithContext(t *testing.T) {
	b := builtin(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.EmbedQuery(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("query: %v", err)
	}
	if _, err := b.EmbedPassages(ctx, []Passage{{Text: "x"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("passages: %v", err)
	}
}

func TestBuiltinConcurrently(t *testing.T) {
	b := builtin(t)
	lines := parityLines(t)
	var passages []Passage
	for _, l := range lines {
		passages = append(passages, Passage{Text: l.Text})
	}
	want := b.Soft("连接超时 timeout", passages)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, l := range lines {
				v, _ := b.EmbedQuery(context.Background(), l.Text)
				w, _ := b.EmbedQuery(context.Background(), l.Text)
				if !slices.Equal(v, w) {
					t.Errorf("%q: two vectors", l.Text)
				}
			}
			if got := b.Soft("连接超时 timeout", passages); !slices.Equal(got, want) {
				t.Error("Soft differs")
			}
		})
	}
	wg.Wait()
}

func TestLoadModelRefusesDamage(t *testing.T) {
	header := func(pieces, dims, blob uint32) []byte {
		b := []byte("KBS1")
		for _, v := range []uint32{pieces, dims, blob} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	good := tinyModel(t, []string{"a", "▁a", "b"}, 2)
	if _, err := loadModel(good); err != nil {
		t.Fatalf("good model: %v", err)
	}
	set := func(at int, v uint32) []byte {
		b := slices.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	const probs, scales, offsets = 16, 16 + 12, 16 + 24
	blob := slices.Clone(good)
	blob[offsets+16] = 0xFF // first byte of the text
	for name, tc := range map[string]struct {
		image []byte
		want  string
	}{
		"empty":           {nil, "wrong first bytes"},
		"other format":    {bytes.Replace(good, []byte("KBS1"), []byte("KBS2"), 1), "wrong first bytes"},
		"cut":             {good[:len(good)-1], "cut short"},
		"longer":          {append(slices.Clone(good), 0), "cut short"},
		"no pieces":       {header(0, 256, 0), "0 pieces"},
		"huge":            {header(math.MaxUint32, math.MaxUint32, math.MaxUint32), "pieces"},
		"first offset":    {set(offsets, 1), "do not cover"},
		"last offset":     {set(offsets+12, 4), "do not cover"},
		"offset beyond":   {set(offsets+4, 9999), "piece 0"},
		"empty piece":     {set(offsets+4, 0), "piece 0"},
		"not UTF-8":       {blob, "not UTF-8"},
		"NaN probability": {set(probs, math.Float32bits(float32(math.NaN()))), "log-probability"},
		"probability > 1": {set(probs, math.Float32bits(1)), "log-probability"},
		"infinite scale":  {set(scales, math.Float32bits(float32(math.Inf(1)))), "scale"},
		"twice":           {tinyModel(t, []string{"a", "a"}, 2), "are both"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newBuiltin(tc.image)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func tinyModel(t *testing.T, pieces []string, dims int) []byte {
	t.Helper()
	text := strings.Join(pieces, "")
	b := []byte("KBS1")
	for _, v := range []int{len(pieces), dims, len(text)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for range pieces {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(-1))
	}
	for range pieces {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(1))
	}
	at := 0
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, p := range pieces {
		at += len(p)
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
	}
	b = append(b, text...)
	for i := range len(pieces) * dims {
		b = append(b, byte(i+1))
	}
	return b
}

func FuzzTokenize(f *testing.F) {
	b, err := NewBuiltin()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "ERR_TIMEOUT", "HTTPServerConnectionPool", "ＡＢＣ　支付", "\xff a", "한국어", strings.Repeat("a", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s scratch
		ids := b.model.tokenize(text, &s)
		// The pieces are a subsequence of the normalised text: nothing is invented, nothing swapped.
		rest := s.norm
		if !utf8.Valid(rest) {
			t.Fatalf("normalised %q is not UTF-8", rest)
		}
		for _, id := range ids {
			p := b.model.piece(id)
			i := bytes.Index(rest, p)
			if i < 0 {
				t.Fatalf("%q: piece %q is not in what is left, %q", text, p, rest)
			}
			rest = rest[i+len(p):]
		}
		if v, err := b.EmbedQuery(context.Background(), text); err != nil || !IsZero(v) && Check(v, b.Dimensions()) != nil {
			t.Fatalf("%q: %v, %v", text, err, Check(v, b.Dimensions()))
		}
	})
}
