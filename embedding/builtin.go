package embedding

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"sync"
)

// modelImage is the model of model/MODEL_CARD.md; it is read in place, without a copy.
//
//go:embed model/zh-en-256.kbs
var modelImage []byte

// modelName is the id of the image with digest modelDigest (SHA-256). Stored vectors are told apart by the id, so another image
// under this name has its digest in the id as well: see modelID.
const (
	modelName   = "zh-en-256-2"
	modelDigest = "225c2a9159cdc5c8dccfb6a8e34678df57bba2a646836e26fa8f15a28926ca27"
)

// maxEncodeBytes bounds the time and memory one text takes: some 4 ms. Chunks and queries are far shorter.
const maxEncodeBytes = 64 << 10

// Builtin is the static model in the binary: Chinese and English, offline, microseconds a text. It is safe for concurrent use.
type Builtin struct {
	id      string
	model   *model
	scratch sync.Pool // of *scratch
	soft    softState
}

// NewBuiltin loads the model that is part of the binary.
func NewBuiltin() (*Builtin, error) {
	b, err := newBuiltin(modelImage)
	if err != nil {
		return nil, fmt.Errorf("load built-in model %s: %w", modelName, err)
	}
	return b, nil
}

func newBuiltin(image []byte) (*Builtin, error) {
	m, err := loadModel(image)
	if err != nil {
		return nil, err
	}
	b := &Builtin{id: modelID(image), model: m}
	b.scratch.New = func() any { return &scratch{vector: make([]float32, m.dims)} }
	b.soft.init(m)
	return b, nil
}

// modelID is the name alone for the image it was given to, so that the vectors of earlier releases stay good.
func modelID(image []byte) string {
	sum := sha256.Sum256(image)
	if digest := hex.EncodeToString(sum[:]); digest != modelDigest {
		return modelName + "-" + digest[:16]
	}
	return modelName
}

// Name is the model's id.
func (b *Builtin) Name() string { return b.id }

// Dimensions is the length of its vectors.
func (b *Builtin) Dimensions() int { return b.model.dims }

// EmbedQuery gives the query's vector, which is zero if no piece of it is known.
func (b *Builtin) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := b.scratch.Get().(*scratch)
	defer b.scratch.Put(s)
	out := make([]float32, b.model.dims)
	b.model.encode(clip(query), s, out)
	return out, nil
}

// EmbedPassages gives each passage's vector: its text's plus half its breadcrumb's.
func (b *Builtin) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	s := b.scratch.Get().(*scratch)
	defer b.scratch.Put(s)
	out := make([][]float32, len(passages))
	var failed PassageErrors
	for i, p := range passages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := make([]float32, b.model.dims)
		b.model.encode(clip(p.Text), s, v)
		b.model.encode(clip(p.Breadcrumb), s, s.vector)
		if !mix(v, s.vector) {
			failed.Add(i, ErrNothingKnown)
			continue
		}
		out[i] = v
	}
	return out, failed.OrNil()
}

// clip cuts hostile lengths; a character cut in two is one unknown character.
func clip(text string) string { return text[:min(len(text), maxEncodeBytes)] }
