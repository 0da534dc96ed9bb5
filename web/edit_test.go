package web_test

import (
	"net/url"
	"strings"
	"testing"

	"knowledged/config"
)

func TestEditorAndLint(t *testing.T) {
	files := documents()
	files["dos.md"] = "# Dos\r\n\r\nlines\r\n"
	h := newHouse(t, files, nil)
	a := h.get("/edit/api/payment.md")
	if !strings.Contains(a.body, "\n"+strings.TrimSuffix(payment, "\n")) || !strings.Contains(a.body, "Nothing to mend.") || !strings.Contains(a.body, "Lookups will find it by its names.") {
		t.Errorf("the editor:\n%s", a.body)
	}
	if strings.Contains(a.body, "saving makes it so") || !strings.Contains(h.get("/edit/dos.md").body, "saving makes it so") {
		t.Error("what saving changes beyond the text is not told")
	}
	if a := h.get("/new?title=Gift+%22cards%22", "Accept-Language", "zh"); !strings.Contains(a.body, `title: &#34;Gift \&#34;cards\&#34;&#34;`) || !strings.Contains(a.body, "没有名称") {
		t.Errorf("a new document:\n%s", a.body)
	}
	form := url.Values{"path": {"api/x.md"}, "text": {"---\ntitle: X\nkeywords：[a]\n---\n\n[dead](nowhere.md) [there](refund.md)\n"}}
	a = h.ask("POST", "/lint", form.Encode(), "HX-Request", "true", "Content-Type", "application/x-www-form-urlencoded")
	for _, want := range []string{"Front matter cannot be read", `data-line="3"`, "A link leads to a document that does not exist", "nowhere.md"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q in\n%s", want, a.body)
		}
	}
	if strings.Contains(a.body, "refund.md") {
		t.Errorf("a link that leads somewhere is reported:\n%s", a.body)
	}
	if a := h.ask("POST", "/lint", "text="+strings.Repeat("x", 25<<20), "HX-Request", "true"); a.status != 413 {
		t.Errorf("too much: %d", a.status)
	}
	readOnly := newHouse(t, documents(), func(c *config.Config) { c.IPC.TokenFile = "" })
	if a := readOnly.get("/edit/api/payment.md"); !strings.Contains(a.body, "No token is set") || !strings.Contains(a.body, `class="primary" disabled`) {
		t.Errorf("without a token set:\n%s", a.body)
	}
}

// SPEC 7.3: a token that a reload sets lets documents be saved.
func TestEditorFollowsTheToken_7_3(t *testing.T) {
	var cfg config.Config
	var file string
	h := newHouse(t, documents(), func(c *config.Config) {
		file, c.IPC.TokenFile = c.IPC.TokenFile, ""
		cfg = *c
	})
	locked := func() bool {
		return strings.Contains(h.get("/edit/api/payment.md").body, `type="submit" class="primary" disabled`)
	}
	if !locked() {
		t.Error("without a token the button to save is there")
	}
	cfg.IPC.TokenFile = file
	if _, _, err := h.d.Reload(&cfg); err != nil {
		t.Fatal(err)
	}
	if locked() {
		t.Error("the token of a reload does not count")
	}
}
