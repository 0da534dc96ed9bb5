package ipc

import (
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"

	"knowledged/lookup"
)

// maxLookupBody bounds the body of a lookup, in bytes: lookup.MaxQuery characters, each escaped as \uXXXX twice, and room.
const maxLookupBody = 256 << 10

func (h *handler) postLookup(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	const absent = math.MinInt
	req := lookup.Request{TopK: absent} // a 0 that was sent is no number of results
	if err := readJSON(w, r, maxLookupBody, &req); err != nil {
		return err
	}
	switch req.TopK {
	case absent:
		req.TopK = 0
	case 0:
		return &lookup.InputError{Field: "topK", Message: fmt.Sprintf("is 0: use 1 to %d", lookup.MaxTopK)}
	}
	return h.lookup(w, r, req)
}

func (h *handler) getLookup(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "query", "sectionTitle", "category", "topK", "alwaysSemantic", "content", "explain")
	req := lookup.Request{
		Query:          q.text("query"),
		SectionTitle:   q.text("sectionTitle"),
		Category:       q.text("category"),
		TopK:           q.number("topK", 0, 1, lookup.MaxTopK),
		AlwaysSemantic: q.flag("alwaysSemantic"),
		Content:        q.text("content"),
		Explain:        q.flag("explain"),
	}
	if err := q.err(); err != nil {
		return err
	}
	return h.lookup(w, r, req)
}

func (h *handler) lookup(w http.ResponseWriter, r *http.Request, req lookup.Request) error {
	ctx := r.Context()
	req.RequestID, req.Caller, req.Tool = RequestID(ctx), Caller(ctx), Tool(ctx)
	a, err := h.cfg.Backend.Lookup(ctx, req)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, a)
}

// readJSON reads a body of at most limit bytes. The content type is asked for: a form or a text/plain fetch, which a browser
// sends to anyone, is not JSON whatever it holds.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	if !mediaType(r, "application/json") {
		return problem(http.StatusUnsupportedMediaType, "The body must be sent as Content-Type: application/json.")
	}
	data, err := readBody(w, r, limit)
	if err != nil {
		return err
	}
	return decodeStrict(data, v)
}

// readBody reads at most limit bytes; one that says it is longer isn't even begun.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, &TooLargeError{Size: r.ContentLength, Limit: limit}
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	return data, bodyError(r, err)
}

// mediaType says whether the body is sent as one of the types; "" among them accepts a missing header. A charset other than
// UTF-8 is another type.
func mediaType(r *http.Request, types ...string) bool {
	header := r.Header.Get("Content-Type")
	got := ""
	if header != "" {
		t, params, err := mime.ParseMediaType(header)
		if err != nil {
			return false
		}
		if c, given := params["charset"]; given && t == "application/json" && !strings.EqualFold(c, "utf-8") {
			return false
		}
		got = t
	}
	for _, t := range types {
		if got == t {
			return true
		}
	}
	return false
}
