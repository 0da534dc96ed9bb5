package milvus

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// pageRows is the most that Milvus gives of a query with a limit.
const pageRows = 16384

// page is a part of a query's answer.
type page struct {
	rows    int
	columns map[string]entity.Column
}

func (p page) text(field string, i int) string {
	v, _ := p.columns[field].(*entity.ColumnVarChar).ValueByIdx(i)
	return v
}

func (p page) yes(field string, i int) bool {
	v, _ := p.columns[field].(*entity.ColumnBool).ValueByIdx(i)
	return v
}

func (p page) number(field string, i int) int64 {
	v, _ := p.columns[field].(*entity.ColumnInt64).ValueByIdx(i)
	return v
}

// query gives all rows of an expression that bounds their number itself.
func (ses *session) query(ctx context.Context, collection, expr string, fields []string, level entity.ConsistencyLevel, opts ...client.SearchQueryOptionFunc) (page, error) {
	columns, err := ses.client.Query(ctx, collection, nil, expr, fields, append(opts, client.WithSearchQueryConsistencyLevel(level))...)
	if err != nil {
		return page{}, err
	}
	p := page{columns: make(map[string]entity.Column), rows: -1}
	for _, f := range fields {
		c := columns.GetColumn(f)
		if c == nil {
			return page{}, fmt.Errorf("the server gives no field %s of %s", f, collection)
		}
		if p.rows >= 0 && c.Len() != p.rows {
			return page{}, fmt.Errorf("the server gives %d values of field %s for %d rows of %s", c.Len(), f, p.rows, collection)
		}
		p.rows, p.columns[f] = c.Len(), c
	}
	return p, nil
}

// scan goes through the rows that an expression names, "" for all, page by page in the order of their ids: offsets would cost
// more with every page, and miss rows when others are deleted meanwhile.
func (ses *session) scan(ctx context.Context, collection, expr string, fields []string, level entity.ConsistencyLevel, each func(page) error) error {
	last := ""
	for {
		bound := fieldID + " > " + quote(last)
		if expr != "" {
			bound += " and (" + expr + ")"
		}
		p, err := ses.query(ctx, collection, bound, fields, level, client.WithLimit(pageRows))
		if err != nil {
			return err
		}
		if err := each(p); err != nil {
			return err
		}
		if p.rows < pageRows {
			return nil
		}
		for i := range p.rows {
			last = max(last, p.text(fieldID, i))
		}
	}
}

// quote makes a literal of an expression. Only what would end or change the literal is escaped: Milvus does not read all of
// Go's escapes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// list makes the right side of "in".
func list(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = quote(id)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
