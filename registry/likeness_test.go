package registry

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// SPEC 7.2: unanswered queries that ask for the same are one group, the most asked one first.
func TestUnansweredGroups_7_2(t *testing.T) {
	var queries []QueryCount
	add := func(query string, count int, second int) {
		queries = append(queries, QueryCount{Query: query, Count: count, Last: epoch.Add(time.Duration(second) * time.Second)})
	}
	add("MongoDB 备份", 4, 1)
	add("how do I reset my VPN password", 3, 2)
	add("vpn password reset", 2, 9)
	add("Reset the VPN passwords?", 1, 3)
	add("怎么申请出差报销", 1, 4)
	add("出差报销流程是什么", 1, 5)
	add("请假流程", 1, 6)
	add("parental leave", 1, 7)
	add("sick leave", 1, 8)
	want := []QueryGroup{
		{Count: 6, Queries: 3, Examples: []string{"how do I reset my VPN password", "vpn password reset", "Reset the VPN passwords?"}, Last: epoch.Add(9 * time.Second)},
		{Count: 4, Queries: 1, Examples: []string{"MongoDB 备份"}, Last: epoch.Add(1 * time.Second)},
		{Count: 2, Queries: 2, Examples: []string{"怎么申请出差报销", "出差报销流程是什么"}, Last: epoch.Add(5 * time.Second)},
		{Count: 1, Queries: 1, Examples: []string{"sick leave"}, Last: epoch.Add(8 * time.Second)},
		{Count: 1, Queries: 1, Examples: []string{"parental leave"}, Last: epoch.Add(7 * time.Second)},
		{Count: 1, Queries: 1, Examples: []string{"请假流程"}, Last: epoch.Add(6 * time.Second)},
	}
	if diff := cmp.Diff(want, groupAlike(queries)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAlikeOrNot(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		alike bool
	}{
		{"年假怎么休", "年假", true},
		{"Kafka 备份 restore", "kafka 备份", true},
		{"Kafka 备份", "Kafka 监控", false},
		{"请假流程", "报销流程", false},
		{"ERR_QUOTA_EXCEEDED", "err_quota_exceeded 怎么办", true},
		{"ERR_QUOTA_EXCEEDED", "ERR_TIMEOUT", false},
		{"how?", "why?", false},
		{"？", "！", false},
		{"is it", "is it?", true},
		{"ＶＰＮ 连不上", "vpn连不上", true},
	} {
		groups := groupAlike([]QueryCount{{Query: c.a, Count: 1}, {Query: c.b, Count: 1}})
		if got := len(groups) == 1; got != c.alike {
			t.Errorf("%q and %q alike: %v, want %v", c.a, c.b, got, c.alike)
		}
	}
}

func TestGroupsAreBounded(t *testing.T) {
	var queries []QueryCount
	for i := range 300 {
		queries = append(queries, QueryCount{Query: fmt.Sprintf("word%d", i), Count: 1})
	}
	for range 20 {
		queries = append(queries, QueryCount{Query: "word7", Count: 1})
	}
	groups := groupAlike(queries)
	if len(groups) != statsGroups || groups[0].Count != 21 || len(groups[0].Examples) != groupExamples {
		t.Errorf("%d groups, the first is %+v", len(groups), groups[0])
	}
	if none := groupAlike(nil); none == nil || len(none) != 0 {
		t.Errorf("no queries are %#v", none)
	}
}

// SPEC 7.2: slow lookups and the documents that answered are counted.
func TestStatsCountSlowOnesAndSources_7_2(t *testing.T) {
	s := sumUp([]Lookup{
		{Found: true, Source: "kb/a.md", TotalMs: 2500},
		{Found: true, Source: "kb/a.md"},
		{Found: true, Source: "kb/b.md", TotalMs: 2000},
		{Source: "kb/never.md"},
		{Found: true},
	}, time.Time{})
	if diff := cmp.Diff(map[string]int{"kb/a.md": 2, "kb/b.md": 1}, s.Answered); diff != "" || s.Slow != 1 {
		t.Errorf("%d slow, %s", s.Slow, diff)
	}
}

func BenchmarkGroupAlike(b *testing.B) {
	var queries []QueryCount
	for i := range historySize {
		queries = append(queries, QueryCount{Query: fmt.Sprintf("怎么处理 problem %d of service %d 超时", i, i%50), Count: 1})
	}
	for b.Loop() {
		groupAlike(queries)
	}
}
