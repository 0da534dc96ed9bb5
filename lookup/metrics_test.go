package lookup

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestMetricsCountAnswers_7_3(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	m.observe(&Answer{Found: true, Decision: Decision{Reason: ReasonUnique, L1: L1Skipped}}, time.Millisecond, 0, 3*time.Second)
	m.observe(&Answer{Decision: Decision{Reason: ReasonNone, L1: L1Timeout}, Degraded: []string{DegradedL1}}, time.Millisecond, time.Second, time.Second)
	(*Metrics)(nil).observe(&Answer{}, 0, 0, 0)
	want := `
# HELP knowledged_lookups_degraded_total Lookups answered without a part of the index: l0, l1, or indexing while the first scan ran.
# TYPE knowledged_lookups_degraded_total counter
knowledged_lookups_degraded_total{part="indexing"} 0
knowledged_lookups_degraded_total{part="l0"} 0
knowledged_lookups_degraded_total{part="l1"} 1
# HELP knowledged_lookups_total Lookups answered, by decision, by whether something was found, and by what the semantic index did.
# TYPE knowledged_lookups_total counter
knowledged_lookups_total{decision="no_match",found="false",l1="empty"} 0
knowledged_lookups_total{decision="no_match",found="false",l1="timeout"} 1
knowledged_lookups_total{decision="unique_match",found="true",l1="skipped"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "knowledged_lookups_total", "knowledged_lookups_degraded_total"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(m.duration); n != 13 { // six decisions by all and l0, and the one where l1 was asked
		t.Errorf("%d series of durations", n)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// BenchmarkMetrics is what counting adds to a lookup.
func BenchmarkMetrics(b *testing.B) {
	m := NewMetrics(prometheus.NewRegistry())
	a := &Answer{Found: true, Decision: Decision{Reason: ReasonSeveral, L1: L1Used}}
	for b.Loop() {
		m.observe(a, time.Millisecond, time.Millisecond, 2*time.Millisecond)
	}
}
