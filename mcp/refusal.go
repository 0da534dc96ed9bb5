package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"knowledged/ipc"
)

// refusals are the beginnings of what the SDK says, as plain text, of a request that it does not hand on, and the code that
// such a request is answered with on a pipe.
var refusals = map[string]int{"JSON RPC not handled: ": -32601, "invalid request: ": -32600}

// refusal is the ResponseWriter of the SDK's handlers. It passes on what they answer, but for errors in plain text: those
// become what the same mistake is answered with elsewhere, JSON-RPC for one request (as on a pipe), else a Problem.
type refusal struct {
	http.ResponseWriter
	asked  bytes.Buffer // the body as far as it was read; let go when the answer is no refusal
	status int          // of a refusal; 0: there is none
	text   bytes.Buffer // of a refusal
}

// withRefusals serves with the SDK's handler. A stream is not held up: only a refusal is kept until the handler is done.
func withRefusals(h http.Handler, w http.ResponseWriter, r *http.Request) {
	f := &refusal{ResponseWriter: w}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, &f.asked), r.Body}
	h.ServeHTTP(f, r)
	if f.status > 0 {
		f.answer(r)
	}
}

// Unwrap serves http.ResponseController.
func (f *refusal) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func (f *refusal) WriteHeader(status int) {
	kind, _, _ := mime.ParseMediaType(f.Header().Get("Content-Type"))
	if status >= http.StatusBadRequest && (kind == "text/plain" || kind == "") {
		f.status = status
		return
	}
	f.asked = bytes.Buffer{}
	f.ResponseWriter.WriteHeader(status)
}

func (f *refusal) Write(p []byte) (int, error) {
	if f.status > 0 {
		return f.text.Write(p)
	}
	return f.ResponseWriter.Write(p)
}

// answer says in another form what the SDK has said.
func (f *refusal) answer(r *http.Request) {
	text := cmp.Or(strings.TrimSpace(f.text.String()), http.StatusText(f.status))
	var m message
	if f.status == http.StatusBadRequest && json.Unmarshal(f.asked.Bytes(), &m) == nil && m.request() && validID(m.ID) {
		for beginning, code := range refusals {
			if strings.HasPrefix(text, beginning) {
				f.send(http.StatusOK, "application/json", map[string]any{
					"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": text},
				})
				return
			}
		}
	}
	f.send(f.status, "application/problem+json", ipc.Problem{
		Status: f.status, Title: http.StatusText(f.status), Detail: text, RequestID: ipc.RequestID(r.Context()),
	})
}

func (f *refusal) send(status int, kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = nil // can't be: texts, numbers and an id that was read as JSON
	}
	f.Header().Set("Content-Type", kind)
	f.Header().Set("Content-Length", strconv.Itoa(len(data)))
	f.ResponseWriter.WriteHeader(status)
	_, _ = f.ResponseWriter.Write(data) // fails only if the client is gone
}
