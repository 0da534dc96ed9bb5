//go:build real

package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "folder for pictures of every page, in both languages and themes, wide and narrow")

// Every page in both languages and themes, wide and narrow: nothing to complain of, in the theme and language of the
// browser, and nothing wider than the screen. With -shots, pictures for looking at.
func TestRealEveryPage(t *testing.T) {
	files := map[string]string{}
	root := "../knowledge_base"
	if err := filepath.Walk(root, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	files["api/broken.md"] = "---\ntitle: Broken\nkeywords：[a]\n---\n\n# Broken\n\nText.\n"
	files["domain/tour.md"] = tour
	h := newHouse(t, files, nil)
	for _, lang := range []string{"en", "zh-CN"} {
		for _, theme := range []string{"light", "dark"} {
			b := h.browse(lang, theme)
			for _, width := range []int64{1280, 390} {
				b.do(chromedp.EmulateViewport(width, 844))
				for name, path := range map[string]string{
					"start": "/", "exact": "/?q=ERR_TIMEOUT", "meaning": "/?q=how+do+I+rotate+a+webhook+secret", "chinese": "/?q=支付成功但是订单没更新", "why": "/?q=kafak&why=1",
					"several": "/?q=支付", "none": "/?q=best+pizza+in+town", "document": "/docs/api/payment-errors.md?at=支付网关错误码定义+>+2.+拒绝类错误#match", "tour": "/docs/domain/tour.md",
					"lines": "/docs/api/broken.md?view=text#L3", "editor": "/edit/api/broken.md", "new": "/new?title=Gift+cards", "state": "/state",
				} {
					b.open(path)
					if name == "state" || name == "editor" {
						b.do(chromedp.Evaluate(`sessionStorage.setItem("token", "the-token")`, nil), chromedp.Reload(), chromedp.WaitReady("#main"))
						if name == "state" {
							b.do(chromedp.WaitReady("#recent"))
						}
					}
					want := map[string]string{"light": "rgb(251, 250, 246)", "dark": "rgb(23, 22, 19)"}[theme] + " " + lang + " fits"
					if got := b.value(`getComputedStyle(document.documentElement).backgroundColor + " " + document.documentElement.lang + (document.documentElement.scrollWidth <= innerWidth ? " fits" : " too wide: " + document.documentElement.scrollWidth)`); got != want {
						t.Errorf("%s in %s, %s, %d wide: %s", path, lang, theme, width, got)
					}
					size := "wide"
					if width < 500 {
						size = "narrow"
					}
					b.shot(filepath.Join(*shots, name+"-"+lang[:2]+"-"+theme+"-"+size+".png"))
					if name == "editor" { // and with a conflict
						files["api/broken.md"] += "\nTheirs.\n"
						h.write("api/broken.md", files["api/broken.md"])
						b.do(chromedp.SendKeys("#text", "Mine."))
						b.until(`document.querySelector("#saved").className === "bad"`)
						b.do(chromedp.Click("#save"))
						b.until(`!document.querySelector("#conflict").hidden`)
						b.shot(filepath.Join(*shots, "conflict-"+lang[:2]+"-"+theme+"-"+size+".png"))
						b.do(chromedp.Evaluate(`clean = document.querySelector("#text").value; 0`, nil)) // leaving loses nothing
					}
				}
			}
			b.quiet("404", "412")
		}
	}
}

const tour = `---
title: A tour of everything
keywords: [tour, markdown]
summary: Every kind of block that a document may hold, to look at
owner: platform team
---

# A tour of everything

A paragraph with **strong**, *soft* and ` + "`code`" + ` words, a [link to another document](../api/payment-errors.md#2-拒绝类错误), a [dead one](nowhere.md) and
an address: https://example.com/path. ![a picture](diagram.png)

## Lists

- one
- two
  1. inner
  2. inner, with a longer text that goes on for a while so that it must break into a second line on most screens
- [ ] open task
- [x] done task

> A quotation, which says something of note.

## Code

` + "```go\nfunc main() {\n\tfmt.Println(\"a line of code that is quite long, to see whether it scrolls or breaks when there is no room for it\")\n}\n```" + `

## Table

| Name | Means | Retry |
| --- | :-: | --: |
| ERR_TIMEOUT | no answer within three seconds | 1 |
| ERR_DECLINED | the bank says no | 0 |

### Deeper

Text <kbd>Ctrl</kbd>+<kbd>S</kbd> and <details><summary>more</summary>hidden text</details>

---

The end.
`
