package main

import (
	"bytes"
	"strings"
	"testing"

	"knowledged/ipc"
)

// SPEC 7.2: stats are for reading. A long question is cut, wherever it is shown; a short one is not.
func TestStatsClipLongQuestions(t *testing.T) {
	long, chinese := strings.Repeat("word ", 200), strings.Repeat("支付", 500)
	short := strings.Repeat("字", 80)
	var out bytes.Buffer
	printStats(&out, ipc.Stats{
		UnansweredGroups: []ipc.StatsGroup{{Count: 3, Examples: []string{chinese, short, "two\nlines"}}},
		Slowest:          []ipc.HistoryEntry{{Query: long, RequestID: "r1"}},
	})
	for _, want := range []string{
		"3× " + strings.Repeat("支付", 39) + "支… · " + short + " · two lines\n",
		"  " + strings.TrimSpace(strings.Repeat("word ", 16)) + "…  (r1)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
