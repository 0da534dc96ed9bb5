package lookup

import (
	"strings"
	"testing"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct{ text, query, want string }{
		{"Rotate the secret", "rotate secrets", "[Rotate] the secret"},
		{"err_timeout and ERR_TIMEOUT", "ERR_TIMEOUT", "[err_timeout] and [ERR_TIMEOUT]"},
		{"支付成功但订单未更新", "订单更新", "支付成功但[订单]未[更新]"},
		{"generate a rate", "rate", "generate a [rate]"},
		{"支付閘道", "支付网关", "[支付]閘道"},
		{"nothing", "", "nothing"},
		{"", "x y", ""},
	} {
		var b strings.Builder
		for _, p := range Marks(c.text, c.query) {
			if p.Marked {
				b.WriteString("[" + p.Text + "]")
			} else {
				b.WriteString(p.Text)
			}
		}
		if b.String() != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, b.String(), c.want)
		}
	}
}
