package ipc

import (
	"io"
	"net/http"
)

const defaultLookups = 100

func (h *handler) getStatus(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	st, err := h.cfg.Backend.Status(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, st)
}

func (h *handler) getLookups(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "limit", "since")
	limit, since := q.number("limit", defaultLookups, 1, MaxPage), q.since("since")
	if err := q.err(); err != nil {
		return err
	}
	entries, err := h.cfg.Backend.Lookups(r.Context(), since, limit)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, HistoryList{list(entries)})
}

func (h *handler) getStats(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "since")
	since := q.since("since")
	if err := q.err(); err != nil {
		return err
	}
	s, err := h.cfg.Backend.Stats(r.Context(), since)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, s)
}

func (h *handler) reindex(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	if err := emptyBody(w, r); err != nil {
		return err
	}
	job, err := h.cfg.Backend.Reindex(r.Context(), r.PathValue("docId"))
	if err != nil {
		return err
	}
	job.RequestID = RequestID(r.Context())
	return writeJSON(w, http.StatusOK, job)
}

func (h *handler) reconcile(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "dryRun")
	dryRun := q.flag("dryRun")
	if err := q.err(); err != nil {
		return err
	}
	if err := emptyBody(w, r); err != nil {
		return err
	}
	job, err := h.cfg.Backend.Reconcile(r.Context(), dryRun)
	if err != nil {
		return err
	}
	job.RequestID, job.DryRun = RequestID(r.Context()), dryRun
	return writeJSON(w, http.StatusOK, job)
}

// emptyBody takes no body, or {} from clients that always send one. A content type that a browser sends without asking
// first is refused even so.
func emptyBody(w http.ResponseWriter, r *http.Request) error {
	if !mediaType(r, "", "application/json") {
		return problem(http.StatusUnsupportedMediaType, "There is no body here; one that is sent must be application/json.")
	}
	data, err := readBody(w, r, 1<<10)
	if err != nil || len(data) == 0 {
		return err
	}
	return decodeStrict(data, &struct{}{})
}

// healthz says that the process answers, and nothing of its indexes.
func (h *handler) healthz(w http.ResponseWriter, r *http.Request) error {
	return writeText(w, "ok\n")
}

// readyz is 200 once the first scan is done and L0 serves.
func (h *handler) readyz(w http.ResponseWriter, r *http.Request) error {
	if !h.cfg.Backend.Ready() {
		return problem(http.StatusServiceUnavailable, "The first scan is not done yet.")
	}
	return writeText(w, "ready\n")
}

func writeText(w http.ResponseWriter, s string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, s) // fails only if the client is gone
	return nil
}

// plain makes a handlerFunc of a handler that answers errors by itself.
func plain(f http.HandlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f(w, r)
		return nil
	}
}
