package lookup

import (
	"testing"

	"knowledged/document"
)

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"docs/zh/latest/a.md", "docs/en/latest/a.md", true},
		{"apisix-zh/plugins/cors.md", "apisix-en/plugins/cors.md", true},
		{"README.md", "README.zh-CN.md", true},
		{"guide_en.md", "guide_zh.md", true},
		{"zh/a.md", "en/b.md", false},
		{"english-test.md", "test.md", true},
		{"a/cn.md", "b/cn.md", false},
		{"us/leave.md", "leave.md", false},
		{"it/vpn.md", "vpn.md", false},
		{"docs/zh_Hant_TW/a.md", "docs/en-US/a.md", true},
	} {
		ka, _ := version(tt.a)
		kb, _ := version(tt.b)
		if (ka == kb) != tt.same {
			t.Errorf("%s and %s: %q, %q", tt.a, tt.b, ka, kb)
		}
	}
	if _, tag := version("docs/zh_CN/a.md"); tag != chinese {
		t.Error(tag)
	}
	if _, tag := version("docs/en_US/a.md"); tag != otherwise {
		t.Error(tag)
	}
}

// One text in two languages takes one place of a short list: the one in the query's language.
func TestVersionsAreFolded(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"en/cors.md", "zh/cors.md", "en/jwt.md"} {
		w.add(p, p, "", "text of "+p)
	}
	w.meaning = []document.Hit{hit("en/cors.md#1", 0.9), hit("zh/cors.md#1", 0.8), hit("en/jwt.md#1", 0.5)}
	for _, tt := range []struct {
		query      string
		topK       int
		want       []string
		supplement string
	}{
		{"跨域", 5, []string{"zh/cors.md", "en/jwt.md"}, "kb/zh/cors.md"},
		{"cors", 5, []string{"en/cors.md", "en/jwt.md"}, "kb/en/cors.md"},
		{"cors", 1, []string{"en/cors.md"}, "kb/en/cors.md"},
		{"跨域", shortList, []string{"zh/cors.md", "en/cors.md", "en/jwt.md"}, "kb/zh/cors.md"},
	} {
		a := w.lookup(Request{Query: tt.query, TopK: tt.topK, Explain: true})
		wantList(t, tt.query, sources(a), tt.want)
		if a.Supplement == nil || a.Supplement.Source != tt.supplement {
			t.Errorf("%s: supplement %+v", tt.query, a.Supplement)
		}
	}
	a := w.lookup(Request{Query: "跨域", Explain: true})
	if x := a.Explain.Results[0]; x.Language <= 0 || x.Score <= a.Explain.Results[1].Score {
		t.Errorf("explained as %+v", x)
	}
}

// What matched exactly is neither folded nor passed by a version that did not.
func TestExactMatchIsNotFolded_2_2(t *testing.T) {
	w := newWorld(t)
	w.add("en/cors.md", "CORS", "", "text of en")
	w.add("zh/cors.md", "CORS", "", "text of zh")
	w.match("en/cors.md")
	w.meaning = []document.Hit{hit("zh/cors.md#1", 0.9), hit("en/cors.md#1", 0.8)}
	a := w.lookup(Request{Query: "怎么配置 query 跨域规则和白名单", AlwaysSemantic: true})
	if got := sources(a); len(got) == 0 || len(got) == 1 && got[0] != "en/cors.md" || a.Primary.Source != "kb/en/cors.md" {
		t.Errorf("%q", got)
	}
	w.match("zh/cors.md")
	if a = w.lookup(Request{Query: "query 跨域"}); len(a.Results) != 2 {
		t.Errorf("%q", sources(a))
	}
}

// The same text under two paths is shown once.
func TestCopiesAreFolded(t *testing.T) {
	w := newWorld(t)
	w.add("a/runbook.md", "Runbook", "", "the same text")
	w.add("old/runbook-1.md", "Runbook", "", "the same text")
	w.add("c.md", "Other title", "", "the same text") // boilerplate, not a copy
	w.meaning = []document.Hit{hit("old/runbook-1.md#1", 0.9), hit("a/runbook.md#1", 0.9), hit("c.md#1", 0.5)}
	wantList(t, "copies", sources(w.lookup(Request{})), []string{"a/runbook.md", "c.md"})
}
