package ipc

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts requests for Prometheus and serves all that is in its registry. A nil one does neither.
type Metrics struct {
	requests *prometheus.CounterVec
	serve    http.Handler
}

// NewMetrics makes metrics and registers them with reg, which GET /metrics then shows.
func NewMetrics(reg *prometheus.Registry) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "knowledged_http_requests_total",
			Help: "Requests answered, by route and status. Routes that don't exist are counted as one.",
		}, []string{"route", "code"}),
		serve: promhttp.HandlerFor(reg, promhttp.HandlerOpts{}),
	}
	reg.MustRegister(m.requests)
	m.requests.WithLabelValues("POST /v1/lookup", "200")
	return m
}

// count takes the route that the request matched: its number is bounded, that of paths is not.
func (m *Metrics) count(r *http.Request, status int) {
	if m == nil {
		return
	}
	route, code := r.Pattern, strconv.Itoa(status)
	if route == "" || route == "/" {
		route = "none"
	}
	if status == 0 {
		code = "none" // the client left, or took over the connection for MCP
	}
	m.requests.WithLabelValues(route, code).Inc()
}

func (h *handler) metrics(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	if h.cfg.Metrics == nil {
		return problem(http.StatusNotFound, "This daemon keeps no metrics.")
	}
	h.cfg.Metrics.serve.ServeHTTP(w, r)
	return nil
}
