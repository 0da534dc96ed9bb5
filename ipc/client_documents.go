package ipc

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Documents is one page of records.
func (c *Client) Documents(ctx context.Context, q DocumentsQuery) (DocumentList, error) {
	warnings := ""
	if q.Warnings {
		warnings = "1"
	}
	return get[DocumentList](ctx, c, "/v1/documents"+query("category", q.Category, "status", q.Status, "layer", q.Layer, "q", q.Q,
		"warnings", warnings, "limit", number(q.Limit), "cursor", q.Cursor))
}

// AllDocuments gives every record that matches q, page by page; an error ends the sequence.
func (c *Client) AllDocuments(ctx context.Context, q DocumentsQuery) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			page, err := c.Documents(ctx, q)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, rec := range page.Documents {
				if !yield(rec, nil) {
					return
				}
			}
			if q.Cursor = page.NextCursor; q.Cursor == "" {
				return
			}
		}
	}
}

// Document is one record by its id.
func (c *Client) Document(ctx context.Context, docID string) (Record, error) {
	return get[Record](ctx, c, documentPath(docID))
}

// BySource is one record by its source.
func (c *Client) BySource(ctx context.Context, source string) (Record, error) {
	return get[Record](ctx, c, "/v1/documents/by-source"+query("source", source))
}

// Content reads a document's text.
func (c *Client) Content(ctx context.Context, docID string, q ContentQuery) (Content, error) {
	return get[Content](ctx, c, documentPath(docID)+"/content"+query("maxChars", number(q.MaxChars), "section", q.Section))
}

// Chunks are a document's passages.
func (c *Client) Chunks(ctx context.Context, docID string) ([]Chunk, error) {
	l, err := get[ChunkList](ctx, c, documentPath(docID)+"/chunks")
	return l.Chunks, err
}

// Put uploads a document; created says that there was none at this place.
func (c *Client) Put(ctx context.Context, p PutRequest) (rec Record, created bool, err error) {
	force, wait := "", ""
	if p.Force {
		force = "1"
	}
	if p.WaitL1 {
		wait = "l1"
	}
	params := query("force", force, "wait", wait)
	header := http.Header{}
	method, path, body := "PUT", "/v1/documents/"+url.PathEscape(p.Category)+"/"+url.PathEscape(p.FileName), p.Body
	header.Set("Content-Type", "text/markdown")
	if p.Category == "" { // a path has no room for an empty category; the form has
		method, path = "POST", "/v1/documents"
		if body, err = formOf(p, header); err != nil {
			return Record{}, false, err
		}
	}
	p.IfMatch.set(header, "If-Match")
	p.IfNoneMatch.set(header, "If-None-Match")
	resp, err := c.do(ctx, unhurried, method, path+params, header, body)
	if err != nil {
		return Record{}, false, err
	}
	err = readAnswer(resp, &rec)
	return rec, resp.StatusCode == http.StatusCreated, err
}

// Delete removes a document; done is false if its vectors are still to go.
func (c *Client) Delete(ctx context.Context, docID string, ifMatch Match) (done bool, err error) {
	header := http.Header{}
	ifMatch.set(header, "If-Match")
	resp, err := c.do(ctx, unhurried, "DELETE", documentPath(docID), header, nil)
	if err != nil {
		return false, err
	}
	return resp.StatusCode == http.StatusNoContent, readAnswer(resp, nil)
}

// Reindex reads one document anew.
func (c *Client) Reindex(ctx context.Context, docID string) (Job, error) {
	var j Job
	return j, c.send(ctx, unhurried, "POST", documentPath(docID)+"/reindex", nil, &j)
}

// Reconcile compares folder, registry and vectors and repairs; with dryRun it only counts.
func (c *Client) Reconcile(ctx context.Context, dryRun bool) (Job, error) {
	path := "/v1/reconcile"
	if dryRun {
		path += "?dryRun=1"
	}
	var j Job
	return j, c.send(ctx, unhurried, "POST", path, nil, &j)
}

// formOf writes the upload as a multipart form and sets its content type.
func formOf(p PutRequest, header http.Header) ([]byte, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", p.FileName)
	if err == nil {
		_, err = part.Write(p.Body)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("write form: %w", err)
	}
	header.Set("Content-Type", form.FormDataContentType())
	return b.Bytes(), nil
}

func documentPath(docID string) string { return "/v1/documents/" + url.PathEscape(docID) }

// set writes the match as a header, if it is given.
func (m Match) set(h http.Header, name string) {
	if !m.Given {
		return
	}
	tags := make([]string, 0, len(m.Hashes)+1)
	if m.Any {
		tags = append(tags, "*")
	}
	for _, hash := range m.Hashes {
		tags = append(tags, etag(hash))
	}
	h.Set(name, strings.Join(tags, ", "))
}

// query builds "?name=value&…" of pairs, leaving out empty values.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
