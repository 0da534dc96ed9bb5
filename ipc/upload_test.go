package ipc

import (
	"bytes"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
)

func TestPut_5_1(t *testing.T) {
	h := openHouse(t, nil)
	body := "---\ntitle: 新\n---\r\n\xff raw bytes \x00"
	r := h.ask("PUT", "/v1/documents/"+url.PathEscape("api/支付")+"/"+url.PathEscape("错误 码.md")+"?force=1&wait=l1", body, "Content-Type", "text/markdown")
	if r.status != 201 || r.header.Get("ETag") == "" || r.header.Get("Location") != "/v1/documents/"+url.PathEscape("api-支付-错误 码.md") {
		t.Fatalf("%+v", r)
	}
	got := h.puts[0]
	if got.Category != "api/支付" || got.FileName != "错误 码.md" || string(got.Body) != body || !got.Force || !got.WaitL1 || got.IfMatch.Given || got.IfNoneMatch.Given {
		t.Errorf("%+v", got)
	}
	for _, ct := range []string{"", "text/x-markdown", "application/octet-stream", "text/markdown; charset=utf-8"} {
		if r = h.ask("PUT", "/v1/documents/ops/b.md", "b"+ct, "Content-Type", ct); r.status/100 != 2 {
			t.Errorf("%q: %+v", ct, r)
		}
	}
	if r.status != 200 || r.header.Get("Location") != "" {
		t.Errorf("replaced: %+v", r)
	}
	p := h.problem(h.ask("PUT", "/v1/documents/ops/c.md", "# A\n\nbody"), 409)
	if p.Record == nil || p.Record.DocID != "ops-a.md" {
		t.Errorf("409 without the existing record: %+v", p)
	}
}

// SPEC 5.1: a stale If-Match gets 412, so that no edit is lost.
func TestPreconditions_5_1(t *testing.T) {
	h := openHouse(t, nil)
	tag := h.ask("GET", "/v1/documents/ops-a.md", "").header.Get("ETag")
	for i, c := range []struct {
		method, path, header, value string
		status                      int
	}{
		{"PUT", "/v1/documents/ops/a.md", "If-Match", `"beef"`, 412},
		{"PUT", "/v1/documents/ops/none.md", "If-Match", "*", 412},
		{"PUT", "/v1/documents/ops/a.md", "If-None-Match", "*", 412},
		{"PUT", "/v1/documents/ops/a.md", "If-None-Match", tag, 412},
		{"DELETE", "/v1/documents/ops-a.md", "If-Match", `"beef"`, 412},
		{"PUT", "/v1/documents/ops/a.md", "If-Match", "beef", 400},
		{"PUT", "/v1/documents/ops/a.md", "If-Match", `W/"beef"`, 400},
		{"PUT", "/v1/documents/ops/a.md", "If-Match", `"a"b"`, 400},
		{"PUT", "/v1/documents/ops/a.md", "If-Match", "", 412},   // an empty list names no version (RFC 9110)
		{"PUT", "/v1/documents/ops/a.md", "If-Match", " ,", 412}, // nor does one of empty parts
		{"DELETE", "/v1/documents/ops-a.md", "If-Match", "x", 400},
		{"PUT", "/v1/documents/ops/new.md", "If-None-Match", "*", 201},
		{"DELETE", "/v1/documents/ops-a.md", "If-Match", `"beef", ` + tag, 204},
		{"PUT", "/v1/documents/ops/a.md", "If-Match", tag, 200},
		{"PUT", "/v1/documents/ops/a.md", "If-None-Match", "", 200},
	} {
		r := h.ask(c.method, c.path, strings.Repeat("x", i+1), c.header, c.value)
		if r.status != c.status {
			t.Errorf("%s %s %s: %q: %d, want %d", c.method, c.path, c.header, c.value, r.status, c.status)
		}
		if r.status == 412 && strings.Contains(c.path, "a.md") && r.header.Get("ETag") != tag {
			t.Errorf("412 does not say what is there now: %q", r.header.Get("ETag"))
		}
	}
}

func TestPutRefusals_5_2(t *testing.T) {
	h := openHouse(t, nil)
	for _, name := range []string{"../x.md", "a\\b.md", "a:b.md", "a%2Fb.md", "a\x00.md", "a\u202e.md", "a.md ", "CON.md", ".x.md", "x.txt", "x", strings.Repeat("n", 300) + ".md", "sub/x.md"} {
		h.problem(h.ask("PUT", "/v1/documents/ops/"+url.PathEscape(name), "x", "Content-Type", "text/markdown"), 400)
	}
	for _, category := range []string{"..", "../..", "/etc", "a/../..", ".git", "a\\b", "con"} {
		r := h.ask("PUT", "/v1/documents/"+strings.ReplaceAll(url.PathEscape(category), ".", "%2E")+"/x.md", "x")
		if p := h.problem(r, 400); p.Errors[0].Field != "category" {
			t.Errorf("%q: %+v", category, p)
		}
	}
	for path, status := range map[string]int{
		"/v1/documents/../x.md": 400, "/v1/documents//x.md": 400, "/v1/documents/ops/": 404, "/v1/documents/a/b/x.md": 404,
		"/v1/documents/ops/x.md?force=yes": 400, "/v1/documents/ops/x.md?wait=l2": 400, "/v1/documents/ops/x.md?overwrite=1": 400,
	} {
		h.problem(h.ask("PUT", path, "x"), status)
	}
	for _, ct := range []string{"text/plain", "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/html"} {
		h.problem(h.ask("PUT", "/v1/documents/ops/x.md", "x", "Content-Type", ct), 415)
	}
	if len(h.puts) != 0 {
		t.Errorf("written: %+v", h.puts)
	}
}

func TestTooLarge(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.MaxFileSize = 1000 })
	if r := h.ask("PUT", "/v1/documents/ops/x.md", strings.Repeat("x", 1000)); r.status != 201 {
		t.Errorf("at the limit: %+v", r)
	}
	h.problem(h.ask("PUT", "/v1/documents/ops/y.md", strings.Repeat("y", 1001)), 413)
	body, ct := form(t, part{"file", "y.md", strings.Repeat("y", 1001)})
	h.problem(h.ask("POST", "/v1/documents", body, "Content-Type", ct), 413)
	body, ct = form(t, part{"category", "", strings.Repeat("c", formRoom+1000)}, part{"file", "y.md", "y"})
	h.problem(h.ask("POST", "/v1/documents", body, "Content-Type", ct), 413)
	body, ct = form(t, part{"category", "", strings.Repeat("c", formRoom+1)}, part{"file", "y.md", "y"})
	h.problem(h.ask("POST", "/v1/documents", body, "Content-Type", ct), 413)
	if len(h.puts) != 1 {
		t.Errorf("%d puts", len(h.puts))
	}
}

type part struct{ field, file, body string }

// form writes parts as a browser does; file "-" leaves the filename out.
func form(t testing.TB, parts ...part) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		head := textproto.MIMEHeader{}
		disposition := `form-data; name="` + p.field + `"`
		if p.file != "" {
			disposition += `; filename="` + p.file + `"`
		}
		head.Set("Content-Disposition", disposition)
		out, err := w.CreatePart(head)
		if err != nil {
			t.Fatal(err)
		}
		out.Write([]byte(p.body))
	}
	w.Close()
	return b.String(), w.FormDataContentType()
}

func TestForm(t *testing.T) {
	h := openHouse(t, nil)
	body, ct := form(t, part{"file", "错误 码.md", "raw\r\n--x"}, part{"category", "", "api/v2"}, part{"force", "", "true"})
	r := h.ask("POST", "/v1/documents?wait=l0", body, "Content-Type", ct, "If-None-Match", "*")
	if r.status != 201 || r.header.Get("ETag") == "" || r.header.Get("Location") == "" {
		t.Fatalf("%+v", r)
	}
	if got := h.puts[0]; got.Category != "api/v2" || got.FileName != "错误 码.md" || string(got.Body) != "raw\r\n--x" || !got.Force || !got.IfNoneMatch.Any {
		t.Errorf("%+v", got)
	}
	body, ct = form(t, part{"file", "root.md", "x"})
	if r = h.ask("POST", "/v1/documents", body, "Content-Type", ct); r.status != 201 || h.puts[1].Category != "" {
		t.Errorf("without a category: %+v", r)
	}
}

func TestFormRefusals(t *testing.T) {
	h := openHouse(t, nil)
	for _, c := range []struct {
		name  string
		parts []part
		field string
	}{
		{"path", []part{{"file", "../../x.md", "x"}}, "file"},
		{"backslash", []part{{"file", `..\\x.md`, "x"}}, "file"},
		{"no name", []part{{"file", "", "x"}}, "file"},
		{"not Markdown", []part{{"file", "x.exe", "x"}}, "file"},
		{"bad category", []part{{"file", "x.md", "x"}, {"category", "", ".."}}, "category"},
		{"no file", []part{{"category", "", "ops"}}, "file"},
		{"two files", []part{{"file", "x.md", "x"}, {"file", "y.md", "y"}}, "file"},
		{"unknown field", []part{{"file", "x.md", "x"}, {"title", "", "x"}}, "title"},
		{"bad force", []part{{"file", "x.md", "x"}, {"force", "", "maybe"}}, "force"},
		{"no field name", []part{{"", "x.md", "x"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.t = t
			body, ct := form(t, c.parts...)
			p := h.problem(h.ask("POST", "/v1/documents", body, "Content-Type", ct), 400)
			if c.field != "" && p.Errors[0].Field != c.field {
				t.Errorf("%+v", p)
			}
		})
	}
	h.t = t
	body, ct := form(t, part{"file", "x.md", "x"})
	h.problem(h.ask("POST", "/v1/documents", body[:len(body)-20], "Content-Type", ct), 400)
	h.problem(h.ask("POST", "/v1/documents?x=1", body, "Content-Type", ct), 400)
	for _, ct := range []string{"", "text/plain", "application/json", "multipart/form-data", "multipart/mixed; boundary=x", "application/x-www-form-urlencoded"} {
		h.problem(h.ask("POST", "/v1/documents", body, "Content-Type", ct), 415)
	}
	if len(h.puts) != 0 {
		t.Errorf("written: %+v", h.puts)
	}
}

func TestDelete_5_2(t *testing.T) {
	h := openHouse(t, nil)
	if r := h.ask("DELETE", "/v1/documents/ops-a.md", ""); r.status != 204 || r.body != "" {
		t.Errorf("%+v", r)
	}
	h.notDone = true
	if r := h.ask("DELETE", "/v1/documents/ops-a.md", ""); r.status != 202 || r.json(t)["pending"] != "l1" {
		t.Errorf("%+v", r)
	}
	h.problem(h.ask("DELETE", "/v1/documents/ops-a.md?force=1", ""), 400)
}
