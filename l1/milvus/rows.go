package milvus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"knowledged/embedding"
	"knowledged/l1"
)

// A batch is bounded by rows, and by bytes well below the 64 MB that Milvus takes in one message.
const (
	batchRows  = 500
	batchBytes = 16 << 20
)

var errReadOnly = errors.New("this daemon's l1.milvus.role is reader: it does not write")

// Upsert claims the rows, then puts them: a row without a claim could be deleted under us.
func (s *Store) Upsert(ctx context.Context, rows []l1.Row) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	if s.c.ReadOnly {
		return errReadOnly
	}
	ses, err := s.need(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		if err := embedding.Check(r.Vector, ses.dims); err != nil {
			return fmt.Errorf("store vector of %s: %w", r.ID, err)
		}
		if r.ID == "" || len(r.ID) > maxID || !utf8.ValidString(r.ID) {
			return fmt.Errorf("store vector of %q: not an id of 1 to %d bytes", r.ID, maxID)
		}
		ids[i] = r.ID
	}
	if err := s.claim(ctx, ses, ids); err != nil {
		return fmt.Errorf("claim rows: %w", s.lost(ctx, ses, err))
	}
	ses.freshRows.Store(false)
	for len(rows) > 0 {
		n, bytes := 0, 0
		for n < min(len(rows), batchRows) && (n == 0 || bytes < batchBytes) {
			bytes += 4*ses.dims + len(rows[n].Text) + 1024
			n++
		}
		columns, err := columnsOf(rows[:n], ses.dims)
		if err != nil {
			return err
		}
		err = patiently(ctx, func() error {
			_, err := ses.client.Upsert(ctx, ses.rows, "", columns...)
			return err
		})
		if err != nil {
			return fmt.Errorf("put %d rows: %w", n, s.lost(ctx, ses, err))
		}
		rows = rows[n:]
	}
	return nil
}

// columnsOf makes the server's form of rows. What is too long for a field, or not UTF-8, is cut or mended: one bad value
// would have the whole batch refused.
func columnsOf(rows []l1.Row, dims int) ([]entity.Column, error) {
	id, source, category, text := make([]string, len(rows)), make([]string, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	meta, vectors := make([][]byte, len(rows)), make([][]float32, len(rows))
	for i, r := range rows {
		id[i], source[i], category[i], text[i] = r.ID, cut(r.Source, maxSource), cut(r.Category, maxCategory), cut(r.Text, maxText)
		vectors[i] = r.Vector
		var err error
		meta[i], err = json.Marshal(rowMeta{
			Source: source[i], FileName: cut(r.FileName, maxCategory), Category: category[i], ChunkIndex: r.ChunkIndex,
			TotalChunks: r.TotalChunks, Title: cut(r.Title, maxHeading), Breadcrumb: cut(r.Breadcrumb, maxHeading),
		})
		if err != nil {
			return nil, fmt.Errorf("describe row %s: %w", r.ID, err)
		}
	}
	return []entity.Column{
		entity.NewColumnVarChar(fieldID, id), entity.NewColumnVarChar(fieldSource, source), entity.NewColumnVarChar(fieldCategory, category),
		entity.NewColumnVarChar(fieldText, text), entity.NewColumnJSONBytes(fieldMeta, meta),
		entity.NewColumnFloatVector(fieldEmbedding, dims, vectors),
	}, nil
}

// rowMeta is the field meta (SPEC 3.3).
type rowMeta struct {
	Source      string `json:"_source"`
	FileName    string `json:"_file_name"`
	Category    string `json:"category"`
	ChunkIndex  int    `json:"chunkIndex"`
	TotalChunks int    `json:"totalChunks"`
	Title       string `json:"title"`
	Breadcrumb  string `json:"breadcrumb"`
}

// cut gives at most so many bytes of s, whole characters, in valid UTF-8.
func cut(s string, bytes int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= bytes {
		return s
	}
	for bytes > 0 && !utf8.RuneStart(s[bytes]) {
		bytes--
	}
	return s[:bytes]
}

// Waits for a server that limits the rate of writes.
const (
	firstRateWait = 100 * time.Millisecond
	longRateWait  = 5 * time.Second
	ratePatience  = 2 * time.Minute
)

// patiently repeats a write for as long as the server limits their rate, at growing intervals. This is no outage.
func patiently(ctx context.Context, write func() error) error {
	start, wait := time.Now(), firstRateWait
	for {
		err := write()
		if err == nil || !rateLimited(err) || time.Since(start) > ratePatience {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		wait = min(2*wait, longRateWait)
	}
}
