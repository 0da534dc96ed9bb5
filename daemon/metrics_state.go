package daemon

import (
	"context"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"knowledged/config"
	"knowledged/ipc"
	"knowledged/l1"
)

// state tells Prometheus what is the case when it asks.
type state struct{ d *Daemon }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("knowledged_"+name, help, labels, nil)
}

var (
	descBuild      = desc("build_info", "Always 1; what runs is in the labels.", "version", "goversion", "backend", "provider")
	descStarted    = desc("ready", "1 once the first scan is done and the keyword index serves.")
	descDocuments  = desc("documents", "Documents by status: INDEXED, INDEXING (vectors still to come), FAILED.", "status")
	descSearchable = desc("documents_searchable", "Documents that can be found by name and rank (l0), and by meaning (l1).", "layer")
	descWarnings   = desc("documents_with_warnings", "Documents whose authors have something to mend.")
	descUpdates    = desc("index_updates_total", "Changes applied to the index: created, updated, deleted, and failed for saves that could not be indexed.", "action")
	descPending    = desc("pending", "Work seen and not yet done: paths in l0, chunks without a vector in l1.", "layer")
	descChunks     = desc("l1_chunks", "Chunks that have a vector.")
	descGivenUp    = desc("l1_chunks_failed", "Chunks that the embedding model would not take.")
	descL1State    = desc("l1_state", "1 for the state that the semantic index is in, 0 for the others.", "state")
	descBytes      = desc("index_memory_bytes", "Memory of the indexes: exact (names and records), l0 (all of the keyword index), l1.", "index")
	descL0Serving  = desc("l0_serving", "1 while the keyword index answers.")
	descL0Damage   = desc("l0_load_failures_total", "Times that the keyword index on disk was damaged and was set aside and rebuilt.")
	descFolders    = desc("watch_folders", "Folders by how changes are noticed: watched (by events) or polled.", "how")
	descOverflows  = desc("watch_overflows_total", "Times that the system lost events; the whole folder was compared then.")
	descMissing    = desc("base_missing", "1 while the base folder is not there.")
	descBreaker    = desc("milvus_breaker_open", "1 while no search is sent to Milvus because it left several unanswered.")
)

// Describe lists what Collect sends.
func (s *state) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, ch) }

// Collect sends the present values.
func (s *state) Collect(ch chan<- prometheus.Metric) {
	d := s.d
	st, err := d.Status(context.Background())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(descStarted, err)
		return
	}
	gauge := func(of *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, v, labels...)
	}
	counter := func(of *prometheus.Desc, v int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(of, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(descBuild, 1, d.version, runtime.Version(), d.cfg.L1.Backend, d.cfg.Embedding.Provider)
	gauge(descStarted, truth(st.Ready))

	indexing := d.indexing()
	gauge(descDocuments, float64(max(0, st.Documents.Total-st.Documents.Failed-indexing)), ipc.StatusIndexed)
	gauge(descDocuments, float64(indexing), ipc.StatusIndexing)
	gauge(descDocuments, float64(st.Documents.Failed), ipc.StatusFailed)
	gauge(descSearchable, float64(st.Documents.L0), "l0")
	gauge(descSearchable, float64(st.Documents.L1), "l1")
	gauge(descWarnings, float64(st.Documents.Warnings))

	n := d.pipeline.tally.snapshot()
	counter(descUpdates, n.Created, ipc.ActionCreated)
	counter(descUpdates, n.Updated, ipc.ActionUpdated)
	counter(descUpdates, n.Deleted, ipc.ActionDeleted)
	counter(descUpdates, n.Failed, ipc.ActionFailed)
	gauge(descPending, float64(st.Pending.L0), "l0")
	gauge(descPending, float64(st.Pending.L1), "l1")

	gauge(descBytes, float64(st.Memory.ExactBytes), "exact")
	gauge(descBytes, float64(st.Memory.L0Bytes), "l0")
	gauge(descBytes, float64(st.Memory.L1Bytes), "l1")
	gauge(descL0Serving, truth(d.l0.Serving()))
	damaged := 0
	if d.l0.SetAside() {
		damaged = 1
	}
	counter(descL0Damage, damaged)

	gauge(descFolders, float64(st.Watch.Folders-st.Watch.PolledFolders), "watched")
	gauge(descFolders, float64(st.Watch.PolledFolders), "polled")
	counter(descOverflows, st.Watch.Overflows)
	gauge(descMissing, truth(st.Watch.BaseMissing))
	s.semantic(st.L1, gauge)
}

// semantic sends what concerns the semantic index. What is switched off is 0, not missing.
func (s *state) semantic(st ipc.StatusL1, gauge func(*prometheus.Desc, float64, ...string)) {
	givenUp := 0
	if s.d.l1 != nil {
		givenUp = s.d.l1.Status().Failed
	}
	gauge(descChunks, float64(st.Chunks))
	gauge(descGivenUp, float64(givenUp))
	for _, name := range []string{ipc.L1Ready, ipc.L1Building, ipc.L1Backlog, ipc.L1Down, ipc.L1Off} {
		gauge(descL1State, truth(st.State == name), name)
	}
	ailing, can := s.d.store.(l1.Ailing)
	gauge(descBreaker, truth(can && s.d.cfg.L1.Backend == config.BackendMilvus && ailing.Ailment() != nil))
}

// indexing is the number of documents whose vectors are still to come.
func (d *Daemon) indexing() (n int) {
	if d.l1 == nil || d.allInL1() {
		return 0
	}
	for _, rec := range d.registry.All() {
		if d.status(rec) == ipc.StatusIndexing {
			n++
		}
	}
	return n
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
