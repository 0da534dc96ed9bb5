package daemon

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"knowledged/embedding"
	"knowledged/ipc"
	"knowledged/lookup"
)

// metrics are what Prometheus sees of this daemon: what happens is counted here and in the parts, what is the case is
// read by state when somebody asks. docs/metrics.md describes each.
type metrics struct {
	registry  *prometheus.Registry
	lookup    *lookup.Metrics
	embedding *embedding.Metrics
	requests  *ipc.Metrics

	lag           prometheus.Histogram
	writeFailures prometheus.Counter
	uploads       *prometheus.CounterVec
}

// Values of the label `outcome` of uploads.
const (
	uploadCreated = "created"
	uploadSaved   = "saved"   // over an earlier version, or nothing was to be done
	uploadRefused = "refused" // the request's fault
	uploadFailed  = "failed"  // the daemon's, or the disk's
)

func newMetrics() *metrics {
	reg := prometheus.NewRegistry()
	m := &metrics{
		registry:  reg,
		lookup:    lookup.NewMetrics(reg),
		embedding: embedding.NewMetrics(reg),
		requests:  ipc.NewMetrics(reg),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "knowledged_index_lag_seconds", Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
			Help: "Time from a save, by the file's own times, until lookups by keyword see it. The first scan is not counted.",
		}),
		writeFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "knowledged_index_write_failures_total",
			Help: "Batches of changes that the keyword index or the registry could not take. They are tried again.",
		}),
		uploads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "knowledged_uploads_total",
			Help: "Uploads by outcome: created, saved (over an earlier version), refused (the request's fault), failed (the daemon's).",
		}, []string{"outcome"}),
	}
	reg.MustRegister(m.lag, m.writeFailures, m.uploads, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, outcome := range []string{uploadCreated, uploadSaved, uploadRefused, uploadFailed} {
		m.uploads.WithLabelValues(outcome)
	}
	return m
}

// savedWithin is how old a save may be to be one. A file that was there longer became a document by another way: an ignore
// rule has gone, a folder was mounted.
const savedWithin = 10 * time.Minute

// visible notes how long ago each of these was saved.
func (m *metrics) visible(found []finding, now time.Time) {
	for i := range found {
		f := &found[i]
		if f.gone || f.same || f.record.Failed() || f.old != nil && f.old.ModTime == f.record.ModTime && f.old.ChangeTime == f.record.ChangeTime {
			continue // the last: read again for another reason than a save
		}
		// The later of the two: a file copied or moved here keeps the time of its text.
		saved := time.Unix(0, max(f.record.ModTime, f.record.ChangeTime))
		if lag := now.Sub(saved); lag >= 0 && lag < savedWithin {
			m.lag.Observe(lag.Seconds())
		}
	}
}

// uploaded counts an upload.
func (m *metrics) uploaded(created bool, err error) {
	outcome := uploadSaved
	switch {
	case err == nil && created:
		outcome = uploadCreated
	case err == nil:
	case refusal(err):
		outcome = uploadRefused
	default:
		outcome = uploadFailed
	}
	m.uploads.WithLabelValues(outcome).Inc()
}

// refusal reports whether an upload was refused for what it is.
func refusal(err error) bool {
	var (
		exists  *ipc.ExistsError
		stale   *ipc.StaleError
		invalid *ipc.InvalidError
	)
	return errors.As(err, &exists) || errors.As(err, &stale) || errors.As(err, &invalid) || errors.Is(err, ipc.ErrTooLarge)
}
