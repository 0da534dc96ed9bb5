package document

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParse_1_1_CategoryAndSource(t *testing.T) {
	for _, tt := range []struct{ path, base, front, category, source string }{
		{"api/pay/errors.md", "kb", "", "api", "kb/api/pay/errors.md"},
		{"errors.md", "kb", "", "", "kb/errors.md"},
		{"api/errors.md", "kb", "category: 领域\n", "领域", "kb/api/errors.md"},
		{"api/errors.md", "kb", "category: 404\n", "404", "kb/api/errors.md"},
		{"api/errors.md", "kb", "category:\n", "api", "kb/api/errors.md"},
		{"api/errors.md", "", "", "api", "api/errors.md"},
	} {
		d, err := Parse(tt.path, []byte("---\ntitle: T\n"+tt.front+"---\n"), Options{BaseName: tt.base})
		if err != nil || d.Category != tt.category || d.Source != tt.source || d.Path != tt.path {
			t.Errorf("%+v: category %q, source %q, %v", tt, d.Category, d.Source, err)
		}
	}
}

// SPEC 2.6: labels are in the document's language.
func TestParse_2_6_Chinese(t *testing.T) {
	for text, want := range map[string]bool{
		"":                             false,
		"12345 --- ```\n":              false,
		"# Payment gateway\n\nErrors.": false,
		"# 支付网关\n\n记录了错误码。": true,
		"---\ntitle: 支付网关错误码定义\nkeywords: [ERR_TIMEOUT]\nsummary: 错误码的含义及排查方向\n---\n\n```go\nif err != nil { return err }\n```\n": true,
		"# Redis 缓存\n\n使用 Redis Cluster 时，先检查 maxmemory-policy 与 slowlog。":                                                        true,
		"# Glossary\n\nThe payment gateway (支付网关) is the service that all payments go through.":                                   false,
		"# ガイド\n\nこの文書は日本語で書かれています。":                                                                                              false,
		"# Документация\n\nТекст на русском языке":                                                                                false,
	} {
		if d := parse(t, text, true); d.Chinese != want {
			t.Errorf("Chinese is %v for %q", d.Chinese, text)
		}
	}
}

func TestParse_SectionsKnowTheFile(t *testing.T) {
	d := parse(t, "---\r\ntitle: T\r\nkeywords: [a]\r\nsummary: s\r\n---\r\n\r\n# A\r\n\r\n## B\r\n", true)
	if len(d.Sections) != 2 || d.Sections[0].Line != 7 || d.Sections[1].Line != 9 {
		t.Errorf("sections %+v", d.Sections)
	}
}

const typical = `---
title: 支付网关错误码定义
keywords: [ERR_TIMEOUT, 超时, 支付网关]
summary: 记录了支付网关所有核心错误码的含义及排查方向
category: api            # optional
version: "2.1"           # optional
author: 支付平台组        # optional
aliases: [PG-504]        # optional
sections:
  超时排查: "## 1. 超时类错误"
---
# 支付网关错误码定义

## 1. 超时类错误

### ERR_TIMEOUT

网关在 3 秒内没有收到渠道的应答。
`

// Front matter and body lose no text, whatever the bytes; positions point where they say.
func FuzzParse(f *testing.F) {
	f.Add([]byte(typical), true)
	f.Add([]byte("+++\ntitle = 'x'\nkeywords = [1]\n[sections]\na = '## b'\n+++\nx"), true)
	f.Add([]byte("{\"title\": \"x\", \"a\": {\"b\": [1.10, null]}}\nx"), true)
	f.Add([]byte("---\ntitle: {{x}}\na: &a [*a]\n<<: *a\n? [b]\n: c\n"), false)
	f.Add([]byte("---\nkeywords:\n\t- #x\n  - \"y\n---\n# H\n"), true)
	f.Add([]byte("---\r\ntitle：x\r...\r\n"), false)
	f.Add([]byte("\xff\xfe-\x00"), true)
	for _, block := range bombs() {
		if len(block) < 8<<10 { // the fuzzer is slow on large ones; TestFrontMatter_1_3_Bombs has them
			f.Add([]byte("---\n"+block+"---\n"), true)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, fallback bool) {
		start := time.Now()
		d, err := Parse("c/a.md", data, Options{BaseName: "kb", Fallback: fallback})
		if err != nil {
			if !errors.Is(err, ErrNotText) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		text, err := decode(data)
		if err != nil {
			t.Fatal(err)
		}
		head, found := strings.CutSuffix(text, d.Body)
		if !found {
			t.Fatalf("the body is not the end of the text: %q", d.Body)
		}
		if d.BodyLine != 1+strings.Count(head, "\n") && d.Body != "" {
			t.Errorf("body line %d after %q", d.BodyLine, head)
		}
		if head != "" != d.HasFrontmatter || d.InL0 && (!d.HasFrontmatter || d.Title == "") {
			t.Errorf("HasFrontmatter %v, InL0 %v, head %q", d.HasFrontmatter, d.InL0, head)
		}
		if d.HasFrontmatter != (d.Metadata != nil) || d.Metadata != nil && !json.Valid(d.Metadata) {
			t.Errorf("metadata %s", d.Metadata)
		}
		last := strings.Count(text, "\n") + 1
		for i, w := range d.Warnings {
			if w.Line < 0 || w.Line > last || i > 0 && w.Line != 0 && w.Line < d.Warnings[i-1].Line || w.Message == "" || !utf8.ValidString(w.Message) {
				t.Errorf("warnings %+v in %d lines", d.Warnings, last)
			}
		}
		for _, name := range append(append([]string{d.Title, d.Summary}, d.Keywords...), d.Aliases...) {
			if !utf8.ValidString(name) || strings.ContainsRune(name, 0) || name != strings.TrimSpace(name) {
				t.Errorf("name %q", name)
			}
		}
		for _, k := range append(d.Keywords, d.Aliases...) {
			if k == "" || strings.Contains(k, "\n") {
				t.Errorf("keyword or alias %q", k)
			}
		}
		for _, title := range d.SectionTitles() {
			d.FindSection(title)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	long := typical + strings.Repeat("\n## 重试策略\n\n请求 `POST /v1/pay` 失败后，最多重试三次，间隔 1、2、4 秒。See the runbook for details.\n", 60)
	for name, text := range map[string]string{
		"typical":   typical,
		"9KB":       long,
		"malformed": strings.Replace(typical, "title: ", "title: a: ", 1),
		"bomb":      "---\n" + bombs()["nested aliases"] + "---\n",
	} {
		data := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("api/a.md", data, Options{BaseName: "kb", Fallback: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
