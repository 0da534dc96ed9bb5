package lookup

import (
	"fmt"
	"testing"

	"knowledged/document"
)

// usedBy makes a folder in which documents beside the one named "gateway" use the word in a passage.
func usedBy(t *testing.T, name string, others int) *world {
	w := newWorld(t)
	w.add("named.md", "Named", "", "About the "+name+".")
	w.text = []document.Hit{hit("named.md#1", 9)}
	for i := range others {
		p := fmt.Sprintf("other%d.md", i)
		w.add(p, "Other", "", "It mentions the "+name+" in passing.")
		w.text = append(w.text, hit(p+"#1", 5), hit(p+"#0", 4))
	}
	w.matches = []document.Match{{Path: "named.md", Names: []document.MatchedName{{Name: name, Kind: "keyword", How: "query_contains_name"}}}}
	return w
}

// SPEC 2.2: a match must be worth the name. A common word of the folder that covers little of a question is none.
func TestMatchWorthTheName_2_2(t *testing.T) {
	long := "a separate index per day for gateway logs in Elasticsearch"
	for _, tt := range []struct {
		what, name, query string
		others            int
		confidence        string // "": no match
	}{
		{"common word in a long question", "gateway", long, commonIn, ""},
		{"rare word in a long question", "gateway", long, commonIn - 1, High},
		{"common word, but all that is asked", "gateway", "What is the Gateway?", commonIn, High},
		{"common word, but half of what is asked", "gateway", "gateway logs", commonIn, High},
		{"phrase of which others hold a word only", "gateway logs", long, 0, High},
		{"Chinese, common", "监控", "监控指标基数太大，怎么去掉一些 label", commonIn, ""},
		{"Chinese, rare", "监控", "监控指标基数太大，怎么去掉一些 label", 1, High},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := usedBy(t, tt.name, tt.others)
			if tt.name == "gateway logs" {
				for i := range 5 {
					p := fmt.Sprintf("logs%d.md", i)
					w.add(p, "Logs", "", "Logs of something else.")
					w.text = append(w.text, hit(p+"#1", 3))
				}
			}
			a := w.lookup(Request{Query: tt.query})
			if tt.confidence == "" {
				if a.Primary != nil || a.Decision.L0Matches != 0 || a.Decision.Reason != ReasonNone || w.meaningAsk.Load() != 1 {
					t.Errorf("%+v, primary %+v", a.Decision, a.Primary)
				}
				return
			}
			if a.Primary == nil || a.Primary.Confidence != tt.confidence {
				t.Errorf("%+v, primary %+v", a.Decision, a.Primary)
			}
		})
	}
}

// A question in which several names occur is about none of them for sure: one is not left over as the only match.
func TestWorthLeavesNoLoneMatch_2_2(t *testing.T) {
	w := usedBy(t, "gateway", commonIn)
	w.add("rare.md", "Rare", "", "About conntrack.")
	w.matches = append(w.matches, document.Match{Path: "rare.md", Names: []document.MatchedName{{Name: "conntrack", Kind: "keyword", How: "query_contains_name"}}})
	w.textBy = map[string][]document.Hit{"conntrack": {hit("rare.md#1", 2)}}
	a := w.lookup(Request{Query: "why would the gateway of the cluster run into conntrack limits at night"})
	if a.Decision.L0Matches != 2 || a.Primary.Confidence != Low {
		t.Errorf("%+v", a.Decision)
	}
}

// SPEC 2.2: every match counts where many documents carry a name: it is not looked into what it is worth.
func TestManyMatchesStay_2_2(t *testing.T) {
	w := usedBy(t, "gateway", 10)
	for i := range commonIn {
		w.matches = append(w.matches, document.Match{Path: fmt.Sprintf("other%d.md", i), Names: w.matches[0].Names})
	}
	if a := w.lookup(Request{Query: "a separate index per day for gateway logs in Elasticsearch"}); a.Decision.L0Matches != commonIn+1 {
		t.Errorf("%+v", a.Decision)
	}
}

// A full text that fails says nothing about a name: the match stays.
func TestWorthWithoutFullText_2_10(t *testing.T) {
	w := usedBy(t, "gateway", 10)
	w.textErr = errBoom
	if a := w.lookup(Request{Query: "a separate index per day for gateway logs in Elasticsearch"}); a.Decision.L0Matches != 1 {
		t.Errorf("%+v", a.Decision)
	}
}

// A Chinese word beside the name of a product that the folder has never heard of is no match for a question about that.
func TestStrangeNames_2_2(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		known       float64
		matches     int
	}{
		{"监控", "Zabbix 怎么添加自定义监控项", 0.1, 0},
		{"监控", "Prometheus 怎么添加自定义监控项", 0.9, 1},
		{"自定义监控项", "Zabbix 怎么添加自定义监控项", 0.1, 1},
		{"kafka", "为什么 kafka 消费者 rebalance 之后延迟升高", 0.1, 1},
	} {
		w := usedBy(t, tt.name, 0)
		w.known = tt.known
		if a := w.lookup(Request{Query: tt.query}); a.Decision.L0Matches != tt.matches {
			t.Errorf("%s in %s: %d matches", tt.name, tt.query, a.Decision.L0Matches)
		}
	}
}
