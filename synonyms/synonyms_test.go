package synonyms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func said(pairs []Pair) string {
	var out []string
	for _, p := range pairs {
		out = append(out, p.From+">"+p.To)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// SPEC 2.2: synonyms are more names a query can use.
func TestParse(t *testing.T) {
	tests := []struct{ file, pairs, problems string }{
		{"", "", ""},
		{"# nothing yet\n", "", ""},
		{"- [k8s, kubernetes]\n", "k8s>kubernetes kubernetes>k8s", ""},
		{"\ufeff- [k8s, kubernetes]\r\n", "k8s>kubernetes kubernetes>k8s", ""},
		{"- - db\n  - 数据库\n", "db>数据库 数据库>db", ""},
		{"- 支付: [付款, 缴费]\n", "付款>支付 缴费>支付", ""},
		{"支付: [付款, 缴费]\n退款: 退钱\n", "付款>支付 缴费>支付 退钱>退款", ""},
		{"- [404, 找不到]\n- {支付: [付款]}\n", "404>找不到 付款>支付 找不到>404", ""},
		{"- [a1, b1, c1]\n", "a1>b1 a1>c1 b1>a1 b1>c1 c1>a1 c1>b1", ""},
		{"- [k8s]\n", "", "1:a group of one word stands for nothing else"},
		{"- [K8s, k8s]\n", "", `1:"K8s" and "k8s" are the same to a lookup`},
		{"- [資料庫, 资料库, db]\n", "db>資料庫 資料庫>db", `1:"資料庫" and "资料库" are the same to a lookup`},
		{
			"- [k8s, kubernetes]\n- [kubernetes, k8s]\n", "k8s>kubernetes kubernetes>k8s",
			`2:that "kubernetes" stands for "k8s" is said in line 1 already 2:that "k8s" stands for "kubernetes" is said in line 1 already`,
		},
		{"- k8s\n- [db, 数据库]\n", "db>数据库 数据库>db", "1!not a group: write `- [k8s, kubernetes]`, or `- 支付: [付款, 缴费]` for words that lead to 支付 but not back"},
		{"- [db, [x1, y1]]\n- [go, golang]\n", "go>golang golang>go", "1!a list where a word should be"},
		{"- [db, '---']\n", "", `1!"---" has no letter and no digit: no query can mean it`},
		{"- [c, clang]\n", "", `1!"c" is one character: it stands in queries about anything`},
		{"支付: {a: b}\n", "", "1!\"支付\" needs a list of words: write `支付: [付款, 缴费]`"},
		{"支付: []\n", "", `1:no word leads to "支付"`},
		{"支付: [支付]\n", "", `1:"支付" and "支付" are the same to a lookup`},
	}
	for _, tt := range tests {
		pairs, problems, whole := Parse([]byte(tt.file))
		if !whole || said(pairs) != tt.pairs {
			t.Errorf("%q: %q (whole %v), want %q", tt.file, said(pairs), whole, tt.pairs)
		}
		var got []string
		for _, p := range problems {
			sign := ":"
			if p.Lost {
				sign = "!"
			}
			got = append(got, fmt.Sprint(p.Line)+sign+p.Message)
		}
		if strings.Join(got, " ") != tt.problems {
			t.Errorf("%q: problems %q, want %q", tt.file, got, tt.problems)
		}
	}
}

func TestParse_WhatCannotBeRead(t *testing.T) {
	for file, line := range map[string]int{
		"- [k8s, kubernetes\n":             1,
		"- [a1, b1]\n- c1\n d1: x\n\te: f": 3,
		"only words":                       1,
		"a\x00b":                           1,
		strings.Repeat("x", MaxBytes+1):    0,
	} {
		pairs, problems, whole := Parse([]byte(file))
		if whole || len(pairs) > 0 || len(problems) != 1 || !problems[0].Lost || problems[0].Message == "" {
			t.Errorf("%.40q: pairs %v, problems %v, whole %v", file, pairs, problems, whole)
			continue
		}
		if got := problems[0].Line; got < line-1 || got > line+1 {
			t.Errorf("%.40q: line %d, want %d: %s", file, got, line, problems[0])
		}
	}
}

func TestParse_Bounds(t *testing.T) {
	var b strings.Builder
	for i := range maxEntries + 10 {
		fmt.Fprintf(&b, "- [word%d, 词%d]\n", i, i)
	}
	pairs, problems, whole := Parse([]byte(b.String()))
	if !whole || len(pairs) != 2*maxEntries || len(problems) != 1 || problems[0].Line != maxEntries+1 {
		t.Errorf("%d pairs, problems %v", len(pairs), problems)
	}
	b.Reset()
	for i := range maxWords + 1 {
		fmt.Fprintf(&b, ", word%d", i)
	}
	pairs, problems, _ = Parse([]byte("- [" + b.String()[2:] + "]"))
	if len(pairs) != maxWords*(maxWords-1) || len(problems) != 1 {
		t.Errorf("%d pairs, problems %v", len(pairs), problems)
	}
	if _, problems, _ = Parse([]byte("- [db, " + strings.Repeat("字", maxLength+1) + "]")); len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
}

// An anchor can name itself, and aliases can multiply: neither may hang or fill memory.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"- [k8s, kubernetes]", "支付: [付款]", "- &a [x1, *a]", "a: &b {c: *b}", "- [&x db, *x]", "- !!binary aGk=", "? [a]\n: b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pairs, problems, whole := Parse(data)
		if !whole && len(problems) == 0 {
			t.Error("nothing read, and not why")
		}
		for _, p := range pairs {
			if p.From == "" || p.To == "" || p.From == p.To {
				t.Errorf("odd pair %q", p)
			}
		}
	})
}
