package l0

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"knowledged/document"
)

// tableOf makes a table with a document a keyword; the path is the keyword.
func tableOf(keywords ...string) *table {
	t := newTable()
	for _, k := range keywords {
		t.update([]Put{{Path: k, InTable: true, Names: Names{Keywords: []string{k}}}}, nil)
	}
	return t
}

func paths(matches []document.Match) []string {
	list := []string{}
	for _, m := range matches {
		list = append(list, m.Path)
	}
	return list
}

func TestMatch_2_2(t *testing.T) {
	tests := []struct {
		query, name string
		want        bool
	}{
		// (a) the query contains the name
		{"支付网关超时怎么排查", "支付网关", true},
		{"如何解决缓存穿透？", "缓存穿透", true},
		{"缓存穿透、雪崩", "缓存穿透", true},
		{"why does ERR_TIMEOUT happen", "err_timeout", true},
		{"e11000 duplicate key", "E11000", true},
		{"the payment gateway is down", "Payment  Gateway", true},
		{"payment\n gateway", "payment gateway", true},
		{"capital", "api", false},
		{"generate", "rate", false},
		{"the api is slow", "api", true},
		{"C语言怎么学", "C", true},
		{"to be or not to be", "not", true},
		{"nothing", "not", false},
		{"ＥＲＲ＿ＴＩＭＥＯＵＴ", "ERR_TIMEOUT", true}, // full width
		{"ERR_TIMEOUT", "ＥＲＲ＿ＴＩＭＥＯＵＴ", true},
		{"ｶﾞｲﾄﾞ", "ガイド", true},
		{"資料庫連線逾時", "资料库", true}, // traditional for simplified and back
		{"数据库连接超时", "數據庫", true},
		{"支付網關", "支付网关", true},
		{"网关", "支付網關", true},
		{"MySQL 主从复制延迟", "MySQL主从复制", true}, // a blank between scripts is typography
		{"用Redis 7做缓存", "Redis 7 做缓存", true},
		{"缓存 redis", "Redis缓存", false},
		{"主从 复制", "主从复制", false},
		{"支付手册在哪里", "《支付手册》", true}, // no question repeats the marks
		{"如何解决缓存穿透", "缓存穿透！", true},
		{"《支付手册》", "支付手册", true},
		{"《支付手册》第二章", "《支付手册》", true},
		{"open C:\\Windows", "C", false}, // a drive
		{"D:/x", "D", false},
		{"C: a language", "C", true},
		// (b) a keyword contains the query
		{"支付", "支付网关", true},
		{"网关", "支付网关", true},
		{"付网", "支付网关", true},
		{"支付？", "支付网关", true},
		{"“支付”", "支付网关", true},
		{"timeout", "ERR_TIMEOUT", true},
		{"Timeout?", "ERR_TIMEOUT", true},
		{"err", "ERR_TIMEOUT", true},
		{"rr_time", "ERR_TIMEOUT", false},
		{"err_time", "ERR_TIMEOUT", false},
		{"time", "ERR_TIMEOUT", false},
		{"锁", "死锁", true},
		{"net", ".NET", true},
		{".net", ".NET", true},
		{"hosts", "/etc/hosts", true},
		{"etc/hosts", "/etc/hosts", true},
		{"js", "node.js", true},
		{"node", "node.js", true},
		{"ode.js", "node.js", false},
		// camelCase
		{"username", "getUserName", true},
		{"user", "getUserName", true},
		{"getuser", "getUserName", true},
		{"sername", "getUserName", false},
		{"user", "getusername", false},
		{"call getUserName first", "user", true},
		{"HTTPServer", "server", true},
		{"HTTPServer", "http", true},
		{"http", "HTTPServer", true},
		{"list all APIs", "api", true},
		{"list all APIs", "apis", true},
		{"JavaScript 闭包", "Java", false},
		{"github", "GitHub", true},
		{"hub", "GitHub", false},
		{"OAuth2Client", "oauth2", true},
		// Latin beside Han
		{"redis", "Redis缓存", true},
		{"Redis缓存", "Redis缓存", true},
		{"缓存 redis", "Redis缓存", false},
		{"REDIS 雪崩", "Redis缓存", false},
		{"Redis缓存雪崩", "redis", true},
		{"配置redis的步骤", "Redis", true},
		{"配置redisson的步骤", "Redis", false},
		{"myRedis缓存", "Redis缓存", true},
		{"xredis缓存", "Redis缓存", false},
		// one character
		{"C", "C", true},
		{"C", "C++", false},
		{"C", "C#", false},
		{"C", "C语言", true},
		{"C", "vitamin C", true},
		{"c", "Clang", false},
		{"c", "x-c", false},
		{"C/C++", "C", true},
		{"e.g. this", "e", false},
		{"don't", "t", false},
		{"x-axis", "x", false},
		{"(x)", "x", true},
		{"第3章", "3", true},
		{"3.1", "3", false},
		// + and #
		{"C++", "C++", true},
		{"C++", "C", false},
		{"C#", "C", false},
		{"C#", "C++", false},
		{"C", "C++ primer", false},
		{"c++ 教程", "C++", true},
		{"C++教程", "C++", true},
		{"C#教程", "C#", true},
		{"C++11 新特性", "C++", true},
		{"C+++", "C++", false},
		{"c++filt", "c++", false},
		{"notepad++", "notepad", false},
		{"jwt+redis 登录", "jwt", true},
		{"jwt+redis 登录", "redis", true},
		{"Redis+缓存", "redis", true},
		{"PR#42", "pr", true},
		// numbers, versions, addresses, dates
		{"14045", "404", false},
		{"404", "14045", false},
		{"error 404", "404", true},
		{"报错404了", "404", true},
		{"1.1", "1.10", false},
		{"1.10", "1.1", false},
		{"1.1", "1.1.3", false},
		{"2.1.1", "1.1", false},
		{"v1.1", "1.1", true},
		{"1.1", "v1.1", true},
		{"升级到1.1。", "1.1", true},
		{"upgrade to 1.1.", "1.1", true},
		{"10.0.0.1", "10.0.0.10", false},
		{"110.0.0.1", "10.0.0.1", false},
		{"ping 10.0.0.1:8080", "10.0.0.1", true},
		{"2024-01-15", "2024-01-1", false},
		{"2024-01-15 上线", "2024-01-15", true},
		{"2024", "2024-01-15", true},
		{"错误404，500", "404", true},
		{"504", "PG-504", true},
		{"50", "PG-504", false},
		{"python3 安装", "python", true},
		{"log4j", "log", false},
		{"i18n", "18", false},
		{"11000", "E11000", true},
		{"1000", "E11000", false},
		{"TLS1.3", "tls", true},
		// punctuation
		{"/", "/", true},
		{"/", "/etc/hosts", false},
		{"cat /etc/hosts", "/", false},
		{"cat /etc/hosts", "/etc/hosts", true},
		{"rm -rf /", "/", true},
		{"/", "rm -rf /", true},
		{"*", "ERR_*", false},
		{"*", "连接池", false},
		{"*", "*", true},
		{"a * b", "*", true},
		{"?", "what?", false},
		{"ERROR: hello", "ERROR: hello", true},
		{"2024 ERROR: hello world", "ERROR: hello", true},
		{"asp.net core", ".NET", false},
		{"ls --flag", "--flag", true},
		{"ls x--flag", "--flag", false},
		{"#tag", "tag", true},
		{"50%", "50", true},
		{"don't panic", "don’t", true},
		{"Redis's config", "redis", true},
		{"PG‑504", "PG-504", true}, // non-breaking hyphen
		// other scripts
		{"ошибка оплаты", "Ошибка", true},
		{"ошибками", "ошибка", false},
		{"безошибка", "ошибка", false},
		{"ΣΦΆΛΜΑ", "σφάλμα", true},
		{"λόγος", "ΛΌΓΟΣ", true},
		{"STRASSE", "straße", true},
		{"スタイルガイドの書き方", "ガイド", true},
		{"ガイド", "スタイルガイド", true},
		{"결제는 어떻게", "결제", true},
		{"결제", "온라인결제", true},
		{"Redis는 무엇", "redis", true},
		{"cafe\u0301 menu", "caf\u00e9", true},
		{"caf\u00e9", "cafe\u0301", true},
		{"cafe", "café", false},
		{"การชำระเงินล้มเหลว", "ชำระเงิน", true},
		{"部署🚀失败", "🚀", true},
		// invisible characters
		{"\u200bERR_TIMEOUT\ufeff", "ERR_TIMEOUT", true},
		{"ERR_TIMEOUT", "\ufeffERR_TIMEOUT\u200d", true},
		{"超时", "\u200c超时\u200b", true},
		{"", "x", false},
		{"\u200b", "x", false},
		{"　", "x", false},
	}
	for _, test := range tests {
		got := len(tableOf(test.name).match(test.query)) > 0
		if got != test.want {
			t.Errorf("query %q, keyword %q: match %v, want %v", test.query, test.name, got, test.want)
		}
	}
}

// The corpus of the black-box search cases: which documents each query names.
func TestMatch_2_2_Corpus(t *testing.T) {
	x := newTable()
	for path, names := range caseNames {
		x.update([]Put{{Path: path, InTable: true, Names: names}}, nil)
	}
	tests := map[string][]string{
		"C": {"c"}, "C++": {"cpp"}, "C#": {"cs"}, "E11000": {"mongo"}, "ERROR: hello": {"log"}, "timeout": {"err"},
		"err_timeout": {"err"}, "rr_time": {}, "redis": {"mix"}, "Redis缓存": {"mix"}, "缓存 redis": {}, "REDIS 雪崩": {},
		"about": {"stop"}, "not": {"stop"}, "to be or not to be": {"stop"}, "/": {"path"}, "*": {}, "缓存穿透、雪崩": {"pen"},
		"如何解决缓存穿透？": {"pen"}, "连接池": {"pool"}, "数据库连接池": {"pool"}, "getusername": {"camel"}, "user": {"camel"},
		".NET": {"net"}, "NODE.JS": {"node"}, "/[/": {}, "\"unclosed": {}, "+": {}, "-": {}, "[1 TO": {}, "\\": {},
		"title:x": {}, "AND": {}, "x\\y": {}, "'; drop": {}, "\x00x": {}, "🚀": {}, "，": {}, "；：「」": {},
	}
	for query, want := range tests {
		if got := paths(x.match(query)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

var caseNames = map[string]Names{
	"c": {"Clang", []string{"C"}, nil}, "camel": {"Camel", []string{"getUserName"}, nil}, "cpp": {"Cpp", []string{"C++"}, nil},
	"cs": {"Csharp", []string{"C#"}, nil}, "err": {"Timeout", []string{"ERR_TIMEOUT"}, nil},
	"log": {"Log lines", []string{"ERROR: hello"}, nil}, "mix": {"Redis缓存雪崩", []string{"Redis缓存"}, nil},
	"mongo": {"Mongo", []string{"E11000"}, nil}, "net": {"Dotnet", []string{".NET"}, nil}, "node": {"Node", []string{"node.js"}, nil},
	"path": {"Root path", []string{"/", "/etc/hosts"}, nil}, "pen": {"缓存穿透解决方案", []string{"缓存穿透"}, nil},
	"pool": {"数据库连接池", []string{"连接池"}, nil}, "stop": {"To be or not to be", []string{"not", "all", "about"}, nil},
}

func TestMatch_2_2_NamesByKind(t *testing.T) {
	x := newTable()
	x.update([]Put{
		{Path: "b", InTable: true, Names: Names{"支付网关错误码", []string{"超时", "ERR_TIMEOUT"}, []string{"PG-504"}}},
		{Path: "a", InTable: true, Names: Names{"超时", []string{"重试"}, nil}},
		{Path: "titleOnly", InTable: true, Names: Names{Title: "超时"}},
		{Path: "noRealKeyword", InTable: true, Names: Names{Title: "超时", Keywords: []string{"\u200b"}}},
		{Path: "notInL0", Names: Names{"超时", []string{"超时"}, nil}},
	}, nil)
	got := x.match("PG-504 超时")
	want := []document.Match{
		{Path: "a", Names: []document.MatchedName{{Name: "超时", Kind: "title", How: queryContainsName}}},
		{Path: "b", Names: []document.MatchedName{
			{Name: "超时", Kind: "keyword", How: queryContainsName}, {Name: "PG-504", Kind: "alias", How: queryContainsName},
		}},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// A title that contains the query is no match; a keyword or alias that does is one (SPEC 2.2 b).
	if got := paths(x.match("错误")); len(got) != 0 {
		t.Errorf("title contains the query: %v", got)
	}
	if got := x.match("pg"); len(got) != 1 || got[0].Names[0] != (document.MatchedName{Name: "PG-504", Kind: "alias", How: nameContainsQuery}) {
		t.Errorf("alias contains the query: %v", got)
	}
	if got := x.match("nothing at all"); got == nil || len(got) != 0 {
		t.Errorf("no match must be an empty list, got %#v", got)
	}
}

func TestMatch_2_2_LongNames(t *testing.T) {
	long := strings.Repeat("very long name ", 10) + "end"
	x := tableOf(long, long+"ing", strings.Repeat("名", 80))
	if got := paths(x.match("so: " + strings.ToUpper(long) + "?")); !slices.Equal(got, []string{long}) {
		t.Errorf("long name in query: %q", got)
	}
	if got := paths(x.match("name ending")); !slices.Equal(got, []string{long + "ing"}) {
		t.Errorf("query beyond the kept edges: %q", got)
	}
	if got := x.match("name endi"); len(got) != 0 {
		t.Errorf("query ends inside a word: %v", got)
	}
}

// Whatever is put and removed, the table answers as one freshly built (SPEC 4.1: no ghosts).
func TestTable_UpdatesLeaveNoGhosts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := []string{
		"timeout", "ERR_TIMEOUT", "GitHub", "github", "Github", "getUserName", "getusername", "支付网关", "支付",
		"C", "/", "锁", strings.Repeat("long name ", 9), strings.Repeat("Long Name ", 9), "缓存穿透", "1.10",
	}
	pick := func() []string {
		var list []string
		for range rnd.IntN(4) {
			list = append(list, words[rnd.IntN(len(words))])
		}
		return list
	}
	x, live := newTable(), map[string]Put{}
	for range 2000 {
		path := fmt.Sprint("doc", rnd.IntN(20))
		if rnd.IntN(3) == 0 {
			x.update(nil, []string{path})
			delete(live, path)
		} else {
			p := Put{Path: path, InTable: true, Names: Names{words[rnd.IntN(len(words))], pick(), pick()}}
			x.update([]Put{p}, nil)
			live[path] = p
		}
	}
	fresh := newTable()
	for _, p := range live {
		fresh.update([]Put{p}, nil)
	}
	for _, q := range append(words, "user", "网关", "how to github / 缓存穿透 timeout") {
		if got, want := x.match(q), fresh.match(q); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, fresh table %v", q, got, want)
		}
	}
	for path := range live {
		x.update(nil, []string{path})
	}
	if len(x.paths)+len(x.byText)+len(x.heads)+len(x.long)+len(x.single)+len(x.starts) != 0 || x.bytes != 0 {
		t.Errorf("emptied table keeps %d paths, %d texts, %d heads, %d long, %d single, %d starts, %d bytes",
			len(x.paths), len(x.byText), len(x.heads), len(x.long), len(x.single), len(x.starts), x.bytes)
	}
}

func TestTable_ConcurrentMatchAndUpdate(t *testing.T) {
	x := tableOf("支付网关", "ERR_TIMEOUT")
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 300 {
				if g == 0 {
					x.update([]Put{{Path: fmt.Sprint(i % 7), InTable: true, Names: Names{Keywords: []string{"超时", fmt.Sprint("k", i)}}}}, nil)
				} else if got := x.match("支付网关超时 ERR_TIMEOUT"); len(got) < 2 {
					t.Errorf("lost a match: %v", got)
				}
			}
		})
	}
	group.Wait()
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"ERR_TIMEOUT", "支付", "C++", "a\u0301\u200b", "ß ẞ", "\xff\xfe", "...", "1.1.1", "🚀👨‍👩‍👧"} {
		f.Add(s, "x "+s)
	}
	f.Fuzz(func(t *testing.T, name, query string) {
		x := tableOf(name)
		x.match(query)
		if newText(name).len() > 0 && newText(name).len() <= maxName && len(x.match(name)) == 0 {
			t.Errorf("%q does not match itself", name)
		}
		x.update(nil, []string{name})
		if len(x.byText) != 0 || len(x.starts) != 0 {
			t.Errorf("%q leaves traces", name)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	x := newTable()
	puts := syntheticPuts(10000)
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			x = newTable()
			x.update(puts, nil)
		}
		b.ReportMetric(float64(x.size())/1e6, "MB")
		b.ReportMetric(float64(len(x.entries)), "names")
	})
	for _, q := range []string{"支付网关超时怎么排查", "支付", "ERR_TIMEOUT", "timeout", "why does the payment gateway return timeout", "锁", strings.Repeat("服务器的缓存和连接，", 800)} {
		b.Run(string([]rune(q)[:min(20, len([]rune(q)))]), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = len(x.matchWith(q, regionalLexicon()))
			}
			b.ReportMetric(float64(n), "matches")
		})
	}
}

// syntheticPuts makes documents with three keywords and a title each, Chinese and English mixed.
func syntheticPuts(n int) []Put {
	rnd := rand.New(rand.NewPCG(3, 4))
	han := []rune("支付网关超时重试缓存穿透雪崩数据库连接池索引订单库存用户登录鉴权消息队列日志监控告警部署回滚配置中心服务发现限流熔断降级")
	latin := strings.Fields("payment gateway retry cache redis mysql index order stock user login token queue log metric alert deploy rollback config service")
	word := func(k int) string {
		var b strings.Builder
		for range k {
			b.WriteRune(han[rnd.IntN(len(han))])
		}
		return b.String()
	}
	puts := make([]Put, n)
	for i := range puts {
		puts[i] = Put{Path: fmt.Sprintf("api/doc%05d.md", i), InTable: true, Names: Names{
			Title: word(4) + latin[rnd.IntN(len(latin))] + word(3),
			Keywords: []string{
				word(3 + rnd.IntN(4)), fmt.Sprintf("ERR_%s_%d", strings.ToUpper(latin[rnd.IntN(len(latin))]), i),
				latin[rnd.IntN(len(latin))] + " " + word(2),
			},
		}}
	}
	return puts
}
