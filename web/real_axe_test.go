//go:build real

package web_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var axe = flag.String("axe", "", "axe.min.js of npm's axe-core; scripts/test-web.sh fetches it")

// Contrast, names, landmarks, order of headings and what else axe-core knows, on every page in both themes and languages.
func TestRealAccessibility(t *testing.T) {
	if *axe == "" {
		t.Fatal("give -axe the path of axe.min.js: scripts/test-web.sh does")
	}
	source, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	files := documents()
	files["domain/tour.md"] = tour
	files["ops/broken.md"] = "---\ntitle: Broken\nkeywords：[a]\n---\n\nText.\n"
	h := newHouse(t, files, nil)
	for _, view := range []struct{ lang, theme string }{{"en", "light"}, {"zh-CN", "dark"}} {
		b := h.browse(view.lang, view.theme)
		for _, width := range []int64{1280, 390} {
			b.do(chromedp.EmulateViewport(width, 844))
			for _, path := range []string{
				"/", "/?q=ERR_TIMEOUT", "/?q=payment+refund", "/?q=kewords+refnd&why=1", "/?q=zebras+in+peru", "/docs/api/payment.md?at=拒绝类错误",
				"/docs/domain/tour.md", "/docs/ops/broken.md?view=text#L3", "/state", "/edit/ops/broken.md", "/new", "/docs/nowhere.md",
			} {
				b.open(path)
				if path == "/state" || path == "/new" {
					b.do(chromedp.Evaluate(`sessionStorage.setItem("token", "the-token")`, nil), chromedp.Reload(), chromedp.WaitReady("#main"))
					if path == "/state" {
						b.do(chromedp.WaitReady("#recent"))
					}
				}
				// Evaluate is not bound by the page's CSP. The page's own scripts are.
				var found []string
				b.do(page.SetBypassCSP(false), chromedp.Evaluate(string(source)+";0", nil), chromedp.Evaluate(
					`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.help + " " + v.nodes.map((n) => n.html.slice(0, 160) + " " + n.any.map((a) => a.message)).join(" | ")))`,
					&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
				for _, f := range found {
					t.Errorf("%s", fmt.Sprintf("%s %s %d %s: %s", view.lang, view.theme, width, path, f))
				}
			}
		}
	}
}
