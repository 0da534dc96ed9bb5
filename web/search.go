package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"knowledged/document"
	"knowledged/ipc"
	"knowledged/lookup"
)

// searchData is the search page. Without a query only Start is set.
type searchData struct {
	Query, Section, Category string
	Answer                   *lookup.Answer
	Verdict                  verdict
	Lead                     *hit   // the primary
	Passage                  *hit   // the supplement
	Sections                 []link // of the primary
	Others                   []hit
	More                     string // address of a longer list; empty if there is none
	WhyHref                  string
	Why                      *lookup.Explain
	Start                    *start
}

// verdict is how sure the answer is, in a word that CSS knows and a sentence.
type verdict struct {
	Tone string // high or low (confidence), strong or weak (relevance), or none
	Key  string // of the catalogue
	Args []any
}

// hit is one document of an answer.
type hit struct {
	Title, Path, Href string
	Crumbs            []string // headings below the title that lead to Body
	Body              template.HTML
	Summary           []lookup.Piece
	Names             [][]lookup.Piece // keywords and aliases
	Ranks             lookup.Ranks
}

type link struct{ Text, Href string }

// start is what there is to see before anything is asked.
type start struct {
	Status     ipc.Status
	Categories []category // empty where there are too many documents to list
}

type category struct {
	Name      string
	Documents []ipc.Record
}

const (
	moreHits = 20
	// mostListed is how many documents the start page lists.
	mostListed = 200
	// excerptRunes is about how much of a section is shown of a document that matched.
	excerptRunes = 900
	// mostNames is how many keywords are shown.
	mostNames = 12
)

// requestOf reads what is asked from an address. What it does not know is left alone: people share links.
func requestOf(q url.Values) lookup.Request {
	return lookup.Request{Query: q.Get("q"), SectionTitle: q.Get("section"), Category: q.Get("category")}
}

func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	if switched(w, r) {
		return nil
	}
	q := r.URL.Query()
	req := requestOf(q)
	data := &searchData{Query: req.Query, Section: req.SectionTitle, Category: req.Category}
	v := view{Page: "search", Query: req.Query, Data: data}
	if strings.TrimSpace(req.Query) == "" {
		var err error
		if data.Start, err = s.start(r.Context()); err != nil {
			return err
		}
		return s.show(w, r, "results", v)
	}
	v.Title = cut(req.Query, briefRunes)
	req.Content, req.Explain, req.Preview = lookup.ContentFull, q.Has("why"), q.Has("typing")
	if q.Get("k") != "" {
		req.TopK = moreHits
	}
	a, err := s.lookup(r, req)
	if err != nil {
		return err
	}
	s.fill(r.Context(), data, a)
	if a.Explain != nil && fragment(r) {
		return s.show(w, r, "why", v)
	}
	return s.show(w, r, "results", v)
}

// start lists the documents by category, if they are few.
func (s *Server) start(ctx context.Context) (*start, error) {
	st, err := s.cfg.Backend.Status(ctx)
	if err != nil {
		return nil, err
	}
	out := &start{Status: st}
	if st.Documents.Total > mostListed {
		return out, nil
	}
	list, err := s.cfg.Backend.Documents(ctx, ipc.DocumentsQuery{Limit: mostListed})
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, rec := range list.Documents {
		i, seen := at[rec.Category]
		if !seen {
			i = len(out.Categories)
			at[rec.Category] = i
			out.Categories = append(out.Categories, category{Name: rec.Category})
		}
		if rec.Title == "" {
			rec.Title = rec.FileName
		}
		rec.Source = s.pathOf(rec.Source)
		out.Categories[i].Documents = append(out.Categories[i].Documents, rec)
	}
	return out, nil
}

// fill words an answer for a reader.
func (s *Server) fill(ctx context.Context, d *searchData, a *lookup.Answer) {
	d.Answer, d.Why, d.Verdict = a, a.Explain, judge(a)
	asked := d.Query
	if a.Corrected != nil {
		asked = a.Corrected.To
	}
	if p := a.Primary; p != nil {
		d.Lead = s.lead(ctx, a, asked)
		for _, title := range p.AvailableSections {
			d.Sections = append(d.Sections, link{title, docAt(d.Lead.Path, title)})
		}
	}
	if x := a.Supplement; x != nil {
		res := lookup.Result{DocID: x.DocID, Title: x.Title, Source: x.Source, Breadcrumb: x.Breadcrumb, Snippet: x.Content, Ranks: ranksOf(a, x.DocID)}
		h := s.hit(res, asked)
		s.describe(ctx, &h, x.DocID, asked)
		if len(h.Crumbs) == 0 { // the chunk of title, summary and keywords, which are shown anyway
			h.Body = ""
		}
		if h.Body != "" || d.Lead == nil || a.Primary.DocID != x.DocID { // else the primary once more
			d.Passage = &h
		}
	}
	for _, res := range a.Others() {
		d.Others = append(d.Others, s.hit(res, asked))
	}
	self := url.Values{"q": {d.Query}}
	for name, value := range map[string]string{"section": d.Section, "category": d.Category} {
		if value != "" {
			self.Set(name, value)
		}
	}
	d.WhyHref = "/?" + self.Encode() + "&why=1"
	if n := len(a.Results); n > 0 && n < moreHits {
		d.More = "/?" + self.Encode() + "&k=20"
	}
}

func ranksOf(a *lookup.Answer, docID string) lookup.Ranks {
	for _, r := range a.Results {
		if r.DocID == docID {
			return r.Ranks
		}
	}
	return lookup.Ranks{}
}

// judge says how sure an answer is, no surer than it is.
func judge(a *lookup.Answer) verdict {
	p, x := a.Primary, a.Supplement
	switch {
	case !a.Found:
		return verdict{"none", "verdict.none", nil}
	case a.Corrected != nil && p != nil:
		return verdict{"low", "verdict.corrected", nil}
	case p != nil && p.Confidence == lookup.High:
		return verdict{"high", "verdict.unique", nil}
	case p != nil && a.Decision.Reason == lookup.ReasonUniqueIndexing:
		return verdict{"low", "verdict.indexing", nil}
	case p != nil && a.Decision.Reason == lookup.ReasonUniqueDoubtful:
		return verdict{"low", "verdict.doubtful", nil}
	case p != nil && a.Decision.L0Matches > 1:
		return verdict{"low", "verdict.several", []any{a.Decision.L0Matches}}
	case p != nil:
		return verdict{"low", "verdict.low", nil}
	case x != nil && x.MatchType == lookup.MatchFulltext && x.Relevance == lookup.Strong:
		return verdict{"strong", "verdict.fulltext", nil}
	case x != nil && x.Relevance == lookup.Strong:
		return verdict{"strong", "verdict.meaning", nil}
	}
	return verdict{"weak", "verdict.weak", nil}
}

// lead is the document that matched by name, with the part of it that the query is about.
func (s *Server) lead(ctx context.Context, a *lookup.Answer, asked string) *hit {
	p := a.Primary
	res := lookup.Result{DocID: p.DocID, Title: p.Title, Source: p.Source, Breadcrumb: p.Title, Ranks: ranksOf(a, p.DocID)}
	for _, r := range a.Results {
		if r.DocID == p.DocID {
			res.Breadcrumb = r.Breadcrumb
		}
	}
	res.Snippet = p.Content
	doc := document.Document{Title: p.Title, Body: p.Content}
	if p.Section != nil {
		res.Breadcrumb = p.Title + crumbSep + *p.Section
	} else if len(p.Content) <= maxRendered {
		doc.Sections = document.Sections(p.Content, 1)
		if i := sectionAt(&doc, res.Breadcrumb); i >= 0 {
			res.Snippet = p.Content[doc.Sections[i].Text:doc.Sections[i].End]
		}
	}
	res.Snippet = excerpt(res.Snippet)
	h := s.hit(res, asked)
	s.describe(ctx, &h, p.DocID, asked)
	return &h
}

// excerpt is the beginning of a text up to the end of a block: half a table or fence would be shown as something else.
func excerpt(body string) string {
	if utf8.RuneCountInString(body) <= excerptRunes || len(body) > maxRendered {
		return cut(body, excerptRunes)
	}
	end := 0
	for b := range document.Blocks(body) {
		if end > 0 && utf8.RuneCountInString(body[:b.End]) > excerptRunes {
			break
		}
		end = b.End
	}
	return cut(body[:end], 4*excerptRunes) // one block may be as long as it likes
}

func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

func (s *Server) hit(r lookup.Result, asked string) hit {
	p := s.pathOf(r.Source)
	h := hit{Title: r.Title, Path: p, Ranks: r.Ranks}
	if h.Title == "" {
		h.Title = p
	}
	crumb := strings.TrimPrefix(strings.TrimPrefix(r.Breadcrumb, r.Title), crumbSep)
	if crumb != "" && crumb != r.Breadcrumb || r.Title == "" {
		h.Crumbs = strings.Split(crumb, crumbSep)
	}
	h.Href = docAt(p, strings.Join(h.Crumbs, crumbSep))
	body, _ := render(r.Snippet, rendering{path: p, match: -1})
	h.Body = markHTML(body, asked)
	return h
}

// describe adds what the record knows. A document that was deleted just now is shown without.
func (s *Server) describe(ctx context.Context, h *hit, docID, asked string) {
	rec, err := s.cfg.Backend.Document(ctx, docID)
	if err != nil {
		return
	}
	h.Summary = lookup.Marks(rec.Summary, asked)
	for _, name := range append(rec.Keywords[:len(rec.Keywords):len(rec.Keywords)], rec.Aliases...) {
		if len(h.Names) < mostNames {
			h.Names = append(h.Names, lookup.Marks(name, asked))
		}
	}
}

// docAt is the address of a document's page with one section in view.
func docAt(p, at string) string {
	if at == "" {
		return address("/docs/", p)
	}
	return address("/docs/", p) + "?at=" + url.QueryEscape(at) + "#match"
}
