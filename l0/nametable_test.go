package l0

import "testing"

// SPEC 2.2: a table without an index on disk matches as the index does.
func TestNameTable_2_2_MatchesAsTheIndexDoes(t *testing.T) {
	names := NewNameTable([]Put{
		{Path: "a.md", InTable: true, Names: Names{Title: "Payment timeouts", Keywords: []string{"ERR_TIMEOUT"}}},
		{Path: "b.md", InTable: false, Names: Names{Keywords: []string{"ERR_TIMEOUT"}}},
	})
	if got := names.Match("what is err_timeout"); len(got) != 1 || got[0].Path != "a.md" || got[0].Names[0].Name != "ERR_TIMEOUT" {
		t.Errorf("matches are %+v", got)
	}
	if got := names.Match("capital"); got == nil || len(got) != 0 {
		t.Errorf("no match is %#v, want an empty list", got)
	}
	if got := names.NamesIn("what is err_timeout"); len(got) != 1 || got[0].Path != "a.md" {
		t.Errorf("names in the query are %+v", got)
	}
	if got := names.NamesIn("timeout"); got == nil || len(got) != 0 {
		t.Errorf("a part of a name is %+v, want an empty list", got)
	}
}
