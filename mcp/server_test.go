package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"knowledged/ipc"
	"knowledged/lookup"
)

// eras are a revision of the protocol with sessions and one without.
var eras = []string{"2025-06-18", "2026-07-28"}

// each runs a test over every way in, in both eras.
func each(t *testing.T, test func(t *testing.T, h *house, session *sdk.ClientSession, n *heard)) {
	for _, way := range []string{"pipe", "http"} {
		for _, era := range eras {
			t.Run(way+" "+era, func(t *testing.T) {
				h, n := openHouse(t), newHeard()
				session := h.connect(h.transports()[way](), n, era)
				test(t, h, session, n)
			})
		}
	}
}

func call(session *sdk.ClientSession, arguments any) (*sdk.CallToolResult, error) {
	return session.CallTool(context.Background(), &sdk.CallToolParams{Name: ToolName, Arguments: arguments})
}

func textOf(t testing.TB, r *sdk.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("content: %v", r.Content)
	}
	return r.Content[0].(*sdk.TextContent).Text
}

// SPEC 2.1, 6.3, 7.2: the same JSON as everywhere, beside text to read, and the history knows who asked.
func TestTool_6_3(t *testing.T) {
	each(t, func(t *testing.T, h *house, session *sdk.ClientSession, _ *heard) {
		tools, err := session.ListTools(context.Background(), nil)
		if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "lookup_knowledge" {
			t.Fatalf("tools: %+v, %v", tools, err)
		}
		r, err := call(session, map[string]any{"query": "ERR_A", "section_title": nil})
		if err != nil || r.IsError {
			t.Fatalf("%+v, %v", r, err)
		}
		if text := textOf(t, r); !strings.HasPrefix(text, "confidence: high") || !strings.Contains(text, "text of A") || !strings.Contains(text, "kb://api/a.md") {
			t.Errorf("text: %s", text)
		}
		structured, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var a lookup.Answer
		if err := json.Unmarshal(structured, &a); err != nil || a.Primary == nil || a.Primary.Title != "A <b>" {
			t.Errorf("structured: %s, %v", structured, err)
		}
		if _, err = call(session, map[string]any{"query": "ERR_A", "section_title": "S"}); err != nil {
			t.Fatal(err)
		}
		first, second := h.asked[0], h.asked[1]
		if first.Tool != "lookup_knowledge" || !strings.HasSuffix(first.Caller, "mcp=tester/1-2") || first.SectionTitle != "" || second.SectionTitle != "S" {
			t.Errorf("asked: %+v, %+v", first, second)
		}
	})
}

// Every answer is what the output schema says, and no schema has two types: `--strict` clients refuse those.
func TestAnswersFitTheOutputSchema(t *testing.T) {
	schema := outputSchema()
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	for _, q := range []string{"ERR_A", "several", "nothing"} {
		a, err := f.Lookup(context.Background(), lookup.Request{Query: q})
		if err != nil {
			t.Fatal(err)
		}
		var v any
		data, _ := json.Marshal(a)
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	var walk func(path string, s *jsonschema.Schema)
	walk = func(path string, s *jsonschema.Schema) {
		if s == nil {
			return
		}
		if len(s.Types) > 0 {
			t.Errorf("%s has the types %v", path, s.Types)
		}
		walk(path+"[]", s.Items)
		for _, a := range s.AnyOf {
			walk(path+"|", a)
		}
		for name, p := range s.Properties {
			walk(path+"."+name, p)
		}
	}
	walk("", schema)
}

func TestTextOfAnswers(t *testing.T) {
	s := &Server{baseName: "kb"}
	f := newFake()
	for query, want := range map[string][]string{
		"nothing": {"found: false", "Do not guess"},
		"several": {"confidence: low (the best of 2 that match)", "relevance: weak (may be beside the point)\nB > C\nsource: kb/readme.md (kb:///readme.md)", "- D > E (kb/domain/d.md)", "hint: try S", "still being indexed"},
	} {
		a, err := f.Lookup(context.Background(), lookup.Request{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		text := s.text(a)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", query, w, text)
			}
		}
	}
}

// What is wrong with a call is a protocol error that says what to mend.
func TestBadCalls(t *testing.T) {
	each(t, func(t *testing.T, h *house, session *sdk.ClientSession, _ *heard) {
		for _, c := range []struct {
			arguments any
			message   string
		}{
			{map[string]any{}, "query is missing"},
			{map[string]any{"query": " "}, "query is empty"},
			{map[string]any{"query": 5}, "query must be a string"},
			{map[string]any{"query": "q", "top_k": 5}, "top_k is not an argument; there are: query, section_title"},
			{[]any{"q"}, "arguments must be an object"},
		} {
			_, err := call(session, c.arguments)
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, c.message) || !strings.Contains(string(wire.Data), `"field"`) {
				t.Errorf("%v: %v", c.arguments, err)
			}
		}
		_, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "rm", Arguments: map[string]any{}})
		if err == nil || !strings.Contains(err.Error(), "rm") {
			t.Errorf("unknown tool: %v", err)
		}
		if r, err := call(session, map[string]any{"query": "ERR_A"}); err != nil || r.IsError {
			t.Errorf("after the errors: %v", err)
		}
	})
}

func TestConcurrentCalls(t *testing.T) {
	each(t, func(t *testing.T, h *house, session *sdk.ClientSession, _ *heard) {
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				r, err := call(session, map[string]any{"query": "ERR_A", "section_title": fmt.Sprint("S", i)})
				if err != nil || !strings.Contains(textOf(t, r), fmt.Sprintf("section: S%d\n", i)) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		calls.Wait()
	})
}

// SPEC 6.3: documents are resources, page by page, and every address that is listed can be read.
func TestResources_6_3(t *testing.T) {
	each(t, func(t *testing.T, h *house, session *sdk.ClientSession, _ *heard) {
		h.mu.Lock()
		h.texts["api/failed.md"], h.bad = "", map[string]bool{"api/failed.md": true}
		h.mu.Unlock()
		ctx := context.Background()
		var uris []string
		for r, err := range session.Resources(ctx, nil) {
			if err != nil {
				t.Fatal(err)
			}
			uris = append(uris, r.URI)
			read, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: r.URI})
			if err != nil || len(read.Contents) != 1 || read.Contents[0].Text != h.texts[r.Name] || read.Contents[0].URI != r.URI || r.MIMEType != "text/markdown" {
				t.Errorf("%s: %+v, %v", r.URI, read, err)
			}
		}
		want := []string{"kb:///My%20Notes/x%231%3F.md", "kb://api/a.md", "kb://domain/%E4%BC%9A%E5%91%98%20%E7%AD%89%E7%BA%A7.md", "kb:///readme.md"}
		if slices.Sort(uris); !slices.Equal(uris, slices.Sorted(slices.Values(want))) {
			t.Errorf("listed: %q", uris)
		}
		for _, other := range []string{"kb://domain/会员 等级.md", "kb://readme.md", "KB://api/a.md", "kb://API/a.md", "kb://my notes/x#1?.md"} {
			if read, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: other}); err != nil || read.Contents[0].URI != other {
				t.Errorf("%s: %v", other, err)
			}
		}
		code := int64(codeNotFound)
		if session.InitializeResult().ProtocolVersion >= sessionless {
			code = jsonrpc.CodeInvalidParams
		}
		for _, none := range []string{"kb://api/none.md", "kb://none.md", "file:///etc/passwd", "kb://", "kb://../../etc/passwd", "x%\"\\"} {
			var wire *jsonrpc.Error
			if _, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: none}); !errors.As(err, &wire) || wire.Code != code {
				t.Errorf("%q: %v", none, err)
			}
		}
		if _, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: "odd"}); err == nil {
			t.Error("a cursor of nobody's is taken")
		}
		templates, err := session.ListResourceTemplates(ctx, nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "kb://{+path}" {
			t.Errorf("templates: %+v, %v", templates, err)
		}
	})
}

func TestCompletion(t *testing.T) {
	h := openHouse(t)
	for i := range 3 {
		h.write(fmt.Sprintf("ops/domain-%d.md", i), "")
	}
	session := h.connect(h.transports()["pipe"](), newHeard(), eras[0])
	complete := func(kind, uri, argument, value string) sdk.CompletionResultDetails {
		r, err := session.Complete(context.Background(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: kind, URI: uri}, Argument: sdk.CompleteParamsArgument{Name: argument, Value: value},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Completion
	}
	if got := complete("ref/resource", "kb://{+path}", "path", "DOMAIN"); !slices.Equal(got.Values, []string{"domain/会员 等级.md", "ops/domain-0.md"}) || !got.HasMore {
		t.Errorf("%+v", got)
	}
	if got := complete("ref/resource", "kb://other/{x}", "path", "d"); len(got.Values) != 0 {
		t.Errorf("another template: %+v", got)
	}
}

// SPEC 6.3: who has subscribed hears of an edit, and the next call answers from the new text.
func TestNotifications_6_3(t *testing.T) {
	each(t, func(t *testing.T, h *house, session *sdk.ClientSession, n *heard) {
		go func() { // in the newest revision it lasts as long as the subscription
			_ = session.Subscribe(context.Background(), &sdk.SubscribeParams{URI: "kb://API/a.md"})
		}()
		deadline := time.Now().Add(patience)
		for i := 0; ; i++ { // until the stream is open, nobody listens
			h.write("api/a.md", fmt.Sprint("version ", i))
			select {
			case uri := <-n.updated:
				if uri != "kb://api/a.md" {
					t.Errorf("updated: %s", uri)
				}
			case <-time.After(20 * time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatal("never heard of the update")
				}
				continue
			}
			break
		}
		if r, err := call(session, map[string]any{"query": "ERR_A"}); err != nil || !strings.Contains(textOf(t, r), "version ") {
			t.Errorf("after the edit: %v", err)
		}
		for len(n.listed) > 0 {
			<-n.listed
		}
		h.write("api/a.md", "no new name")
		h.write("ops/new.md", "new")
		await(t, "the list has changed", n.listed)
		h.Publish(ipc.Event{Type: ipc.EventDocument, Action: ipc.ActionDeleted, Source: "kb/ops/new.md"})
		await(t, "the list has changed again", n.listed)
		h.Publish(ipc.Event{Type: ipc.EventLagged})
		await(t, "events were lost", n.listed)
		for len(n.updated) > 0 {
			<-n.updated
		}
		h.Publish(ipc.Event{Type: ipc.EventLagged})
		if uri := await(t, "one of them may have been an update", n.updated); uri != "kb://api/a.md" {
			t.Errorf("updated: %s", uri)
		}
	})
}

// A save that changes nothing of the list makes nobody list again: of 10,000 documents, say.
func TestEditsDoNotChangeTheList(t *testing.T) {
	h, n := openHouse(t), newHeard()
	session := h.connect(h.transports()["pipe"](), n, eras[0])
	if err := session.Subscribe(context.Background(), &sdk.SubscribeParams{URI: "kb://api/a.md"}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		h.write("api/a.md", "x")
		await(t, "updated", n.updated)
	}
	h.write("ops/new.md", "") // its notification would come after any of theirs
	await(t, "listed", n.listed)
	if len(n.listed) != 0 {
		t.Errorf("%d more", len(n.listed))
	}
	if err := session.Unsubscribe(context.Background(), &sdk.UnsubscribeParams{URI: "kb://api/a.md"}); err != nil {
		t.Fatal(err)
	}
	if err := session.Subscribe(context.Background(), &sdk.SubscribeParams{URI: "http://a"}); err == nil {
		t.Error("a foreign address can be subscribed to")
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	var s sessions
	s.begin("listens")
	s.touch("old", 0)
	if gone := s.idle(time.Now()); len(gone) != 0 {
		t.Errorf("fresh: %v", gone)
	}
	if gone := s.idle(time.Now().Add(idleSession)); !gone["old"] || gone["listens"] {
		t.Errorf("idle: %v", gone)
	}
	s.end("listens")
	for i := range mostSessions + 1 {
		s.touch(fmt.Sprint(i), 0)
	}
	if gone := s.idle(time.Now().Add(idleSession / 2)); len(gone) <= mostSessions {
		t.Errorf("too many: %d gone", len(gone))
	}
}

func TestIdleHTTPSessionIsClosed(t *testing.T) {
	h := openHouse(t)
	id := h.initialize(t)
	h.sessions.mu.Lock()
	h.sessions.used[id].last = time.Now().Add(-2 * idleSession)
	h.sessions.mu.Unlock()
	h.endIdle()
	for deadline := time.Now().Add(patience); ; {
		if status, _ := h.send(t, id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); status == http.StatusNotFound {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the session lives on")
		}
	}
}

func (h *house) initialize(t *testing.T) string {
	t.Helper()
	_, header := h.send(t, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	return header.Get(sessionHeader)
}

func (h *house) send(t *testing.T, id, body string) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, h.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if id != "" {
		req.Header.Set(sessionHeader, id)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode, resp.Header
}

// After Close nobody comes in.
func TestClosed(t *testing.T) {
	h := openHouse(t)
	h.Close(context.Background())
	if status, _ := h.send(t, "", "{}"); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	a, b := newPipe()
	defer a.Close()
	if err := h.ServePipe(context.Background(), b); !errors.Is(err, errClosing) {
		t.Errorf("pipe: %v", err)
	}
}

func FuzzURI(f *testing.F) {
	for _, p := range []string{"a.md", "api/a.md", "A b/c.md", "会员/等级.md", "a:1/b.md", "u@h/x.md", "100%/a%20b.md", "x#y?z/w.md", "[::1]/a.md"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if path == "" || strings.HasPrefix(path, "/") {
			return
		}
		if got, ok := pathOf(uriOf(path)); !ok || got != path {
			t.Errorf("%q → %q → %q", path, uriOf(path), got)
		}
	})
}
