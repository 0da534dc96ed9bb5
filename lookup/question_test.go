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
