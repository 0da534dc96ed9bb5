package ipc

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// formRoom is what a multipart body may hold beside the file, in bytes: boundaries, part headers and small fields.
const formRoom = 64 << 10

// putDocument takes the file as the body.
func (h *handler) putDocument(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "force", "wait")
	req := PutRequest{
		Category: r.PathValue("category"),
		FileName: r.PathValue("fileName"),
		Force:    q.flag("force"),
		WaitL1:   q.choice("wait", "l0", "l1") == "l1",
	}
	if err := q.err(); err != nil {
		return err
	}
	if err := CheckName(req.Category, req.FileName); err != nil {
		return err
	}
	if !mediaType(r, "", "text/markdown", "text/x-markdown", "application/octet-stream") {
		return problem(http.StatusUnsupportedMediaType, "The body must be sent as Content-Type: text/markdown.")
	}
	body, err := readBody(w, r, h.cfg.MaxFileSize)
	if err != nil {
		return err
	}
	req.Body = body
	return h.put(w, r, req)
}

// postDocument takes a multipart form: what an HTML form or `curl -F` sends.
func (h *handler) postDocument(w http.ResponseWriter, r *http.Request) error {
	q := queryOf(r, "force", "wait")
	req := PutRequest{Force: q.flag("force"), WaitL1: q.choice("wait", "l0", "l1") == "l1"}
	if err := q.err(); err != nil {
		return err
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !mediaType(r, "multipart/form-data") || params["boundary"] == "" {
		return problem(http.StatusUnsupportedMediaType, "The body must be sent as Content-Type: multipart/form-data with a boundary.")
	}
	if r.ContentLength > h.cfg.MaxFileSize+formRoom {
		return &TooLargeError{Size: r.ContentLength, Limit: h.cfg.MaxFileSize}
	}
	body := http.MaxBytesReader(w, r.Body, h.cfg.MaxFileSize+formRoom)
	if err := h.readForm(multipart.NewReader(body, params["boundary"]), &req); err != nil {
		return bodyError(r, err)
	}
	if err := CheckName(req.Category, req.FileName); err != nil {
		var invalid *InvalidError
		if errors.As(err, &invalid) && invalid.Field == "fileName" {
			invalid.Field = "file" // as this form calls it
		}
		return err
	}
	return h.put(w, r, req)
}

// readForm takes the parts as they come, in any order; only the file may be long.
func (h *handler) readForm(form *multipart.Reader, req *PutRequest) error {
	seen := map[string]bool{}
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		field, file, err := partNames(part)
		if err != nil {
			return err
		}
		if seen[field] {
			return badFields(FieldError{shorten(field), "is given twice"})
		}
		seen[field] = true
		limit := int64(formRoom)
		if field == "file" {
			limit = h.cfg.MaxFileSize
		}
		data, err := readPart(part, limit)
		if err != nil {
			return err
		}
		switch field {
		case "file":
			req.FileName, req.Body = file, data
		case "category":
			req.Category = string(data)
		case "force":
			q := parameters{values: url.Values{"force": {string(data)}}}
			req.Force = q.flag("force")
			if err := q.err(); err != nil {
				return err
			}
		default:
			return badFields(FieldError{shorten(field), "is not a field of this form"})
		}
	}
	if !seen["file"] {
		return badFields(FieldError{"file", "is missing"})
	}
	return nil
}

// partNames reads the field's and the file's name as they were sent. multipart's own FileName would cut a path down to
// its last element and so accept "../../x.md" as "x.md".
func partNames(part *multipart.Part) (field, file string, err error) {
	kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil || kind != "form-data" || params["name"] == "" {
		return "", "", badRequest("A part of the form has no readable name.")
	}
	return params["name"], params["filename"], nil
}

func readPart(part *multipart.Part, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &TooLargeError{Limit: limit}
	}
	return data, err
}

func (h *handler) put(w http.ResponseWriter, r *http.Request, req PutRequest) error {
	var err error
	if req.IfMatch, err = matchOf(r, "If-Match"); err != nil {
		return err
	}
	if req.IfNoneMatch, err = matchOf(r, "If-None-Match"); err != nil {
		return err
	}
	rec, created, err := h.cfg.Backend.Put(r.Context(), req)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		w.Header().Set("Location", "/v1/documents/"+url.PathEscape(rec.DocID))
	}
	if tag := recordTag(rec); tag != "" {
		w.Header().Set("ETag", tag) // a later If-Match can name it
	}
	return writeJSON(w, status, rec)
}

func (h *handler) deleteDocument(w http.ResponseWriter, r *http.Request) error {
	if err := queryOf(r).err(); err != nil {
		return err
	}
	ifMatch, err := matchOf(r, "If-Match")
	if err != nil {
		return err
	}
	docID := r.PathValue("docId")
	done, err := h.cfg.Backend.Delete(r.Context(), docID, ifMatch)
	if err != nil {
		return err
	}
	if !done {
		return writeJSON(w, http.StatusAccepted, Deleted{DocID: docID, Pending: "l1"})
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// matchOf reads a list of quoted entity tags, or *. A weak tag (W/"…") is refused: it says that the writer has not seen the
// very bytes.
func matchOf(r *http.Request, header string) (Match, error) {
	lines, given := r.Header[header]
	if !given {
		return Match{}, nil
	}
	m := Match{Given: true}
	for tag := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		tag = strings.TrimSpace(tag)
		switch {
		case tag == "": // an empty part of a list (RFC 9110, 5.6.1); an empty list names nothing
		case tag == "*":
			m.Any = true
		case len(tag) > 2 && tag[0] == '"' && strings.IndexByte(tag[1:], '"') == len(tag)-2:
			m.Hashes = append(m.Hashes, tag[1:len(tag)-1])
		default:
			return m, badFields(FieldError{header, `must be "fileHash" in quotes, a list of such, or *`})
		}
	}
	return m, nil
}
