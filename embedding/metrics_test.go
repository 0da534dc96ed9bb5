package embedding

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// answering is a provider whose calls all end with err.
type answering struct {
	Hash
	err error
}

func (a answering) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	v, _ := a.Hash.EmbedQuery(ctx, query)
	return v, a.err
}

func (a answering) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	v, _ := a.Hash.EmbedPassages(ctx, passages)
	return v, a.err
}

func TestMeasuredCountsByKindAndOutcome_7_3(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	ctx := t.Context()
	for _, err := range []error{nil, &PassageErrors{Errs: map[int]error{0: ErrNothingKnown}}, errors.New("no"), context.Canceled, context.DeadlineExceeded} {
		p := Measured(answering{err: err}, m)
		if _, got := p.EmbedQuery(ctx, "q"); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if v, got := p.EmbedPassages(ctx, []Passage{{Text: "a"}, {Text: "b"}}); !errors.Is(got, err) || len(v) != 2 {
			t.Errorf("%v became %v, %d vectors", err, got, len(v))
		}
	}
	counts := map[string]uint64{}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := ""
			for _, l := range metric.GetLabel() {
				key += l.GetValue() + " "
			}
			counts[key] = metric.GetHistogram().GetSampleCount()
		}
	}
	for _, kind := range []string{"query ", "passages "} {
		for outcome, want := range map[string]uint64{"ok ": 1, "partial ": 1, "failed ": 2, "canceled ": 1} {
			if counts[kind+outcome] != want {
				t.Errorf("%s%s: %d, want %d", kind, outcome, counts[kind+outcome], want)
			}
		}
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}
