package document

import (
	"slices"
	"testing"
)

func TestFold_2_2(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"err_timeout":                    "err_timeout",
		"ERR_TIMEOUT":                    "err_timeout",
		"ＥＲＲ＿ＴＩＭＥＯＵＴ":                    "err_timeout",
		"  two   words\t\nx ":            "two words x",
		"全角　空格":                          "全角 空格",
		"cafe\u0301":                     "café",
		"CAFÉ":                           "café",
		"ガイド":                            "ガイド",
		"ｶﾞｲﾄﾞ":                          "ガイド",
		"Straße":                         "strasse",
		"\u200b\ufeffRedis\u200d\u2060 ": "redis",
		"\u200b \u200b":                  "",
		"⚡\ufe0f":                        "⚡",
		"①":                              "1",
		"C++":                            "c++",
		"x\u00a0y":                       "x y",
		"MySQL 主从　8.0 版 ":                "mysql主从8.0版",
		"主从 复制 C 语言 한국 API":              "主从 复制c语言 한국 api",
		"don\u2019t e\u2011mail":         "don't e-mail",
		"know\u00adledge 缓存\u200b穿透":     "knowledge缓存穿透",
	} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUnframed_2_2(t *testing.T) {
	for in, want := range map[string]string{
		"《支付手册》": "支付手册", "“雪崩”": "雪崩", "'「缓存」'": "缓存", "缓存穿透！": "缓存穿透", "怎么办？？": "怎么办", "\"x y\"": "x y", "错误码：": "错误码",
		"C++": "C++", "C:": "C:", "a?": "a?", "(?i)": "(?i)", "!!": "!!", "「」": "「」", "": "", "《甲》与《乙》": "《甲》与《乙》", "'": "'", "O'Reilly'": "O'Reilly'",
		"'a'b'": "'a'b'", "[x]": "[x]", ".NET": ".NET",
	} {
		if got := Unframed(in); got != want {
			t.Errorf("Unframed(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "ERR_TIMEOUT", " a  b ", "ＥＲＲ", "\u200bİ\u0345", "ǰ\u0323ß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if twice := Fold(once); twice != once {
			t.Errorf("Fold(%q) = %q, but again %q", s, once, twice)
		}
	})
}

func sectionDocument(t *testing.T) *Document {
	t.Helper()
	d, err := Parse("api/pay.md", []byte(`---
title: 支付网关
keywords: [a]
summary: s
sections:
  超时排查: "## 1. 超时类错误"
  gone: "## Not there"
  Second example: "### Example"
---
# 支付网关

## Example

first

## 1. 超时类错误

### ERR_TIMEOUT

### Example

third

## ＡＰＩ Keys

## 2. 限流类错误
`), Options{Fallback: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSectionTitles_2_7(t *testing.T) {
	want := []string{"超时排查", "Second example", "Example", "1. 超时类错误", "ERR_TIMEOUT", "ＡＰＩ Keys", "2. 限流类错误"}
	if got := sectionDocument(t).SectionTitles(); !slices.Equal(got, want) {
		t.Errorf("SectionTitles = %q, want %q", got, want)
	}
	if got := (&Document{}).SectionTitles(); got == nil || len(got) != 0 {
		t.Errorf("SectionTitles of an empty document = %#v, want an empty list", got)
	}
}

func TestFindSection_2_7(t *testing.T) {
	d := sectionDocument(t)
	for _, tt := range []struct {
		ask, name string
		line      int // of the heading; 0 = not found
	}{
		{"超时排查", "超时排查", 16},                     // a name of `sections`
		{"second EXAMPLE", "Second example", 20}, // of the level the author wrote
		{"Example", "Example", 12},               // of equal headings the first
		{"### Example", "Example", 20},
		{"1. 超时类错误", "1. 超时类错误", 16},
		{"## 1. 超时类错误", "1. 超时类错误", 16},
		{"err_timeout", "ERR_TIMEOUT", 18},
		{"api keys", "ＡＰＩ Keys", 24},        // width-blind
		{"\u200b超时类\u200b", "1. 超时类错误", 16}, // unique part
		{"限流", "2. 限流类错误", 26},
		{"超时", "超时排查", 16}, // in a name and in its own heading: one section
		{"类错误", "", 0},     // in two
		{"支付网关", "支付网关", 10},
		{"gone", "", 0}, // a name whose heading is not there
		{"", "", 0},
		{"##", "", 0},
		{"nothing like it", "", 0},
	} {
		name, s, ok := d.FindSection(tt.ask)
		if name != tt.name || s.Line != tt.line || ok != (tt.line > 0) {
			t.Errorf("FindSection(%q) = %q, line %d, %v; want %q, line %d", tt.ask, name, s.Line, ok, tt.name, tt.line)
		}
	}
}

// People ask for a heading as they see it: typed, as a link's anchor, copied with its markup, as an answer's breadcrumb.
func TestFindSection_2_7_AnotherSpelling(t *testing.T) {
	d, err := Parse("a.md", []byte("# Doc\n\n## A\n\n### Sub\n\n## What’s new – v2\n\n### Sub\n\n#### Know\u00adledge\n\n## ⚙\ufe0f Settings\n\n"+
		"## Setup `v2` **now** {#x}\n\n## 部署 Redis 集群\n\n## Quick start: guide\n\n## C\n\n## C++\n\n## a > b\n"), Options{Fallback: true})
	if err != nil {
		t.Fatal(err)
	}
	for ask, line := range map[string]int{
		"What's new - v2":             7,
		"sub":                         5,
		"what’s new – v2 > Sub":       9,
		"Doc > What’s new – v2 > Sub": 9,
		"A > Sub":                     5,
		"C > Sub":                     0,
		"Sub > Knowledge":             11,
		"⚙ settings":                  13,
		"## Setup `v2` **now** {#x}":  15,
		"部署Redis集群":                   17,
		"#quick-start-guide":          19,
		"c++":                         23,
		"c":                           21,
		"a > b":                       25,
		"a > B > ":                    25,
	} {
		if _, s, ok := d.FindSection(ask); s.Line != line || ok != (line > 0) {
			t.Errorf("FindSection(%q): line %d, %v; want %d", ask, s.Line, ok, line)
		}
	}
}

func TestNearestTitles_2_7(t *testing.T) {
	d := sectionDocument(t)
	for ask, want := range map[string][]string{
		"超时问题排查":       {"超时排查", "1. 超时类错误"},
		"err timeouts": {"ERR_TIMEOUT"},
		"## api key":   {"ＡＰＩ Keys"},
		"限流":           {"2. 限流类错误"},
	} {
		if got := d.NearestTitles(ask, len(want)); !slices.Equal(got, want) {
			t.Errorf("NearestTitles(%q) = %q, want %q", ask, got, want)
		}
	}
	if got := d.NearestTitles("", 2); !slices.Equal(got, []string{"超时排查", "Second example"}) {
		t.Errorf("without likeness the order is the document's; got %q", got)
	}
	if got := d.NearestTitles("x", 100); len(got) != 7 {
		t.Errorf("got %d titles, want all 7", len(got))
	}
}

func BenchmarkFold(b *testing.B) {
	for name, s := range map[string]string{"latin": "ERR_TIMEOUT", "chinese": "支付网关错误码定义"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Fold(s)
			}
		})
	}
}
