package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"knowledged/ipc"
)

// told is what another package says, in the reader's language where there are words for it, and else in English.
type told struct {
	Text string
	Lang string // for the lang attribute
}

// heard is a message of messages as it is recognised.
type heard struct {
	form *regexp.Regexp
	zh   string // with %s for each thing that form catches, as they stand
}

// hearing is made when the first Chinese page needs it.
var hearing = sync.OnceValue(func() []heard {
	list := make([]heard, len(messages))
	for i, m := range messages {
		list[i] = heard{regexp.MustCompile(`(?s)\A` + formOf(m.en) + `\z`), m.zh}
	}
	return list
})

// verb finds those of fmt that messages hold.
var verb = regexp.MustCompile(`%(?:\d*[sdcU]|q|04X|02X)`)

// formOf makes an expression of a text with verbs.
func formOf(text string) string {
	var b strings.Builder
	at := 0
	for _, v := range verb.FindAllStringIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[at:v[0]]))
		switch text[v[1]-1] {
		case 'd':
			b.WriteString(`(-?\d+)`)
		case 'q':
			b.WriteString(`("(?:[^"\\]|\\.)*")`)
		case 'c':
			b.WriteString(`(.)`)
		case 'U':
			b.WriteString(`(U\+[0-9A-F]+)`)
		case 'X':
			b.WriteString(`([0-9A-F]+)`)
		default:
			b.WriteString(`(.*?)`)
		}
		at = v[1]
	}
	return b.String() + regexp.QuoteMeta(text[at:])
}

// longestTold is the longest message that is looked up, in bytes: some quote what an author wrote.
const longestTold = 4096

// deepestTold is how deep messages stand in one another: a text that somebody sends may nest hundreds.
const deepestTold = 4

// tell finds the words for what another package says. What it says of parts of its message is looked up as well.
func (l language) tell(s string) told { return l.tellPart(s, 0) }

func (l language) tellPart(s string, depth int) (t told) {
	t = told{s, english.Tag()}
	if l != chinese || len(s) > longestTold || !utf8.ValidString(s) {
		return t
	}
	for _, h := range hearing() {
		m := h.form.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		args := make([]any, len(m)-1)
		for i, part := range m[1:] {
			if len(part) < len(s) && depth < deepestTold {
				part = l.tellPart(part, depth+1).Text
			}
			args[i] = part
		}
		return told{fmt.Sprintf(h.zh, args...), chinese.Tag()}
	}
	return t
}

// fieldNames are the names of parameters that a reader of a page has typed something for.
var fieldNames = map[string]string{"query": "查询", "fileName": "文件名", "category": "文件夹", "body": "文本"}

// fault words one wrong field.
func (l language) fault(e ipc.FieldError) told {
	message, name := l.tell(e.Message), e.Field
	if l == chinese && message.Lang == chinese.Tag() && fieldNames[name] != "" {
		name = fieldNames[name]
	}
	return told{name + " " + message.Text, message.Lang}
}

// detail words a Problem: what is wrong, and with which fields.
func (l language) detail(p *ipc.Problem) (list []told) {
	more := p.More()
	if len(p.Errors) == 1 && len(more) == 0 && p.Detail == p.Errors[0].Field+" "+p.Errors[0].Message {
		return []told{l.fault(p.Errors[0])}
	}
	list = append(list, l.tell(p.Detail))
	for _, e := range more {
		list = append(list, l.fault(e))
	}
	return list
}

// word puts an error of the API into the reader's language: editor.js saves by the API, whose errors are in English.
func (s *Server) word(w http.ResponseWriter, r *http.Request) error {
	if !fragment(r) {
		return ipc.ErrNotFound
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestTold))
	if err != nil {
		return err
	}
	var p ipc.Problem
	if json.Unmarshal(data, &p) != nil {
		return &ipc.InvalidError{Field: "body", Message: "is not a problem of the API"}
	}
	var lines []string
	for _, t := range languageOf(r).detail(&p) {
		lines = append(lines, t.Text)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(strings.Join(lines, " "))) // fails only if the client is gone
	return nil
}
