package web_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"knowledged/daemon"
	"knowledged/ipc"
	"knowledged/web"
)

// broken is a daemon whose status cannot be had.
type broken struct {
	*daemon.Daemon
	err error
}

func (b *broken) Status(context.Context) (ipc.Status, error) { return ipc.Status{}, b.err }

// A reader is sent to the log only where it has a line.
func TestErrorPagePromisesWhatIsLogged(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b := &broken{}
	pages, err := web.New(web.Config{Backend: b, HasToken: func() bool { return false }}, log)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ipc.New(ipc.Config{Backend: b, Pages: pages, HTTP: "127.0.0.1:0", Socket: t.TempDir() + "/s"}, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	h := &house{t: t, url: "http://" + s.HTTPAddr()}
	for _, c := range []struct {
		err    error
		status int
		logged bool
	}{
		{errors.New("the disk is on fire"), 500, true},
		{ipc.ErrNoSpace, 507, true},
		{ipc.ErrUnavailable, 503, false},
		{context.DeadlineExceeded, 504, false},
	} {
		b.err = c.err
		a := h.get("/state", "X-Request-Id", "of-this-test", "Connection", "close")
		if promised := strings.Contains(a.body, "Request of-this-test; the log says more"); a.status != c.status || promised != c.logged {
			t.Errorf("%v: %d\n%s", c.err, a.status, a.body)
		}
	}
}

// What was refused is told once.
func TestErrorPageSaysItOnce(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for path, want := range map[string]string{
		"/?q=%ff":                          "is not valid UTF-8",
		"/?q=" + strings.Repeat("x", 8001): "is too long",
		"/?q=" + strings.Repeat("长", 8001): "is too long",
		"/state?cursor=x":                  "is not a cursor",
		"/?q=%00":                          "is empty",
	} {
		a := h.get(path)
		if n := strings.Count(a.body, want); a.status != 400 || n != 1 {
			t.Errorf("%.40s: %d, %q %d times\n%s", path, a.status, want, n, a.body)
		}
	}
}

// A query of 8000 characters is not repeated as one link, and no character of it is halved.
func TestLongQueriesAreCutWhereTheyAreRepeated(t *testing.T) {
	h := newHouse(t, documents(), nil)
	long := strings.Repeat("斑马过马路", 1600)
	a := h.get("/?q=" + url.QueryEscape(long))
	if a.status != http.StatusOK || !strings.Contains(a.body, "write a document on “"+strings.Repeat("斑马过马路", 16)+"…”") {
		t.Errorf("%d\n%.3000s", a.status, a.body)
	}
	if _, title, _ := strings.Cut(a.body, "<title>"); strings.Index(title, "</title>") > 400 {
		t.Errorf("the title is %d bytes long", strings.Index(title, "</title>"))
	}
	for _, path := range []string{"/docs/api/refund.md?at=" + url.QueryEscape(long), "/state/asked"} {
		a := h.get(path, "Authorization", "Bearer "+token)
		_, text, _ := strings.Cut(a.body, "<main")
		for tag := range strings.SplitSeq(text, "<") {
			if _, words, _ := strings.Cut(tag, ">"); len(words) > 500 {
				t.Errorf("%.40s repeats %d bytes: %.200s", path, len(words), words)
			}
		}
	}
}

// A mistyped address is told in words of the page; a program is told in JSON.
func TestNoPageHasThisAddress(t *testing.T) {
	h := newHouse(t, documents(), nil)
	a := h.get("/nope", "Accept", "text/html")
	if a.status != 404 || !strings.Contains(a.body, "No page has this address.") || !strings.Contains(a.body, `<form id="search"`) {
		t.Errorf("%d\n%s", a.status, a.body)
	}
	checkSecurityHeaders(t, "/nope", a)
	if a := h.get("/nope"); a.status != 404 || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

// In a Chinese browser, what went wrong is told in Chinese, on pages alone: the API stays as it is.
func TestErrorsInChinese(t *testing.T) {
	files := documents()
	files["ops/broken.md"] = "---\ntitle: Broken\nkeywords：[a]\n---\n\nText.\n"
	files["ops/binary.md"] = "a\x00b"
	h := newHouse(t, files, nil)
	zh := []string{"Accept-Language", "zh-CN", "Accept", "text/html"}
	const colon = `<span lang="zh-CN">front matter：keywords 之后是全角冒号`
	for path, want := range map[string]string{
		"/nope":                "没有这个地址的页面。",
		"/docs/nowhere.md":     "没有这篇文档。",
		"/?q=%ff":              "查询 不是有效的 UTF-8",
		"/state?cursor=x":      "不是之前某一页给出的游标",
		"/state":               colon,
		"/docs/ops/broken.md":  colon,
		"/edit/ops/broken.md":  colon,
		"/docs/ops/binary.md":  "此文件未被索引：不是文本：第 1 行含有 NUL 字节",
		"/state?status=FAILED": "不是文本：第 1 行含有 NUL 字节",
	} {
		if a := h.get(path, zh...); !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, no %s in\n%s", path, a.status, want, a.body)
		}
	}
	if a := h.get("/edit/ops/broken.md", zh...); !strings.Contains(a.body, `<span lang="zh-CN">请修正这一行`) {
		t.Errorf("what to do:\n%s", a.body)
	}
	if a := h.get("/v1/documents/nowhere", zh...); !strings.Contains(a.body, "There is no such document.") {
		t.Errorf("the API: %s", a.body)
	}
	if a := h.get("/v1/documents?warnings=true", zh...); !strings.Contains(a.body, "full-width colon") {
		t.Errorf("the API: %s", a.body)
	}
	const problem = `{"detail":"fileName is missing","errors":[{"field":"fileName","message":"is missing"}]}`
	if a := h.ask("POST", "/told", problem, "Accept-Language", "zh", "HX-Request", "true"); a.body != "文件名 缺失" {
		t.Errorf("%d %q", a.status, a.body)
	}
	if a := h.ask("POST", "/told", problem, "Accept-Language", "zh"); a.status != 404 {
		t.Errorf("without the header that a foreign form can't send: %d", a.status)
	}
}
