package daemon

import (
	"context"
	"encoding/base64"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"knowledged/document"
	"knowledged/ipc"
	"knowledged/lookup"
	"knowledged/registry"
)

// cursorMark tells a cursor from any other text in base64.
const cursorMark = "after:"

// Documents lists records by path, filtered and paged.
func (d *Daemon) Documents(_ context.Context, q ipc.DocumentsQuery) (ipc.DocumentList, error) {
	cursor, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	after, ours := strings.CutPrefix(string(cursor), cursorMark)
	if err != nil || q.Cursor != "" && !ours {
		return ipc.DocumentList{}, &ipc.InvalidError{Field: "cursor", Message: "is not a cursor of an earlier page"}
	}
	all := d.registry.All()
	start := 0
	if len(after) > 0 { // by name, not by position: documents may come and go between two pages
		start = sort.Search(len(all), func(i int) bool { return all[i].Path > after })
	}
	var out ipc.DocumentList
	for _, rec := range all[start:] {
		if !d.matches(rec, q) {
			continue
		}
		if len(out.Documents) == q.Limit {
			last := strings.TrimPrefix(out.Documents[q.Limit-1].Source, d.baseName+"/")
			out.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(cursorMark + last))
			break
		}
		out.Documents = append(out.Documents, d.wireRecord(rec))
	}
	if out.Documents == nil {
		out.Documents = []ipc.Record{}
	}
	return out, nil
}

func (d *Daemon) matches(rec *registry.Record, q ipc.DocumentsQuery) bool {
	switch {
	case q.Category != "" && rec.Category != q.Category,
		q.Warnings && len(rec.Warnings) == 0 && !rec.Failed(),
		q.Layer == "l0" && !rec.InL0,
		q.Layer == "l1" && !d.inL1(rec),
		q.Status != "" && d.status(rec) != q.Status:
		return false
	}
	return q.Q == "" || contains(rec, document.Fold(q.Q))
}

// contains looks for folded text in what names a document.
func contains(rec *registry.Record, folded string) bool {
	for _, names := range [][]string{{rec.Title, rec.Path}, rec.Keywords, rec.Aliases} {
		for _, s := range names {
			if strings.Contains(document.Fold(s), folded) {
				return true
			}
		}
	}
	return false
}

// Document is one record by docId.
func (d *Daemon) Document(_ context.Context, docID string) (ipc.Record, error) {
	rec, ok := d.registry.ByID(docID)
	if !ok {
		return ipc.Record{}, ipc.ErrNotFound
	}
	return d.wireRecord(rec), nil
}

// BySource finds a document by source, or by path below the base. Composed and decomposed spellings of a name are one.
func (d *Daemon) BySource(_ context.Context, source string) (ipc.Record, error) {
	for _, p := range []string{strings.TrimPrefix(source, d.baseName+"/"), source} {
		for _, spelling := range spellings(p) {
			if rec, ok := d.registry.Get(spelling); ok {
				return d.wireRecord(rec), nil
			}
		}
	}
	return ipc.Record{}, ipc.ErrNotFound
}

// Content reads a document's text as its file is now.
func (d *Daemon) Content(ctx context.Context, docID string, q ipc.ContentQuery) (ipc.Content, error) {
	rec, ok := d.registry.ByID(docID)
	if !ok {
		return ipc.Content{}, ipc.ErrNotFound
	}
	data, _, err := readFile(filepath.Join(d.base, filepath.FromSlash(rec.Path)), int64(d.cfg.Knowledge.MaxFileSize))
	if err != nil {
		d.log.Warn("a document's file could not be read", "requestId", ipc.RequestID(ctx), "path", rec.Path, "err", reason(err))
		d.watcher.Touch(rec.Path)
		return ipc.Content{}, ipc.ErrNotFound
	}
	doc, err := document.Parse(rec.Path, data, d.docOpt)
	if err != nil {
		return ipc.Content{}, &ipc.InvalidError{Field: "docId", Message: "names a file that is " + err.Error()}
	}
	text, err := document.Decode(data)
	if err != nil {
		return ipc.Content{}, &ipc.InvalidError{Field: "docId", Message: "names a file that is " + err.Error()}
	}
	e := lookup.Read(doc, text, q.MaxChars, q.Section)
	return ipc.Content{
		DocID: rec.DocID, Source: d.baseName + "/" + rec.Path, FileHash: hashOf(data, true),
		Content: e.Content, Truncated: e.Truncated, Section: e.Section, AvailableSections: e.AvailableSections, Hint: e.Hint,
	}, nil
}

// Chunks are a document's passages as the indexes hold them.
func (d *Daemon) Chunks(_ context.Context, docID string) ([]ipc.Chunk, error) {
	rec, ok := d.registry.ByID(docID)
	if !ok {
		return nil, ipc.ErrNotFound
	}
	chunks, err := d.registry.Chunks(rec.Path)
	if err != nil {
		return nil, err
	}
	out := make([]ipc.Chunk, 0, len(chunks))
	for _, c := range chunks {
		out = append(out, ipc.Chunk{
			ID: c.ID, Text: c.Text, Title: rec.Title, Breadcrumb: c.Breadcrumb,
			ChunkIndex: c.Index, TotalChunks: c.Total, Synced: d.l1 != nil && d.l1.Has(c.ID),
		})
	}
	return out, nil
}

// wireRecord is a record as the API shows it.
func (d *Daemon) wireRecord(rec *registry.Record) ipc.Record {
	out := ipc.Record{
		DocID: rec.DocID, Source: d.baseName + "/" + rec.Path, FileName: path.Base(rec.Path),
		FilePath: filepath.Join(d.base, filepath.FromSlash(rec.Path)), FileHash: rec.FileHash, FileSize: rec.FileSize,
		Title: rec.Title, Summary: rec.Summary, Category: rec.Category, Keywords: rec.Keywords, Aliases: rec.Aliases,
		Metadata: rec.Metadata, HasFrontmatter: rec.HasFrontmatter, Status: d.status(rec), ErrorMessage: rec.Error,
		InL0: rec.InL0, InL1: d.inL1(rec), ChunkCount: rec.ChunkCount(), Warnings: rec.Warnings,
		CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt,
	}
	if !rec.Failed() {
		out.IndexedAt = &rec.IndexedAt
	}
	return out
}

// status is derived, not stored: what is true of the indexes now.
func (d *Daemon) status(rec *registry.Record) string {
	switch {
	case rec.Failed():
		return ipc.StatusFailed
	case d.l1 != nil && !d.settledInL1(rec):
		return ipc.StatusIndexing
	}
	return ipc.StatusIndexed
}

// inL1 reports whether the document can be found by meaning: every chunk has its vector, but for passages given up.
func (d *Daemon) inL1(rec *registry.Record) bool {
	return d.l1 != nil && slices.ContainsFunc(rec.ChunkIDs(), d.l1.Has) && d.settledInL1(rec)
}

// settledInL1 reports whether no chunk waits for its vector: each has one, or was given up.
func (d *Daemon) settledInL1(rec *registry.Record) bool {
	for _, id := range rec.ChunkIDs() {
		if failed, _ := d.l1.Failed(id); !failed && !d.l1.Has(id) {
			return false
		}
	}
	return true
}
