package ipc

import "net/http"

const (
	// MaxPage is the most records of one page, and lookups of one history.
	MaxPage = 1000
	// defaultPage keeps an answer to a bare `GET /v1/documents` readable.
	defaultPage = 50
	// defaultChars is how much of a document is read if nothing else is asked (SPEC 2.9).
	defaultChars = 2000
	// MaxChars is the most of a text that can be asked for, above any document of the default size limit.
	MaxChars = 100 << 20
)

func (h *handler) listDocuments(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "category", "status", "layer", "q", "warnings", "limit", "cursor")
	query := DocumentsQuery{
		Category: q.text("category"),
		Status:   q.choice("status", StatusPending, StatusIndexing, StatusIndexed, StatusFailed),
		Layer:    q.choice("layer", "l0", "l1"),
		Q:        q.text("q"),
		Warnings: q.flag("warnings"),
		Limit:    q.number("limit", defaultPage, 1, MaxPage),
		Cursor:   q.text("cursor"),
	}
	if err := q.err(); err != nil {
		return err
	}
	page, err := h.cfg.Backend.Documents(r.Context(), query)
	if err != nil {
		return err
	}
	page.Documents = list(page.Documents)
	return writeJSON(w, http.StatusOK, page)
}

func (h *handler) getDocument(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	rec, err := h.cfg.Backend.Document(r.Context(), r.PathValue("docId"))
	if err != nil {
		return err
	}
	return readRecord(w, r, rec)
}

func (h *handler) getBySource(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "source")
	source := q.text("source")
	if source == "" {
		q.fault("source", "is missing")
	}
	if err := q.err(); err != nil {
		return err
	}
	rec, err := h.cfg.Backend.BySource(r.Context(), source)
	if err != nil {
		return err
	}
	return readRecord(w, r, rec)
}

func (h *handler) getContent(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "maxChars", "section")
	query := ContentQuery{MaxChars: q.number("maxChars", defaultChars, 1, MaxChars), Section: q.text("section")}
	if err := q.err(); err != nil {
		return err
	}
	c, err := h.cfg.Backend.Content(r.Context(), r.PathValue("docId"), query)
	if err != nil {
		return err
	}
	c.AvailableSections = list(c.AvailableSections)
	if notModified(w, r, contentTag(c, query)) {
		return nil
	}
	return writeJSON(w, http.StatusOK, c)
}

func (h *handler) getChunks(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	chunks, err := h.cfg.Backend.Chunks(r.Context(), r.PathValue("docId"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, ChunkList{list(chunks)})
}

// readRecord answers a GET with a record, unless the client has it. The tag is the file's (SPEC 5.1): so that who has read it
// can save with If-Match; what only the indexes have changed since does not change it.
func readRecord(w http.ResponseWriter, r *http.Request, rec Record) error {
	if notModified(w, r, recordTag(rec)) {
		return nil
	}
	return writeJSON(w, http.StatusOK, rec)
}
