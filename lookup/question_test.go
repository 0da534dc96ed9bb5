package lookup

import "testing"

func TestContentWords(t *testing.T) {
	for _, tt := range []struct{ query, words, named string }{
		{"how do I bake bread", "bake bread", ""},
		{"What's the capital of Australia?", "capital    Australia", ""},
		{"kubelet 证书快到期了怎么处理", "kubelet 证书快到期了", "kubelet"},
		{"如何解决缓存穿透？", "缓存穿透", ""},
		{"Kafka 备份 restore", "Kafka 备份 restore", "Kafka        restore"},
		{"怎么重置 GitLab 管理员密码", "重置 GitLab 管理员密码", "GitLab"},
		{"端口 6443 怎么改", "端口 6443   改", ""},
		{"to be or not to be", "to be or not to be", ""}, // nothing else is in it, so it is meant
		{"怎么办", "怎么办", ""},
		{"ERR_TIMEOUT", "ERR_TIMEOUT", ""},
		{"c++ and c#", "c++     c#", ""},
		{"，", "", ""},
		{"我们的会员等级是怎么算的", "的会员等级是  算的", ""},
	} {
		words, named := contentWords(tt.query)
		if squeezeBlanks(words) != squeezeBlanks(tt.words) || squeezeBlanks(named) != squeezeBlanks(tt.named) {
			t.Errorf("%q: %q, %q; want %q, %q", tt.query, words, named, tt.words, tt.named)
		}
	}
}

// SPEC 2.5: what is asked by codes alone, or by words that every question has.
func TestOnlyCodes(t *testing.T) {
	for words, want := range map[string]bool{
		"ERR_FOO": true, "PG-505": true, "HTTP 418": true, "readTimeout": true, "E1234": true, "MTLS": true, "err_foo": true,
		"http3": true, "ERR_FOO happens": false, "支付报 ERR_FOO": false, "Kafka": false, "timeout": false, "": false, "A": false,
	} {
		if onlyCodes(words) != want {
			t.Errorf("%q: %t", words, !want)
		}
	}
	for query, want := range map[string]bool{"the": true, "What is it?": true, "怎么办": true, "to be or not to be": true, "the cache": false, "缓存怎么办": false, "?": false} {
		if onlyFunction(query) != want {
			t.Errorf("%q: %t", query, !want)
		}
	}
}

func squeezeBlanks(s string) string { return oneLine(s) }

func FuzzContentWords(f *testing.F) {
	f.Add("怎么重置 GitLab 管理员密码 don't")
	f.Fuzz(func(t *testing.T, query string) {
		q := foldedRunes([]rune(query))
		if mask := contentMask(q); len(mask) != len(q) {
			t.Fatalf("%d for %d", len(mask), len(q))
		}
		contentWords(query)
	})
}
