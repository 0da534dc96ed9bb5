package lookup

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts lookups for Prometheus. A nil one counts nothing.
type Metrics struct {
	duration *prometheus.HistogramVec
	lookups  *prometheus.CounterVec
	degraded *prometheus.CounterVec
}

// Values of the label `layer` of the durations.
const (
	layerAll = "all" // the whole lookup, reading the file included
	layerL0  = "l0"
	layerL1  = "l1"
)

// durationBuckets, in seconds, reach from a keyword's answer from memory to what nobody waits for.
var durationBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5}

// NewMetrics makes metrics and registers them with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "knowledged_lookup_duration_seconds", Buckets: durationBuckets,
			Help: "Time of lookups, by decision and by what took it: all of the lookup, the keyword index (l0), the semantic index (l1).",
		}, []string{"decision", "layer"}),
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "knowledged_lookups_total",
			Help: "Lookups answered, by decision, by whether something was found, and by what the semantic index did.",
		}, []string{"decision", "found", "l1"}),
		degraded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "knowledged_lookups_degraded_total",
			Help: "Lookups answered without a part of the index: l0, l1, or indexing while the first scan ran.",
		}, []string{"part"}),
	}
	reg.MustRegister(m.duration, m.lookups, m.degraded)
	// What never happened is 0, not missing: a rate over a series that begins with its first failure misses that failure.
	for _, reason := range []string{ReasonUnique, ReasonUniqueIndexing, ReasonUniqueDoubtful, ReasonAlways, ReasonSeveral, ReasonNone} {
		m.duration.WithLabelValues(reason, layerAll)
		m.duration.WithLabelValues(reason, layerL0)
	}
	m.lookups.WithLabelValues(ReasonUnique, "true", L1Skipped)
	m.lookups.WithLabelValues(ReasonNone, "false", L1Empty)
	for _, part := range []string{DegradedL0, DegradedL1, DegradedIndexing} {
		m.degraded.WithLabelValues(part)
	}
	return m
}

// observe counts one answered lookup.
func (m *Metrics) observe(a *Answer, l0, l1, total time.Duration) {
	if m == nil {
		return
	}
	reason := a.Decision.Reason
	m.duration.WithLabelValues(reason, layerAll).Observe(total.Seconds())
	m.duration.WithLabelValues(reason, layerL0).Observe(l0.Seconds())
	if a.Decision.L1 != L1Skipped && a.Decision.L1 != L1Off {
		m.duration.WithLabelValues(reason, layerL1).Observe(l1.Seconds())
	}
	m.lookups.WithLabelValues(reason, strconv.FormatBool(a.Found), a.Decision.L1).Inc()
	for _, part := range a.Degraded {
		m.degraded.WithLabelValues(part).Inc()
	}
}
