package l0

import (
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"knowledged/document"
)

// field numbers the fields of the full text. A head chunk has the first four, a passage the last two (its breadcrumb
// counts as headings).
type field int

const (
	fieldTitle field = iota
	fieldKeywords
	fieldSummary
	fieldHeadings
	fieldBody
	numFields
)

var fieldNames = [numFields]string{"title", "keywords", "summary", "headings", "body"}

var fieldModes = [numFields]mode{fieldTitle: forName, fieldKeywords: forName, fieldSummary: forBody, fieldHeadings: forBody, fieldBody: forBody}

// lengthTerm stands once in every field that has terms: its postings list the chunks with that field and the field's
// length in each. No word contains a NUL.
const lengthTerm = "\x00"

// chunkDoc hands a chunk to bleve. Fields are indexed only: nothing is stored, and there are no doc values.
type chunkDoc struct {
	id     string
	fields []*chunkField
	size   int
}

func newChunkDoc(c *document.Chunk) *chunkDoc {
	d := &chunkDoc{id: c.ID}
	if h := c.Head; h != nil {
		// A line for each item: words of different items must not form a pair.
		d.add(fieldTitle, h.Title)
		d.add(fieldKeywords, strings.Join(h.Keywords, "\n")+"\n"+strings.Join(h.Aliases, "\n"))
		d.add(fieldSummary, h.Summary)
		d.add(fieldHeadings, strings.Join(h.Headings, "\n"))
	} else {
		d.add(fieldHeadings, c.Breadcrumb)
		d.add(fieldBody, c.Text)
	}
	return d
}

func (d *chunkDoc) add(f field, value string) {
	d.size += len(value)
	d.fields = append(d.fields, &chunkField{name: fieldNames[f], value: value, mode: fieldModes[f]})
}

func (d *chunkDoc) ID() string { return d.id }

// AddIDField is bleve's call for the field by which it finds a document again; it is stored, so that hits have a name.
func (d *chunkDoc) AddIDField() {
	d.fields = append(d.fields, &chunkField{name: "_id", value: d.id, id: true})
}

func (d *chunkDoc) VisitFields(visit index.FieldVisitor) {
	for _, f := range d.fields {
		visit(f)
	}
}

func (d *chunkDoc) Size() int                                  { return d.size }
func (d *chunkDoc) NumPlainTextBytes() uint64                  { return uint64(d.size) }
func (d *chunkDoc) VisitComposite(index.CompositeFieldVisitor) {}
func (d *chunkDoc) HasComposite() bool                         { return false }
func (d *chunkDoc) StoredFieldsBytes() uint64                  { return 0 }
func (d *chunkDoc) Indexed() bool                              { return false }

// chunkField is one field's text and, after Analyze, its terms.
type chunkField struct {
	name   string
	value  string
	id     bool
	mode   mode
	length int
	terms  index.TokenFrequencies
}

// Analyze is called by bleve, from its own goroutines.
func (f *chunkField) Analyze() {
	f.terms = index.TokenFrequencies{}
	if f.id {
		f.length = 1
		f.count(f.value)
		return
	}
	t := texts.Get().(*text)
	defer texts.Put(t)
	t.set(f.value)
	t.terms(f.mode, func(term string, _ role) {
		f.length++
		f.count(term)
	})
	if f.length > 0 {
		f.count(lengthTerm)
	}
}

func (f *chunkField) count(term string) {
	tf := f.terms[term]
	if tf == nil {
		tf = &index.TokenFreq{Term: []byte(term)}
		f.terms[term] = tf
	}
	tf.SetFrequency(tf.Frequency() + 1)
}

func (f *chunkField) Options() index.FieldIndexingOptions {
	if f.id {
		return index.IndexField | index.StoreField
	}
	return index.IndexField
}

func (f *chunkField) Name() string                                     { return f.name }
func (f *chunkField) Value() []byte                                    { return []byte(f.value) }
func (f *chunkField) ArrayPositions() []uint64                         { return nil }
func (f *chunkField) EncodedFieldType() byte                           { return 't' }
func (f *chunkField) AnalyzedLength() int                              { return f.length }
func (f *chunkField) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }
func (f *chunkField) NumPlainTextBytes() uint64                        { return uint64(len(f.value)) }
