//go:build real

package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestRealEditing(t *testing.T) {
	h := newHouse(t, documents(), nil)
	b := h.browse("en", "light")
	b.open("/edit/api/refund.md")
	b.do(chromedp.WaitVisible("#token"), b.typeIn("#token", "wrong"+kb.Enter))
	edit := func(from, to string) chromedp.Action {
		return chromedp.Evaluate(`(() => { const x = document.querySelector("#text"); x.value = x.value.replace("`+from+`", "`+to+`"); x.dispatchEvent(new Event("input", {bubbles: true})) })()`, nil)
	}
	b.do(edit("180 days", "365 days"), chromedp.Click("#save"))
	b.until(`document.querySelector("#saved").textContent === "That is not the token." && document.activeElement.id === "token"`)
	b.do(b.typeIn("#token", token+kb.Enter))
	b.until(`document.querySelector("#saved").textContent === "Not saved yet"`)
	b.do(chromedp.Click("#save"))
	b.until(`document.querySelector("#saved").textContent.startsWith("Saved.")`)
	if got := h.read("api/refund.md"); got != strings.Replace(refund, "180 days", "365 days", 1) {
		t.Errorf("saved %q", got)
	}
	if a := h.get("/?q=refund"); !strings.Contains(a.body, "365 days") {
		t.Error("the next lookup does not answer from what was saved")
	}
	b.do(edit("keywords: [refund]", "keywords：[refund]"))
	b.until(`document.querySelector("#findings").innerText.includes("Front matter cannot be read")`)
	b.do(edit("keywords：[refund]", "keywords: [refund]"))
	b.until(`document.querySelector("#findings").innerText.includes("Nothing to mend")`)

	// Two saves at once are one: the second would conflict with the first.
	b.do(edit("365 days", "366 days"), chromedp.Evaluate(`for (let i = 0; i < 2; i++) document.querySelector("#editor").requestSubmit()`, nil))
	b.until(`document.querySelector("#saved").textContent.startsWith("Saved.") && !document.querySelector("#editor").dataset.busy`)
	if b.value(`String(document.querySelector("#conflict").hidden)`) != "true" {
		t.Error("a conflict with oneself")
	}
	b.do(edit("366 days", "365 days"))

	// Somebody else saves meanwhile.
	b.do(edit("365 days", "a year"))
	h.write("api/refund.md", strings.Replace(refund, "three working days", "five working days", 1))
	b.eventually("their version indexed", func() bool { return strings.Contains(h.get("/?q=refund").body, "five working") })
	b.do(chromedp.Click("#save"))
	b.until(`!document.querySelector("#conflict").hidden && document.querySelector("#theirs").textContent.includes("five working days") && document.querySelector("#text").value.includes("a year")`)
	b.until(`[...document.querySelectorAll("#theirs mark")].some((m) => m.textContent.includes("five working days"))`)
	if got := h.read("api/refund.md"); !strings.Contains(got, "five working days") {
		t.Errorf("their version was lost: %q", got)
	}
	b.do(chromedp.Click("#swap"))
	b.until(`document.querySelector("#text").value.includes("five working days") && document.querySelector("#theirs").textContent.includes("a year")`)
	b.do(edit("180 days", "a year"), chromedp.Click("#save"))
	b.until(`document.querySelector("#saved").textContent.startsWith("Saved.") && document.querySelector("#conflict").hidden`)
	if got := h.read("api/refund.md"); !strings.Contains(got, "five working days") || !strings.Contains(got, "a year") {
		t.Errorf("merged: %q", got)
	}
	// And deletes it.
	if err := os.Remove(h.base + "/api/refund.md"); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector("#saved").textContent.startsWith("The document was deleted")`)
	b.do(chromedp.Click("#save"))
	b.until(`document.querySelector("#saved").textContent.startsWith("Saved.")`)
	if got := h.read("api/refund.md"); !strings.Contains(got, "five working days") {
		t.Errorf("put back: %q", got)
	}
	// And changes it while nobody looks.
	b.until(`document.documentElement.dataset.live === "1"`)
	b.do(chromedp.Evaluate(`rest(); 0`, nil))
	later := strings.Replace(refund, "three working days", "six working days", 1)
	h.write("api/refund.md", later)
	sum := sha256.Sum256([]byte(later))
	b.eventually("their version indexed", func() bool {
		return strings.Contains(h.get("/v1/documents/by-source?source=api/refund.md").body, hex.EncodeToString(sum[:]))
	})
	b.do(chromedp.Evaluate(`catchUp(); 0`, nil))
	b.until(`document.querySelector("#saved").textContent.startsWith("The file has just changed on disk")`)
	if got := b.value(`location.href + document.cookie`); strings.Contains(got, token) {
		t.Errorf("the token is in %s", got)
	}
	b.quiet("401", "404", "412") // the answers of the API to the wrong token, and on the deleted and the stale version, which a browser logs
}

func TestRealNewDocument(t *testing.T) {
	h := newHouse(t, documents(), nil)
	b := h.browse("zh-CN", "dark")
	b.open("/?q=" + "斑马会飞吗")
	b.do(chromedp.Click(".nothing a", chromedp.ByQuery), chromedp.WaitVisible("#token"))
	b.do(b.typeIn("#token", token+kb.Enter))
	for _, c := range []struct{ folder, file, want string }{{"动物", "斑马.md", "动物/斑马.md"}, {"", "根.md", "根.md"}} {
		b.open("/new?title=斑马会飞吗" + c.file)
		b.do(chromedp.Evaluate(`(() => { const x = document.querySelector("#text"); x.value = x.value.replace("keywords: []", "keywords: [斑马`+c.file+`]") + "不会。\n"; x.dispatchEvent(new Event("input", {bubbles: true})) })()`, nil))
		if c.folder != "" {
			b.do(b.typeIn("#folder", c.folder))
		}
		b.do(b.typeIn("#file", c.file), chromedp.Click("#save"))
		b.until(`document.querySelector("#saved").textContent.startsWith("已保存")`)
		if got := h.read(c.want); !strings.HasSuffix(got, "不会。\n") {
			t.Errorf("saved %q", got)
		}
		b.do(chromedp.Click("#view"), chromedp.WaitReady(`[data-source="kb/`+c.want+`"]`))
	}
	b.quiet()
}

// Where reading needs the token too, every page asks for it once in a tab.
func TestRealTokenForEverything(t *testing.T) {
	h := newHouse(t, documents(), closedHouse)
	b := h.browse("en", "light")
	b.open("/docs/api/refund.md?at=Limits#match")
	b.do(b.typeIn("#token", token+kb.Enter), chromedp.WaitReady("#match"))
	h.write("api/refund.md", strings.Replace(refund, "180 days", "365 days", 1))
	b.until(`document.querySelector("#match").innerText.includes("365 days")`) // followed without another visit
	b.open("/?q=ERR_TIMEOUT")
	b.until(`document.querySelector(".lead")`)
	b.do(chromedp.Click("#q"), chromedp.KeyEvent(kb.Escape), b.typeIn("#q", "refund"))
	b.until(`document.querySelector(".lead h1")?.innerText === "Refunds"`)
	b.open("/state")
	b.do(chromedp.WaitReady("#recent"))
	b.quiet("401")
}
