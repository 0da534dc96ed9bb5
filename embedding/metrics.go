package embedding

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics measures what a provider is asked, for Prometheus.
type Metrics struct {
	duration *prometheus.HistogramVec
}

// Values of the label `kind` and of the label `outcome`.
const (
	kindQuery    = "query"
	kindPassages = "passages" // a batch of them

	outcomeOK       = "ok"
	outcomePartial  = "partial" // some passages of the batch
	outcomeFailed   = "failed"
	outcomeCanceled = "canceled" // whoever asked did not wait for the answer
)

// requestBuckets, in seconds, reach from the built-in model, which takes microseconds, to a batch on a slow server.
var requestBuckets = []float64{.00001, .0001, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics makes metrics and registers them with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "knowledged_embedding_request_duration_seconds", Buckets: requestBuckets,
		Help: "Time of requests to the embedding model, by kind (query, passages) and outcome (ok, partial, failed, canceled).",
	}, []string{"kind", "outcome"})}
	reg.MustRegister(m.duration)
	for _, kind := range []string{kindQuery, kindPassages} {
		for _, outcome := range []string{outcomeOK, outcomeFailed} {
			m.duration.WithLabelValues(kind, outcome)
		}
	}
	return m
}

// Measured is p with each of its requests measured. What a cache in front of it answers is none.
func Measured(p Provider, m *Metrics) Provider { return &measured{Provider: p, metrics: m} }

type measured struct {
	Provider
	metrics *Metrics
}

func (p *measured) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	start := time.Now()
	v, err := p.Provider.EmbedQuery(ctx, query)
	p.observe(kindQuery, start, err)
	return v, err
}

func (p *measured) EmbedPassages(ctx context.Context, passages []Passage) ([][]float32, error) {
	start := time.Now()
	v, err := p.Provider.EmbedPassages(ctx, passages)
	p.observe(kindPassages, start, err)
	return v, err
}

func (p *measured) Ailment() error { return ailmentOf(p.Provider) }

func (p *measured) observe(kind string, start time.Time, err error) {
	outcome := outcomeOK
	var some *PassageErrors
	switch {
	case err == nil:
	case errors.As(err, &some):
		outcome = outcomePartial
	case errors.Is(err, context.Canceled):
		outcome = outcomeCanceled
	default:
		outcome = outcomeFailed
	}
	p.metrics.duration.WithLabelValues(kind, outcome).Observe(time.Since(start).Seconds())
}
