package web

import (
	"encoding/json"
	"errors"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"knowledged/document"
	"knowledged/ipc"
)

// documentData is the page of one document.
type documentData struct {
	Record   ipc.Record
	Path     string
	Lang     string
	Body     template.HTML
	Outline  []outlined
	Lines    []string // the file as it is, for view=text
	AsText   bool
	Plain    bool // too much to lay out: Body is the text as it is
	At       string
	Missing  bool // the section in At is not there
	Metadata []field
}

type outlined struct {
	Text, Href string
	Level      int
	Match      bool
}

// field is an entry of the front matter that the page does not show elsewhere.
type field struct{ Name, Value string }

// wholeDocument is more than any document holds.
const wholeDocument = 100 << 20

// read finds a document by its path and reads its file as it is now.
func (s *Server) read(r *http.Request) (ipc.Record, ipc.Content, error) {
	rec, err := s.cfg.Backend.BySource(r.Context(), s.cfg.BaseName+"/"+r.PathValue("path"))
	if err != nil {
		return ipc.Record{}, ipc.Content{}, err
	}
	c, err := s.cfg.Backend.Content(r.Context(), rec.DocID, ipc.ContentQuery{MaxChars: wholeDocument})
	return rec, c, err
}

func (s *Server) document(w http.ResponseWriter, r *http.Request) error {
	if switched(w, r) {
		return nil
	}
	rec, c, err := s.read(r)
	var invalid *ipc.InvalidError
	if errors.As(err, &invalid) { // not text: the record says why
		c.Content = ""
	} else if err != nil {
		return err
	}
	p := s.pathOf(rec.Source)
	doc, err := document.Parse(p, []byte(c.Content), document.Options{BaseName: s.cfg.BaseName, Fallback: s.cfg.Fallback})
	if err != nil {
		return err
	}
	q := r.URL.Query()
	d := &documentData{Record: rec, Path: p, Lang: "en", At: q.Get("at"), AsText: q.Get("view") == "text", Metadata: otherFields(rec.Metadata)}
	if doc.Chinese {
		d.Lang = "zh-CN"
	}
	if d.AsText {
		d.Lines = strings.Split(strings.TrimSuffix(c.Content, "\n"), "\n")
	} else {
		s.fillDocument(d, doc)
	}
	title := rec.Title
	if title == "" {
		title = rec.FileName
	}
	return s.show(w, r, "main", view{Page: "document", Title: title, Data: d})
}

func (s *Server) fillDocument(d *documentData, doc *document.Document) {
	match := sectionAt(doc, d.At)
	d.Missing = d.At != "" && match < 0
	how := rendering{path: d.Path, sections: doc.Sections, ids: idsOf(doc.Sections), match: match}
	body := doc.Body
	// The page shows the title already.
	if len(doc.Sections) > 0 && doc.Sections[0].Level == 1 && document.Fold(doc.Sections[0].Title) == document.Fold(doc.Title) {
		first := doc.Sections[0]
		if strings.TrimSpace(body[:first.Start]) == "" {
			body = blank(body, first.Start, first.Text)
		}
	}
	var laidOut bool
	d.Body, laidOut = render(body, how)
	d.Plain = !laidOut
	for i, sec := range doc.Sections {
		if sec.Level == 1 && document.Fold(sec.Title) == document.Fold(doc.Title) || sec.Level > 4 {
			continue
		}
		d.Outline = append(d.Outline, outlined{sec.Title, "#" + how.ids[i], sec.Level, i == match})
	}
}

// blank takes a heading out of a text and keeps all offsets.
func blank(text string, from, to int) string {
	b := []byte(text)
	for i := from; i < to; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

// otherFields are the fields of the front matter with a meaning of their author's.
func otherFields(metadata json.RawMessage) []field {
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return nil
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch name {
		case "title", "keywords", "tags", "summary", "description", "category", "aliases", "sections":
			continue
		}
		value := string(all[name])
		var text string
		if json.Unmarshal(all[name], &text) == nil {
			value = text
		}
		out = append(out, field{name, cut(value, 200)})
	}
	return out
}

// raw is the document's text as it is, for programs and for saving.
func (s *Server) raw(w http.ResponseWriter, r *http.Request) error {
	_, c, err := s.read(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	_, _ = w.Write([]byte(c.Content)) // fails only if the client is gone
	return nil
}
