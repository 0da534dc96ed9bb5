//go:build real

package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func (b *browser) typeIn(selector, text string) chromedp.Action {
	return chromedp.SendKeys(selector, text, chromedp.ByQuery)
}

// In both languages: what is typed is answered while it is typed, the address follows, the history has it once.
func TestRealSearchAsYouType(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for _, c := range []struct{ lang, query, title, verdict string }{
		{"en", "how many working days until the customer has the money", "Refunds", "relevance"},
		{"zh-CN", "支付网关", "支付网关错误码", "可信度高"},
	} {
		b := h.browse(c.lang, "light")
		b.open("/")
		b.until(`document.activeElement.id === "q"`)
		b.do(b.typeIn("#q", c.query))
		b.until(`document.querySelector(".answer")?.dataset.query === "` + c.query + `"`)
		if got := b.value(`document.querySelector(".lead h1").innerText`); got != c.title {
			t.Errorf("%s: answered with %q", c.query, got)
		}
		if got := b.value(`document.querySelector("#verdict").innerText`); !strings.Contains(got, c.verdict) {
			t.Errorf("%s: the verdict is %q", c.query, got)
		}
		b.until(`new URLSearchParams(location.search).get("q") === "` + c.query + `" && document.title.startsWith("` + c.query + `")`)
		b.until(`document.querySelector("#said").textContent.length > 0`)
		b.eventually("recorded after a pause", func() bool { return len(h.queries()) > 0 && h.queries()[0] == c.query })
		// Back to the start page, and forth.
		b.do(chromedp.NavigateBack())
		b.until(`document.querySelector(".start") && document.querySelector("#q").value === ""`)
		b.do(chromedp.NavigateForward())
		b.until(`document.querySelector(".lead h1") && document.querySelector("#q").value === "` + c.query + `"`)
		b.quiet()
	}
	if got := h.queries(); len(got) != 2 {
		t.Errorf("the history has %q", got)
	}
}

// Letters that an input method is still putting together are not asked for.
func TestRealInputMethod(t *testing.T) {
	h := newHouse(t, documents(), nil)
	b := h.browse("zh-CN", "light")
	b.open("/")
	b.do(chromedp.Click("#q"), input.ImeSetComposition("zhi fu", 6, 6))
	b.until(`document.querySelector("#q").value === "zhi fu"`)
	b.do(input.InsertText("支付网关"))
	b.until(`document.querySelector(".answer")?.dataset.query === "支付网关"`)
	b.eventually("recorded after a pause", func() bool { return len(h.queries()) > 0 })
	if got := h.queries(); len(got) != 1 || got[0] != "支付网关" {
		t.Errorf("the history has %q", got)
	}
	b.quiet()
}

func TestRealKeys(t *testing.T) {
	h := newHouse(t, documents(), nil)
	b := h.browse("en", "dark")
	b.open("/state")
	b.do(slash)
	b.until(`document.activeElement.id === "q"`)
	b.do(chromedp.KeyEvent("payment refund"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelectorAll("a.go").length > 1`)
	b.eventually("Enter records", func() bool { return len(h.queries()) == 1 })
	at := func(n string) { b.until(`document.activeElement === document.querySelectorAll("a.go")[` + n + `]`) }
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	at("0")
	if got := b.value(`getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the focus cannot be seen: %s", got)
	}
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	at("1")
	b.do(chromedp.KeyEvent(kb.ArrowUp))
	at("0")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.activeElement.id === "q"`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.until(`location.pathname.startsWith("/docs/")`)
	b.until(`document.querySelector(".document") && document.documentElement.dataset.live === "1"`)
	b.do(slash, chromedp.KeyEvent("ERR_TIMEOUT"))
	b.until(`document.querySelector(".answer")?.dataset.query === "ERR_TIMEOUT"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.querySelector(".start") && document.querySelector("#q").value === ""`)
	b.quiet()
}

// slash is the key as a keyboard sends it: what keeps the key down from having its effect keeps the letter away.
var slash = chromedp.ActionFunc(func(ctx context.Context) error {
	if err := input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithCode("Slash").WithText("/").Do(ctx); err != nil {
		return err
	}
	return input.DispatchKeyEvent(input.KeyUp).WithKey("/").WithCode("Slash").Do(ctx)
})

// The section that matched is on the screen, and a save on disk shows by itself.
func TestRealDocument(t *testing.T) {
	files := documents()
	files["api/long.md"] = "---\ntitle: Long\nkeywords: [long]\nsummary: s\n---\n\n## First\n\n" + strings.Repeat("A paragraph of the first section.\n\n", 80) + "## Wanted\n\nThe zebra crosses.\n\n## Last\n\n" + strings.Repeat("More.\n\n", 80)
	h := newHouse(t, files, nil)
	b := h.browse("en", "light")
	b.open("/?q=where+does+the+zebra+cross")
	b.do(chromedp.Click(".lead a.go", chromedp.ByQuery), chromedp.WaitReady("#match"))
	b.until(`(() => { const r = document.querySelector("#match").getBoundingClientRect(), head = document.querySelector("header.site").getBoundingClientRect(); return scrollY > 500 && r.top >= head.bottom - 1 && r.bottom < innerHeight })()`)
	if got := b.value(`document.querySelector("#match h2").innerText`); got != "Wanted" {
		t.Errorf("in view: %q", got)
	}
	b.until(`document.documentElement.dataset.live === "1"`)
	h.write("api/long.md", strings.Replace(files["api/long.md"], "The zebra crosses.", "The zebra crosses at night.", 1))
	b.until(`document.querySelector("#match").innerText.includes("at night")`)
	b.until(`document.querySelector("#said").textContent.includes("has changed") && scrollY > 500`)
	if err := os.Remove(h.base + "/api/long.md"); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector("#said").textContent.includes("deleted")`)
	if got := b.value(`[...document.querySelectorAll(".notice")].map((n) => n.innerText).join("|")`); strings.Contains(got, "changed") {
		t.Errorf("what was said before covers it: %q", got)
	}
	b.open("/docs/api/payment.md")
	b.do(chromedp.Click(`.prose a[href^="/docs/api/refund.md"]`, chromedp.ByQuery), chromedp.WaitReady(`[data-source="kb/api/refund.md"]`))
	// What happened while nobody looked.
	b.until(`document.documentElement.dataset.live === "1"`)
	b.do(chromedp.Evaluate(`rest(); 0`, nil))
	later := strings.Replace(refund, "180 days", "365 days", 1)
	h.write("api/refund.md", later)
	sum := sha256.Sum256([]byte(later))
	b.eventually("indexed", func() bool {
		return strings.Contains(h.get("/v1/documents/by-source?source=api/refund.md").body, hex.EncodeToString(sum[:]))
	})
	b.do(chromedp.Evaluate(`catchUp(); 0`, nil))
	b.until(`document.querySelector(".prose").innerText.includes("365 days") && document.querySelector("#said").textContent.includes("has changed")`)
	if err := os.Remove(h.base + "/api/refund.md"); err != nil {
		t.Fatal(err)
	}
	b.eventually("deleted", func() bool { return h.get("/v1/documents/by-source?source=api/refund.md").status == 404 })
	b.do(chromedp.Evaluate(`catchUp(); 0`, nil))
	b.until(`document.querySelector("#said").textContent.includes("deleted")`)
	b.quiet("404") // the API's answer on what is deleted, which a browser logs
}

// All figures of an explanation fit beside the list of results; on a telephone they scroll in their own box, and whose they
// are stays in view.
func TestRealWhyFits(t *testing.T) {
	h := newHouse(t, documents(), nil)
	for _, lang := range []string{"en", "zh-CN"} {
		b := h.browse(lang, "light")
		for _, width := range []int64{1280, 1100, 390} {
			b.do(chromedp.EmulateViewport(width, 844))
			b.open("/?q=payment+refund+ERR_TIMEOUT&why=1")
			const box = `(() => { const x = document.querySelector(".why .scroll"), edge = x.getBoundingClientRect().right + 1;
				x.scrollLeft = 1e6;
				const last = [...x.querySelectorAll("tr :last-child")].every((c) => c.getBoundingClientRect().right <= edge);
				x.scrollLeft = 0;
				const names = [...x.querySelectorAll("code, .terms")].every((c) => c.getBoundingClientRect().right <= edge);
				return [x.querySelectorAll("tbody").length > 1, x.scrollWidth <= x.clientWidth + 1, last, names, document.documentElement.scrollWidth <= innerWidth].join() })()`
			want := "true,true,true,true,true"
			if width == 390 {
				want = "true,false,true,true,true"
			}
			if got := b.value(box); got != want {
				t.Errorf("%s, %d wide: %s", lang, width, got)
			}
		}
		b.quiet()
	}
}

// Answers and the state follow the folder while they are being looked at, and that is not asking.
func TestRealPagesFollowTheFolder(t *testing.T) {
	h := newHouse(t, documents(), nil)
	b := h.browse("en", "light")
	b.open("/?q=zebra")
	b.until(`document.querySelector(".verdict.none") && document.documentElement.dataset.live === "1"`)
	h.write("zoo/zebra.md", "---\ntitle: Stripes\nkeywords: [zebra]\nsummary: s\n---\n\nText.\n")
	b.until(`document.querySelector(".lead h1")?.innerText === "Stripes"`)
	b.open("/state")
	b.until(`document.documentElement.dataset.live === "1"`)
	h.write("zoo/\"odd\".md", "---\ntitle: Odd\nkeywords：[a]\n---\n\nText.\n")
	b.until(`document.querySelector("#list").innerText.includes("full-width colon") && document.querySelector("#health .bad strong").innerText === "1"`)
	b.do(chromedp.SendKeys(`.filter [name="q"]`, "zebra"))
	b.until(`document.querySelectorAll("#list tbody tr").length === 1 && document.querySelector("#list").innerText.includes("Stripes")`)
	b.open("/edit/zoo/%22odd%22.md")
	b.do(chromedp.SendKeys("#text", " "))
	b.until(`document.querySelector("#findings").innerText.includes("Front matter cannot be read")`)
	if got := h.queries(); len(got) != 1 {
		t.Errorf("the history has %q", got)
	}
	b.do(chromedp.Evaluate(`clean = document.querySelector("#text").value; 0`, nil))
	b.quiet()
}

// A document that tries to run something runs nothing, and has nothing that the CSP would have to stop.
func TestRealHostileDocument(t *testing.T) {
	h := newHouse(t, documents(), nil)
	b := h.browse("en", "light")
	for _, path := range []string{"/docs/api/hostile.md", "/?q=hostile&why=1", "/edit/api/hostile.md", "/docs/api/hostile.md?view=text", "/state"} {
		b.open(path) // an alert would hang here
		b.until(`(document.querySelector("main").innerText + document.querySelector("#text")?.value).includes("alert(1)")`)
	}
	b.quiet()
}
