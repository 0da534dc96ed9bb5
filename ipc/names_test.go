package ipc

import (
	"errors"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckName_5_2(t *testing.T) {
	long := strings.Repeat("名", 84) // 252 bytes
	for _, c := range []struct{ category, name, field string }{
		{"ops", "a.md", ""},
		{"", "a.md", ""},
		{"api/支付/v2", "错误码 (新).MarkDown", ""},
		{"ops", "100% sure.MD", ""},
		{"ops", "a..b.md", ""},
		{"ops", "C++ & C# #1 [x] 'q'.md", ""},
		{"ops", "می\u200cخواهم.md", ""}, // a Persian word needs its joiner
		{"ops", "console.md", ""},
		{"ops", "com10.md", ""},
		{"ops", long + ".md", ""},

		{"ops", "", "fileName"},
		{"ops", "a.txt", "fileName"},
		{"ops", "a", "fileName"},
		{"ops", "md", "fileName"},
		{"ops", "a.md.exe", "fileName"},
		{"ops", ".md", "fileName"},
		{"ops", ".hidden.md", "fileName"},
		{"ops", "../a.md", "fileName"},
		{"ops", "..", "fileName"},
		{"ops", "sub/a.md", "fileName"},
		{"ops", "/etc/a.md", "fileName"},
		{"ops", `..\a.md`, "fileName"},
		{"ops", "C:a.md", "fileName"},
		{"ops", "a.md:stream", "fileName"},
		{"ops", "a%2Fb.md", "fileName"},
		{"ops", "%2e%2e.md", "fileName"},
		{"ops", "a\x00.md", "fileName"},
		{"ops", "a\n.md", "fileName"},
		{"ops", "a\u0085.md", "fileName"},
		{"ops", "a\u202egpj.md", "fileName"},
		{"ops", "a\u2066.md", "fileName"},
		{"ops", "a\u200e.md", "fileName"},
		{"ops", "a\u200b.md", "fileName"},
		{"ops", "\ufeffa.md", "fileName"},
		{"ops", "a\u2028.md", "fileName"},
		{"ops", " a.md", "fileName"},
		{" ops", "a.md", "category"},
		{"ops", "a<b.md", "fileName"},
		{"ops", "a>b.md", "fileName"},
		{"ops", `a"b.md`, "fileName"},
		{"ops", "a|b.md", "fileName"},
		{"ops", "why?.md", "fileName"},
		{"a*", "a.md", "category"},
		{"ops", "a.md ", "fileName"},
		{"ops", "a.md\u3000", "fileName"},
		{"ops", "a.md.", "fileName"},
		{"ops", "CON.md", "fileName"},
		{"ops", "con.foo.md", "fileName"},
		{"ops", "nul .md", "fileName"},
		{"ops", "Lpt1.md", "fileName"},
		{"ops", "com².md", "fileName"},
		{"ops", "a\xff.md", "fileName"},
		{"ops", long + "xy.md", "fileName"},
		{strings.Repeat("d/", 500) + "d", strings.Repeat("n", 40) + ".md", "fileName"},

		{"..", "a.md", "category"},
		{"ops/../..", "a.md", "category"},
		{"ops/./x", "a.md", "category"},
		{"/etc", "a.md", "category"},
		{"ops/", "a.md", "category"},
		{"ops//x", "a.md", "category"},
		{".git", "a.md", "category"},
		{"ops/.obsidian", "a.md", "category"},
		{`ops\x`, "a.md", "category"},
		{"c:", "a.md", "category"},
		{"aux", "a.md", "category"},
		{"ops.", "a.md", "category"},
		{"ops ", "a.md", "category"},
		{"%2e%2e", "a.md", "category"},
		{"o\u202eps", "a.md", "category"},
	} {
		err := CheckName(c.category, c.name)
		var invalid *InvalidError
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%q/%q: %v", c.category, c.name, err)
		case c.field != "" && !errors.As(err, &invalid):
			t.Errorf("%q/%q accepted", c.category, c.name)
		case c.field != "" && invalid.Field != c.field:
			t.Errorf("%q/%q: field %s, want %s", c.category, c.name, invalid.Field, c.field)
		}
	}
}

// Whatever passes stays below the base folder, in one piece, and can be shown in an answer.
func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"a.md", "../a.md", "a%2fb.md", "CON.md", "支付.md", "a\u202e.md", "a.md ", "x/../y"} {
		f.Add("ops", s)
		f.Add(s, "a.md")
	}
	f.Fuzz(func(t *testing.T, category, name string) {
		if err := CheckName(category, name); err != nil {
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 4*len(category)+1000 {
				t.Errorf("message of %q/%q: %q", category, name, err)
			}
			return
		}
		whole := "/base/" + name
		if category != "" {
			whole = "/base/" + category + "/" + name
		}
		if path.Clean(whole) != whole || strings.Contains(whole, `\`) || strings.ContainsAny(name, "/\x00") || len(name) > 255 {
			t.Errorf("accepted %q/%q", category, name)
		}
		if !markdownName(name) || strings.HasPrefix(name, ".") {
			t.Errorf("accepted as a document: %q", name)
		}
	})
}
