package web_test

import (
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const payment = `---
title: 支付网关错误码
keywords: [ERR_TIMEOUT, 支付网关]
summary: 错误码的含义
---

## 超时类错误

先查询，再决定。见 [退款](refund.md#时限)。

## 拒绝类错误

换一张卡。
`

const refund = `---
title: Refunds
keywords: [refund]
summary: How money goes back
---

## Limits

A refund is possible for 180 days. It takes three working days until the customer has the money.
`

// hostile tries to run something wherever a document reaches a page.
const hostile = `---
title: "<script>alert(1)</script>"
keywords: ["<img src=x onerror=alert(2)>", hostile]
summary: "\"><script>alert(3)</script>"
owner: "<svg onload=alert(4)>"
---

## <script>alert(5)</script> heading

<script>alert(6)</script>
<img src=x onerror="alert(7)">
<a href="javascript:alert(8)" onclick="alert(9)">raw link</a>
<a href="refund.md" hx-get="/x" hx-on:click="alert(10)" style="position:fixed" id="main" class="site">raw</a>
<iframe src="/"></iframe><form action="/asked" method="post"><input name="q"></form><style>*{display:none}</style>
<section id="q">taken</section>

[js](javascript:alert(11)) [vb](vbscript:x) [data](data:text/html,<script>alert(12)</script>) ![pic](javascript:alert(13))
<javascript:alert(14)>

` + "```\"><script>alert(15)</script>\ncode\n```\n"

func documents() map[string]string {
	return map[string]string{"api/payment.md": payment, "api/refund.md": refund, "api/hostile.md": hostile, "api/#1 odd?.md": "# Odd\n\nname\n"}
}

// SPEC 6.2: the page is served at / and holds an answer without any script.
func TestSearchWithoutScripts_6_2(t *testing.T) {
	h := newHouse(t, documents(), nil)
	home := h.get("/")
	if home.status != 200 || !strings.HasPrefix(home.header.Get("Content-Type"), "text/html") || !strings.Contains(home.body, `<form id="search" action="/" method="get"`) {
		t.Fatalf("%d %v\n%s", home.status, home.header, home.body)
	}
	a := h.get("/?q=ERR_TIMEOUT")
	for _, want := range []string{"high confidence", "支付网关错误码", "api/payment.md", "<mark>ERR_TIMEOUT</mark>", `lang="zh-CN"`, "超时类错误"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q in\n%s", want, a.body)
		}
	}
	if a := h.get("/?q=" + url.QueryEscape("zebra crossing in Peru")); !strings.Contains(a.body, "not found") || !strings.Contains(a.body, "/new?title=zebra") {
		t.Errorf("what the documents don't cover:\n%s", a.body)
	}
	if a := h.get("/?q=refnd"); !strings.Contains(a.body, "Instead of “refnd”, “refund” was looked up.") {
		t.Errorf("a typo:\n%s", a.body)
	}
	if a := h.get("/?q=refund&section=Limits"); !strings.Contains(a.body, "180 days") || !strings.Contains(a.body, "at=Limits#match") {
		t.Errorf("a section:\n%s", a.body)
	}
	if a := h.get("/?q=refund&why=1"); !strings.Contains(a.body, "Exactly one document carries a name") || !strings.Contains(a.body, "is in the query") {
		t.Errorf("why:\n%s", a.body)
	}
	if a := h.get("/?q=" + strings.Repeat("x", 8001)); a.status != 400 || !strings.Contains(a.body, "too long") {
		t.Errorf("too long: %d", a.status)
	}
	if a := h.get("/?q=refund", "HX-Request", "true"); strings.Contains(a.body, "<html") || !strings.Contains(a.body, `class="answer"`) {
		t.Errorf("a fragment:\n%s", a.body)
	}
}

// SPEC 7.2: what was asked on the page is in the history once, with the tool `web`; what was only typed is not.
func TestTypingLeavesNoTrace_7_2(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for _, q := range []string{"r", "re", "ref", "refund"} {
		if a := h.get("/?q="+q+"&typing=1", "HX-Request", "true"); a.status != 200 {
			t.Errorf("%s: %d", q, a.status)
		}
	}
	if got := h.queries(); len(got) != 0 {
		t.Errorf("typed: %q", got)
	}
	for range 2 { // the pause after typing, then Enter
		if a := h.ask("POST", "/asked?q=refund", "", "HX-Request", "true"); a.status != http.StatusNoContent {
			t.Errorf("%d", a.status)
		}
	}
	h.get("/?q=refund") // and a reload
	h.get("/?q=ERR_TIMEOUT")
	if got := strings.Join(h.queries(), " "); got != "ERR_TIMEOUT refund" {
		t.Errorf("history: %q", got)
	}
	if a := h.ask("POST", "/asked?q=other", ""); a.status != 404 {
		t.Errorf("without the header that a foreign form can't send: %d", a.status)
	}
}

// No document can put anything that runs into a page, nor pass for a part of it, and no page has anything inline.
func TestHostileDocuments(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for _, path := range []string{"/", "/?q=hostile", "/?q=hostile&why=1", "/?q=%3Cscript%3Ealert(1)%3C/script%3E%22onx=", "/docs/api/hostile.md", "/docs/api/hostile.md?view=text", "/docs/api/hostile.md?at=%3Cscript%3E", "/edit/api/hostile.md", "/state", "/new?title=%3C/textarea%3E%3Cscript%3E", "/docs/no%3Cscript%3E.md"} {
		a := h.get(path)
		for tag, attributes := range tags(a.body) {
			switch tag {
			case "iframe", "object", "embed", "img", "svg", "style", "base":
				t.Errorf("%s has <%s %v>", path, tag, attributes)
			case "script":
				if !strings.HasPrefix(attributes["src"], "/static/") {
					t.Errorf("%s has a script %v", path, attributes)
				}
			case "form":
				if attributes["method"] == "post" {
					t.Errorf("%s has a form %v", path, attributes)
				}
			}
			for name, value := range attributes {
				if name == "style" || strings.HasPrefix(name, "on") || strings.HasPrefix(name, "hx-on") || strings.Contains(strings.ToLower(value), "script:") && name != "value" {
					t.Errorf("%s has <%s %s=%q>", path, tag, name, value)
				}
			}
		}
		if n := strings.Count(a.body, `id="main"`) + strings.Count(a.body, `id="q"`); n != 2 {
			t.Errorf("%s: the page's own ids are there %d times", path, n)
		}
		checkSecurityHeaders(t, path, a)
	}
}

// tags yields every element of a page with its attributes.
func tags(page string) iter.Seq2[string, map[string]string] {
	return func(yield func(string, map[string]string) bool) {
		z := html.NewTokenizer(strings.NewReader(page))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
				continue
			}
			token, attributes := z.Token(), map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Key] = a.Val
			}
			if !yield(token.Data, attributes) {
				return
			}
		}
	}
}

func checkSecurityHeaders(t *testing.T, path string, a reply) {
	t.Helper()
	csp := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%s: no %s in %q", path, want, csp)
		}
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("%s: %q", path, csp)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %s is %q", path, name, got)
		}
	}
}

func TestDocumentPage(t *testing.T) {
	h := newHouse(t, documents(), nil)
	a := h.get("/docs/api/payment.md?at=" + url.QueryEscape("支付网关错误码 > 拒绝类错误"))
	for _, want := range []string{
		`<article lang="zh-CN">`, `<section class="match" id="match">`, `<h2 id="h-拒绝类错误">`, `href="#h-%e8%b6%85%e6%97%b6%e7%b1%bb%e9%94%99%e8%af%af"`,
		`href="/docs/api/refund.md#h-`, `href="/raw/api/payment.md"`, `aria-current="location"`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %s in\n%s", want, a.body)
		}
	}
	if before, _, _ := strings.Cut(a.body, `id="match"`); !strings.Contains(before, "先查询") || strings.Contains(before, "换一张卡") {
		t.Error("the section that matched is not the one in view")
	}
	if a := h.get("/docs/api/payment.md?at=gone"); !strings.Contains(a.body, "There is no section “gone” any more.") {
		t.Errorf("a section that is gone:\n%s", a.body)
	}
	if a := h.get("/docs/api/payment.md?view=text"); !strings.Contains(a.body, `<li id="L3"><code>keywords: [ERR_TIMEOUT, 支付网关]</code></li>`) {
		t.Errorf("lines:\n%s", a.body)
	}
	raw := h.get("/raw/api/payment.md")
	if raw.body != payment || raw.header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(raw.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("raw: %v %q", raw.header, raw.body)
	}
	if a := h.get("/docs/api/%231%20odd%3F.md"); a.status != 200 || !strings.Contains(a.body, `href="/edit/api/%231%20odd%3F.md"`) {
		t.Errorf("an odd name: %d", a.status)
	}
	if a := h.get("/docs/api/nowhere.md"); a.status != 404 || !strings.Contains(a.body, "There is nothing here") {
		t.Errorf("no document: %d", a.status)
	}
}

// What goldmark takes too long for is shown as it is.
func TestCostlyDocumentsAreNotRendered(t *testing.T) {
	h := newHouse(t, map[string]string{"a.md": "# A\n\n" + strings.Repeat("[](", 30_000), "b.md": "# B\n\n" + strings.Repeat("*a_", 30_000), "c.md": "# C\n\n" + strings.Repeat("> ", 30_000)}, nil)
	for _, path := range []string{"/docs/a.md", "/docs/b.md", "/docs/c.md"} {
		if a := h.get(path); a.status != 200 || !strings.Contains(a.body, `<div class="prose"><pre>`) || !strings.Contains(a.body, "here is its text as it is") {
			t.Errorf("%s: %d %.300s", path, a.status, a.body)
		}
	}
}

func TestLanguages(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for _, c := range []struct{ accept, cookie, want string }{
		{"", "", "en"},
		{"zh-CN,zh;q=0.9,en;q=0.8", "", "zh-CN"},
		{"zh-TW", "", "zh-CN"},
		{"de,en;q=0.5", "", "en"},
		{"fr", "", "en"},
		{"zh-CN", "en", "en"},
		{"en", "zh", "zh-CN"},
		{"en", "<x>", "en"},
	} {
		a := h.get("/", "Accept-Language", c.accept, "Cookie", "knowledged_lang="+c.cookie)
		if !strings.Contains(a.body, `<html lang="`+c.want+`">`) || a.header.Get("Content-Language") != c.want {
			t.Errorf("%+v: %s", c, a.header.Get("Content-Language"))
		}
	}
	a := h.get("/?q=refund&lang=zh")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/?q=refund" || !strings.Contains(a.header.Get("Set-Cookie"), "knowledged_lang=zh; Path=/") || !strings.Contains(a.header.Get("Set-Cookie"), "SameSite=Strict") {
		t.Errorf("the switch: %d %v", a.status, a.header)
	}
}

func TestStatePage(t *testing.T) {
	files := documents()
	files["ops/broken.md"] = "---\ntitle: Broken\nkeywords：[a]\n---\n\nText.\n"
	h := newHouse(t, files, nil)
	a := h.get("/state")
	for _, want := range []string{`href="/docs/ops/broken.md?view=text#L3">ops/broken.md:3</a>`, "<option>api</option>", "Everything is as it should be.", "data-token"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %s in\n%s", want, a.body)
		}
	}
	if a := h.get("/state?part=documents&warnings=1", "HX-Request", "true"); !strings.Contains(a.body, "ops/broken.md") || strings.Contains(a.body, "refund.md") {
		t.Errorf("only with warnings:\n%s", a.body)
	}
	if a := h.get("/state?category=api&q=fund"); strings.Contains(a.body, "broken.md:") || !strings.Contains(a.body, "api/refund.md") {
		t.Errorf("filtered:\n%s", a.body)
	}
	h.get("/?q=nobody+knows+zebras")
	if a := h.get("/state/asked"); a.status != 401 || strings.Contains(a.body, "zebra") {
		t.Errorf("the history without a token: %d", a.status)
	}
	if a := h.get("/state/asked", "Authorization", "Bearer "+token, "HX-Request", "true"); a.status != 200 || !strings.Contains(a.body, "zebras") || !strings.Contains(a.body, "not found") {
		t.Errorf("the history: %d\n%s", a.status, a.body)
	}
}
