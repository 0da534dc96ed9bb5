package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"knowledged/document"
	"knowledged/ipc"
	"knowledged/lint"
)

// editData is the editor. Saving is editor.js's: it PUTs to the API with the token and If-Match.
type editData struct {
	New      bool
	Path     string
	Folder   string
	FileName string
	DocID    string
	Hash     string // of the bytes that Text was read from; empty for a new document
	Text     string
	Recoded  bool // the file is not UTF-8 with plain line ends: saving makes it so
	Line     string
	Lang     string
	Findings findings
}

// compose is the editor on a new document.
func (s *Server) compose(w http.ResponseWriter, r *http.Request) error {
	if switched(w, r) {
		return nil
	}
	l, q := languageOf(r), r.URL.Query()
	title := strings.Join(strings.Fields(q.Get("title")), " ")
	d := &editData{New: true, Folder: q.Get("category"), Lang: l.Tag(), Text: l.say("edit.template", yamlText(title))}
	d.Findings = s.inspect(r.Context(), "new.md", d.Text)
	return s.show(w, r, "main", view{Page: "edit", Title: l.say("edit.new"), New: true, Data: d})
}

// yamlText quotes what YAML could read as something else. JSON's strings are YAML's.
func yamlText(s string) string {
	if s == "" {
		return `""`
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func (s *Server) edit(w http.ResponseWriter, r *http.Request) error {
	if switched(w, r) {
		return nil
	}
	rec, c, err := s.read(r)
	var invalid *ipc.InvalidError
	if errors.As(err, &invalid) {
		return ipc.ErrNotFound
	}
	if err != nil {
		return err
	}
	p := s.pathOf(rec.Source)
	sum := sha256.Sum256([]byte(c.Content))
	d := &editData{
		Path: p, FileName: path.Base(p), DocID: rec.DocID, Hash: c.FileHash, Text: c.Content, Line: r.URL.Query().Get("line"),
		Recoded: hex.EncodeToString(sum[:]) != c.FileHash, Lang: langOf(rec.Title + rec.Summary), Findings: s.inspect(r.Context(), p, c.Content),
	}
	if folder := path.Dir(p); folder != "." {
		d.Folder = folder
	}
	return s.show(w, r, "main", view{Page: "edit", Title: languageOf(r).say("edit.title", d.FileName), Data: d})
}

// findings are what lint says of one text.
type findings struct {
	List []lint.Finding
	InL0 bool // it will be found by name
}

// mostFindings is how many are shown beside the text.
const mostFindings = 50

// lint judges a text that is being edited. It changes nothing.
func (s *Server) lint(w http.ResponseWriter, r *http.Request) error {
	if !fragment(r) {
		return ipc.ErrNotFound
	}
	// A form's encoding takes up to three bytes for one.
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 3*s.cfg.MaxFileSize+1024))
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(data))
	if err != nil {
		return &ipc.InvalidError{Field: "text", Message: "is not a form"}
	}
	name := form.Get("path")
	if name == "" {
		name = "new.md"
	}
	text := strings.ReplaceAll(form.Get("text"), "\r\n", "\n") // as forms send line ends
	return s.show(w, r, "findings", view{Page: "edit", Data: &editData{Findings: s.inspect(r.Context(), name, text)}})
}

// inspect is lint on one document alone: what takes the whole folder to see is `knowledged lint`'s.
func (s *Server) inspect(ctx context.Context, p, text string) findings {
	doc, err := document.Parse(p, []byte(text), document.Options{BaseName: s.cfg.BaseName, Fallback: s.cfg.Fallback})
	if err != nil {
		return findings{List: []lint.Finding{{Rule: lint.NotText, Severity: lint.Error, Message: err.Error()}}}
	}
	page := lint.Inspect(doc, text)
	report := lint.Check(lint.Folder{Pages: []lint.Page{page}, Exists: func(p string) bool {
		if ext := strings.ToLower(path.Ext(p)); ext != ".md" && ext != ".markdown" {
			return true // nothing is known here of other files
		}
		_, err := s.cfg.Backend.BySource(ctx, s.cfg.BaseName+"/"+p)
		return err == nil
	}})
	list := report.Findings
	return findings{List: list[:min(len(list), mostFindings)], InL0: doc.InL0 && len(doc.Keywords)+len(doc.Aliases) > 0}
}
