package l0

import (
	"slices"
	"strings"
	"testing"
)

func TestTerms(t *testing.T) {
	tests := map[string]string{
		"缓存穿透、雪崩":                     "缓存 存穿 穿透 雪崩",
		"锁":                           "锁",
		"Redis缓存":                     "redis 缓存",
		"ERR_TIMEOUT":                 "err_timeout err timeout",
		"getUserName()":               "getusername get user name",
		"C, C++ and C#":               "c c++ and c#",
		"C++11":                       "c++11 c++ 11",
		".NET, node.js":               ".net net node.js node js",
		"v7.5.0 1.10":                 "v7.5.0 7.5.0 1.10",
		"E11000 python3":              "e11000 11000 python3 python",
		"10.0.0.1:8080":               "10.0.0.1 8080",
		"2024-01-15":                  "2024-01-15 2024 01 15",
		"don't":                       "don't don",
		"e.g. a_b":                    "e.g a_b",
		"to be or not to be":          "to be or not to be",
		"timeouts queries classes":    "timeout query class",
		"caches cache Apache cookies": "cach cach apach cooky",
		"cookie statuses indexes":     "cooky status index",
		"indices matrices causes":     "index matrix cause",
		"running failed timeouts_ms":  "running failed timeouts_ms timeout ms",
		"redis status https this sms": "redis status https this sms",
		"__init__ foo--bar":           "init foo bar",
		"/etc/hosts":                  "etc host",
		"cafe\u0301 café":             "café café",
		"ガイド ｶﾞｲﾄﾞ":                   "ガイ イド ガイ イド",
		"결제는":                         "결제 제는",
		"ошибка ОПЛАТЫ":               "ошибка оплаты",
		"資料庫":                         "资料 料库",
		"/ * + ? 「」":                  "",
		"JavaScript MySQL":            "javascript mysql my sql",
	}
	for in, want := range tests {
		var got []string
		newText(in).terms(forQuery, func(term string, _ role) { got = append(got, term) })
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", in, got, strings.Fields(want))
		}
	}
}

func TestTerms_SinglesAndRoles(t *testing.T) {
	var got []string
	newText("死锁 err_x a.b").terms(forName, func(term string, r role) {
		if r == whole {
			term += "!"
		}
		got = append(got, term)
	})
	if want := []string{"死锁", "死", "锁", "err_x!", "err", "a.b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTerms_RunsEndInASingle(t *testing.T) {
	var got []string
	newText("死锁，锁 redis").terms(forBody, func(term string, _ role) { got = append(got, term) })
	if want := []string{"死锁", "锁", "锁", "redis"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("ERR_TIMEOUT v1.2.3 缓存 c++ .net __a__")
	f.Fuzz(func(t *testing.T, s string) {
		newText(s).terms(forName, func(term string, _ role) {
			if term == "" {
				t.Errorf("%q: empty term", s)
			}
			if strings.ContainsAny(term, " \n") {
				t.Errorf("%q: blank in term %q", s, term)
			}
		})
	})
}
