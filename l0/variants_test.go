package l0

import "testing"

// Characters that are written for each other are one, and writing 帐 does not make a question one of Taiwan.
func TestVariantsOfCharacters(t *testing.T) {
	table := NewNameTable([]Put{{Path: "a.md", InTable: true, Names: Names{Keywords: []string{"对账", "家具", "计划"}}}})
	for _, q := range []string{"對帳", "对帐", "對賬", "傢俱", "计画", "計畫"} {
		if m := table.Match(q); len(m) != 1 {
			t.Errorf("%s: %v", q, m)
		}
	}
	for q, want := range map[string]bool{"对帐的资料": false, "链路计划": false, "對帳的資料": true} {
		var x text
		x.set(q)
		if x.traditional() != want {
			t.Errorf("%s: traditional is %v", q, !want)
		}
	}
}
