package lookup

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("This sentence is about something else altogether. ", 8)
	zh := strings.Repeat("这句话说的是另外一件事情。", 40)
	for _, tt := range []struct {
		name, text, query string
		has, starts, ends string
		omits             string
	}{
		{"short is whole", "One.\n\n\nTwo.  \n", "x", "One.\nTwo.", "One.", "Two.", ""},
		{"around what matched", filler + "The ERR_TIMEOUT code means no answer came. " + filler, "err_timeout", "no answer came.", "The ERR_TIMEOUT", ".", ""},
		{"the sentence with more of the query", filler + "A redis note. " + filler + "Redis failover takes long. " + filler, "redis failover", "failover takes", "Redis failover", ".", "A redis note"},
		{"Chinese", zh + "缓存穿透可以用布隆过滤器解决。" + zh, "如何解决缓存穿透？", "布隆过滤器", "缓存穿透", "。", ""},
		{"full width", zh + "ＥＲＲ１ 表示超时。" + zh, "err1", "表示超时", "ＥＲＲ１", "。", ""},
		{"by lines", strings.Repeat("plain line without a stop\n", 20) + "kubectl get pods -n ops\n" + strings.Repeat("plain line without a stop\n", 20), "kubectl pods", "-n ops", "kubectl", "stop", ""},
		{"nothing matched", filler + filler, "zzz", "something else", "This sentence", ".", ""},
		{"one long line", strings.Repeat("abc def ", 100) + "needle" + strings.Repeat(" ghi jkl", 100), "needle", "needle", "...", "...", ""},
		{"one long Chinese line", strings.Repeat("甲乙", 300) + "缓存穿透" + strings.Repeat("丙丁", 300), "缓存穿透", "缓存穿透", "...", "...", ""},
		{"one long line, nothing matched", strings.Repeat("abcdef", 100), "needle", "abc", "abc", "...", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := snippet(tt.text, tt.query)
			if n := utf8.RuneCountInString(got); n > snippetChars {
				t.Errorf("%d characters", n)
			}
			if !strings.Contains(got, tt.has) || !strings.HasPrefix(got, tt.starts) || !strings.HasSuffix(got, tt.ends) ||
				tt.omits != "" && strings.Contains(got, tt.omits) {
				t.Errorf("%q", got)
			}
		})
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add(strings.Repeat("缓存穿透。a b! ", 80), "缓存 b")
	f.Add("", "")
	f.Add(strings.Repeat("\n", 400), "x")
	f.Fuzz(func(t *testing.T, text, query string) {
		if !utf8.ValidString(text) {
			return
		}
		got := snippet(text, query)
		if n := utf8.RuneCountInString(got); n > snippetChars || !utf8.ValidString(got) {
			t.Fatalf("%d characters, %q", n, got)
		}
		if got == "" && strings.TrimSpace(text) != "" {
			t.Fatalf("nothing of %q", text)
		}
	})
}
