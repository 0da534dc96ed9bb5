//go:build real

package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"knowledged/config"
)

// browser is one tab of a real Chromium. Whatever it complains of fails the test.
type browser struct {
	*house
	ctx  context.Context
	mu   sync.Mutex // guards bad
	bad  []string
	lang string
}

func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no Chromium: install the package chromium")
	return ""
}

func (h *house) read(name string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.base, filepath.FromSlash(name)))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

func (h *house) browse(lang, theme string) *browser {
	h.t.Helper()
	profile, err := os.MkdirTemp("", "kwb") // t.TempDir would fail the test over a helper process that writes to the last
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		for range 100 { // the browser's helpers go a moment later than it
			if err = os.RemoveAll(profile); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		h.t.Errorf("remove the browser's profile: %v", err)
	})
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(h.t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("lang", lang), chromedp.WindowSize(1280, 860))...)
	h.t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	h.t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
	h.t.Cleanup(cancel)
	b := &browser{house: h, ctx: ctx, lang: lang}
	chromedp.ListenTarget(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *cdplog.EventEntryAdded:
			if ev.Entry.Level == cdplog.LevelError || ev.Entry.Level == cdplog.LevelWarning {
				b.bad = append(b.bad, fmt.Sprintf("%s: %s %s", ev.Entry.Level, ev.Entry.Text, ev.Entry.URL))
			}
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning {
				b.bad = append(b.bad, fmt.Sprintf("console.%s: %s", ev.Type, ev.Args[0].Value))
			}
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, ev.ExceptionDetails.Error())
		}
	})
	b.do(cdplog.Enable(), network.Enable(),
		network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": lang}),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
	return b
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v\ncomplaints: %q\nthe page says:\n%s", err, b.bad, b.pageText())
	}
}

func (b *browser) pageText() string {
	var s string
	_ = chromedp.Run(b.ctx, chromedp.Evaluate(`location.href + "\n" + document.body.innerText`, &s))
	return s
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url+path), chromedp.WaitReady("#main"))
}

// until waits for a JavaScript expression to be true, over a change of pages too.
func (b *browser) until(expression string) {
	b.t.Helper()
	b.eventually(expression, func() bool {
		var ok bool
		return chromedp.Run(b.ctx, chromedp.Evaluate("!!("+expression+")", &ok)) == nil && ok
	})
}

func (b *browser) value(expression string) (s string) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &s))
	return s
}

// quiet fails if the browser had anything to complain of: a violation of the CSP, a script's error, a file not found.
func (b *browser) quiet(except ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
complaints:
	for _, bad := range b.bad {
		for _, e := range except {
			if strings.Contains(bad, e) {
				continue complaints
			}
		}
		b.t.Errorf("the browser complains: %s", bad)
	}
}

// shot takes a picture if pictures are wanted.
func (b *browser) shot(file string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	var png []byte
	b.do(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(file, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func closedHouse(c *config.Config) { c.IPC.HTTPAuth = "all" }

func (b *browser) eventually(what string, cond func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(10 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: not within 20 s\ncomplaints: %q\nthe page says:\n%s", what, b.bad, b.pageText())
		}
	}
}
