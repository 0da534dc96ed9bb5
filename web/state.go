package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"knowledged/ipc"
)

// stateData is the page on how the daemon is.
type stateData struct {
	Status     ipc.Status
	Faults     []fault
	Filter     filter
	Categories []string
	Documents  []ipc.Record
	Next       string // address of the next page of documents
}

// fault is one reason why answers may be worse than they could be.
type fault struct {
	Key  string // of the catalogue
	Args []any
}

type filter struct {
	Category, Status, Q string
	Warnings            bool
}

const (
	pageOfDocuments = 100
	// mostScanned bounds the look for categories; the filter offers those of the first documents by path.
	mostScanned = 10 * ipc.MaxPage
)

func (s *Server) state(w http.ResponseWriter, r *http.Request) error {
	if switched(w, r) {
		return nil
	}
	ctx, q := r.Context(), r.URL.Query()
	st, err := s.cfg.Backend.Status(ctx)
	if err != nil {
		return err
	}
	d := &stateData{Status: st, Faults: faults(st), Filter: filter{
		Category: q.Get("category"), Status: q.Get("status"), Q: q.Get("q"), Warnings: q.Get("warnings") != "",
	}}
	query := ipc.DocumentsQuery{Category: d.Filter.Category, Status: d.Filter.Status, Q: d.Filter.Q, Warnings: d.Filter.Warnings, Limit: pageOfDocuments, Cursor: q.Get("cursor")}
	page, err := s.cfg.Backend.Documents(ctx, query)
	if err != nil {
		return err
	}
	for _, rec := range page.Documents {
		rec.Source = s.pathOf(rec.Source)
		d.Documents = append(d.Documents, rec)
	}
	if page.NextCursor != "" {
		q.Set("cursor", page.NextCursor)
		q.Del("part")
		d.Next = (&url.URL{Path: "/state", RawQuery: q.Encode()}).String() + "#documents"
	}
	v := view{Page: "state", Title: languageOf(r).say("nav.state"), Data: d}
	if q.Get("part") == "documents" && fragment(r) {
		return s.show(w, r, "documents", v)
	}
	if q.Get("part") == "health" && fragment(r) {
		return s.show(w, r, "health", v)
	}
	if d.Categories, err = s.categories(ctx); err != nil {
		return err
	}
	return s.show(w, r, "main", v)
}

func (s *Server) categories(ctx context.Context) ([]string, error) {
	seen := map[string]bool{}
	query := ipc.DocumentsQuery{Limit: ipc.MaxPage}
	for range mostScanned / ipc.MaxPage {
		page, err := s.cfg.Backend.Documents(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, rec := range page.Documents {
			seen[rec.Category] = true
		}
		if query.Cursor = page.NextCursor; query.Cursor == "" {
			break
		}
	}
	var out []string
	for name := range seen {
		if name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// faults says what is not as it should be, worst first.
func faults(st ipc.Status) []fault {
	var out []fault
	add := func(when bool, key string, args ...any) {
		if when {
			out = append(out, fault{key, args})
		}
	}
	add(st.Watch.BaseMissing, "fault.base", st.BasePath)
	add(!st.Ready, "fault.indexing")
	add(st.L1.State == ipc.L1Down, "fault.l1down", st.L1.LastError)
	add(st.L1.State == ipc.L1Off, "fault.l1off")
	add(st.L1.State == ipc.L1Building, "fault.building")
	add(st.Documents.Failed > 0, "fault.failed", st.Documents.Failed)
	add(st.Watch.PolledFolders > 0, "fault.polled", st.Watch.PolledFolders)
	add(st.Watch.Overflows > 0, "fault.overflows", st.Watch.Overflows)
	return out
}

// historyData is what others asked.
type historyData struct {
	Lookups []ipc.HistoryEntry
	Stats   ipc.Stats
}

// recentLookups is how many the page lists; the command line has them all.
const recentLookups = 30

// history is a part of the state page with an access of its own: app.js asks for it with the token.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	list, err := s.cfg.Backend.Lookups(ctx, time.Time{}, recentLookups)
	if err != nil {
		return err
	}
	st, err := s.cfg.Backend.Stats(ctx, time.Time{})
	if err != nil {
		return err
	}
	return s.show(w, r, "main", view{Page: "asked", Title: languageOf(r).say("asked.title"), Data: &historyData{list, st}})
}
