package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// What the SDK refuses in plain text is told as a Problem; a mistake of one request as JSON-RPC, as on a pipe.
func TestRefusals(t *testing.T) {
	h := openHouse(t)
	session := h.initialize(t)
	const both = "application/json, text/event-stream"
	for _, c := range []struct {
		method, session, accept, revision, body string
		status                                  int
		want                                    string // of a Problem's detail, or the JSON-RPC error
	}{
		{"POST", session, both, "", `{"jsonrpc":"2.0","id":7,"method":"no/such"}`, 200, "7 -32601"},
		{"POST", session, both, "", `{"jsonrpc":"2.0","id":"x","method":"no/such","params":{"a":1}}`, 200, "x -32601"},
		{"POST", session, both, "", `{"jsonrpc":"2.0","id":8,"method":"tools/call"}`, 200, "8 -32600"},
		{"POST", "", both, sessionless, `{"jsonrpc":"2.0","id":7,"method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + sessionless + `"}}}`, 404, "7 -32601"},
		{"POST", session, both, "", `{"jsonrpc":"2.0","method":"no/such"}`, 400, "no/such"},
		{"POST", session, both, "", `{`, 400, "malformed"},
		{"POST", session, both, "", ``, 400, "non-empty"},
		{"POST", session, both, "", `"` + strings.Repeat("x", maxMessage) + `"`, 413, "exceeds"},
		{"POST", session, "text/html", "", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 400, "Accept"},
		{"POST", "gone", both, "", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 404, "session not found"},
		{"POST", session, both, "1999-01-01", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 400, "Unsupported"},
		{"GET", "", "text/event-stream", "", "", 400, "Mcp-Session-Id"},
		{"GET", "gone", "text/event-stream", "", "", 404, "session not found"},
		{"DELETE", "", "", "", "", 400, "Mcp-Session-Id"},
		{"DELETE", "", "", sessionless, "", 405, "Method"},
	} {
		req, err := http.NewRequest(c.method, h.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {c.accept}}
		if c.session != "" {
			req.Header.Set(sessionHeader, c.session)
		}
		if c.revision != "" {
			req.Header.Set("Mcp-Protocol-Version", c.revision)
			req.Header.Set("Mcp-Method", "no/such")
		}
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		var got struct {
			ID     any
			Error  struct{ Code int }
			Status int
			Title  string
			Detail string
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%+.60v: %v: %s", c, err, body)
		}
		kind, ok := "application/problem+json", got.Status == c.status && got.Title == http.StatusText(c.status) && strings.Contains(got.Detail, c.want)
		if strings.Contains(c.want, "-326") {
			kind, ok = "application/json", fmt.Sprint(got.ID, " ", got.Error.Code) == c.want
		}
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != kind || !ok {
			t.Errorf("%s %q %s %.80s: %d %s: %s", c.method, c.session, c.revision, c.body, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		}
	}
}
