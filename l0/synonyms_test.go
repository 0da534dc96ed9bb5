package l0

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"knowledged/document"
)

// SPEC 2.2 with synonyms: a query with a word that stands for a name matches as if it had the name.
func TestMatch_2_2_Synonyms(t *testing.T) {
	words := newLexicon([]Synonym{
		{"k8s", "kubernetes"}, {"kubernetes", "k8s"}, {"付款", "支付"}, {"缴费", "支付"}, {"OOM", "out of memory"}, {"db", "数据库"}, {"C", "Clang"},
	})
	tests := []struct{ query, name, as string }{ // as: "" no match, "-" a match as typed
		{"k8s", "kubernetes", "k8s"},
		{"how to restart K8S pods", "Kubernetes", "k8s"},
		{"kubernetes", "k8s", "kubernetes"},
		{"mk8s", "kubernetes", ""},
		{"k8s-node", "kubernetes", "k8s"},
		{"k8s 部署", "kubernetes 部署", "k8s部署"},
		{"k8s", "kubernetes-operator", "k8s"}, // as if it were the query
		{"k8s?", "kubernetes-operator", "k8s"},
		{"my k8s", "kubernetes-operator", ""},
		{"付款失败怎么办", "支付", "付款"},
		{"付款失败怎么办", "支付失败", "付款失败"},
		{"支付", "付款", ""}, // one way
		{"缴费", "支付网关", "缴费"},
		{"oom killed", "Out of Memory", "oom"},
		{"room", "out of memory", ""},
		{"db 连接池", "数据库连接池", "db连接池"}, // the blank is typography
		{"db连接池", "数据库连接池", "db连接池"},
		{"k8s", "k8s", "-"},
		{"資料庫連線", "数据库", "资料库"}, // Taiwan's word
		{"資料庫連線", "资料库", "-"},
		{"数据库", "資料庫", "数据库"},
		{"伺服器过载", "服务器", "伺服器"},
		{"支援", "支持", ""}, // a word of the mainland, too
		{"技術支援", "支持", "支援"},
	}
	for _, tt := range tests {
		found := tableOf(tt.name).matchWith(tt.query, words)
		got := ""
		if len(found) == 1 {
			got = found[0].Names[0].As
			if how := found[0].Names[0].How; how != bySynonym && got == "" {
				got = "-"
			}
		}
		if got != tt.as {
			t.Errorf("query %q, name %q: %q (%v), want %q", tt.query, tt.name, got, found, tt.as)
		}
	}
}

// A question as long as may be is read once, not once more for each word that stands for another: at its beginning, in its
// middle and at its end the same is found as in a short one. Before, this one took minutes.
func TestMatch_2_2_SynonymsInLongQuestions(t *testing.T) {
	words := newLexicon([]Synonym{{"k8s", "kubernetes"}, {"付款", "支付"}})
	x := tableOf("甲乙", "数据库连接池", "支付失败", "kubernetes operator", strings.Repeat("很长的名字", 20)+"支付")
	for _, tt := range []struct{ word, name, as string }{
		{"資料庫連線池在哪", "", ""},
		{"資料庫连接池", "数据库连接池", "资料库连接池"},
		{"付款失败", "支付失败", "付款失败"},
		{" k8s operator ", "kubernetes operator", "k8s operator"},
		{strings.Repeat("很长的名字", 20) + "付款", strings.Repeat("很长的名字", 20) + "支付", strings.Repeat("很长的名字", 20) + "付款"},
	} {
		filler := strings.Repeat("甲乙 与，", 1600)
		for _, query := range []string{tt.word + filler, filler[:len(filler)/2] + tt.word + filler[len(filler)/2:], filler + tt.word} {
			var got, as string
			for _, m := range x.matchWith(query, words) {
				if n := m.Names[0]; n.How == bySynonym {
					got, as = n.Name, n.As
				}
			}
			if got != tt.name || as != tt.as {
				t.Errorf("%.30q: %q as %q, want %q as %q", tt.word, got, as, tt.name, tt.as)
			}
		}
	}
}

// SPEC 2.4: what one document is called as typed stays unique, whatever else means the same.
func TestMatch_2_4_SynonymsDoNotSpoilUnique(t *testing.T) {
	x := tableOf("k8s", "kubernetes", "支付超时")
	words := newLexicon([]Synonym{{"k8s", "kubernetes"}, {"kubernetes", "k8s"}, {"pod", "k8s"}, {"pod", "kubernetes"}})
	for query, want := range map[string][]string{
		"k8s":             {"k8s"},
		"restart k8s":     {"k8s"},
		"pod":             {"k8s", "kubernetes"}, // names nothing: both are meant
		"支付超时 pod":        {"k8s", "kubernetes", "支付超时"},
		"支付超时 kubernetes": {"kubernetes", "支付超时"},
		"超时":              {"支付超时"},
	} {
		if got := paths(x.matchWith(query, words)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestMatch_SynonymsOfOneDocumentOnce(t *testing.T) {
	x := newTable()
	x.update([]Put{{Path: "a", InTable: true, Names: Names{Title: "Kubernetes", Keywords: []string{"kubernetes", "k8s集群"}}}}, nil)
	got := x.matchWith("k8s pod", newLexicon([]Synonym{{"k8s", "kubernetes"}}))
	want := []document.MatchedName{
		{Name: "kubernetes", Kind: "keyword", How: bySynonym, As: "k8s"},
		{Name: "Kubernetes", Kind: "title", How: bySynonym, As: "k8s"},
	}
	if len(got) != 1 || !slices.Equal(got[0].Names, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The work for one query is bounded, however many words mean the same.
func TestLexicon_Bounds(t *testing.T) {
	var list []Synonym
	for i := range 100 {
		list = append(list, Synonym{"word", fmt.Sprintf("other%d", i)})
	}
	list = append(list, Synonym{strings.Repeat("长", 100), "短词"}, Synonym{"", "空"})
	words := newLexicon(list)
	found := words.in(newText(strings.Repeat("word ", 50)))
	if len(found) != maxOccurrences || len(found[0].others) != maxOthers {
		t.Errorf("%d occurrences with %d others", len(found), len(found[0].others))
	}
	if found := words.in(newText(strings.Repeat("长", 100))); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func FuzzMatchWithSynonyms(f *testing.F) {
	f.Add("k8s 付款", "k8s", "kubernetes")
	f.Add("db\u0301x", "db", "\u0301")
	f.Add("ａｂ 資料庫", "ab", " ")
	f.Fuzz(func(t *testing.T, query, from, to string) {
		words := newLexicon([]Synonym{{from, to}, {to, from}})
		tableOf("kubernetes", "支付", to, from).matchWith(query, words)
	})
}
