package main

import (
	"context"
	"regexp"
	"testing"
	"time"

	"knowledged/ipc"
)

// SPEC 6.3, 7.2: every call of an agent is recorded: the tool, who asked by process and by the client's own name, the
// query, the decision, the timings. It is so for the one that is the daemon itself, and for one that it is bridged to.
func TestCallsOfAgentsAreRecorded_6_3_7_2(t *testing.T) {
	f := newClientFolder(t)
	start := time.Now()
	f.agent("").ask(t)
	f.agent("2025-06-18").ask(t)
	client := &ipc.Client{Socket: f.socket}
	defer client.Close()
	calls, err := client.Lookups(context.Background(), time.Time{}, 10)
	if err != nil || len(calls) != 2 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	caller := regexp.MustCompile(`^uid=\d+ pid=\d+ mcp=test-agent/1$`)
	for _, c := range calls {
		if c.Tool != "lookup_knowledge" || !caller.MatchString(c.Caller) || c.Query != "ERR_TIMEOUT" {
			t.Errorf("who and what: %+v", c)
		}
		if c.Reason != "unique_match" || c.L0Matches != 1 || !c.Found || c.Confidence != "high" || c.Source != "kb/api/a.md" {
			t.Errorf("decision: %+v", c)
		}
		if c.TotalMs <= 0 || c.L0Ms <= 0 || c.L0Ms > c.TotalMs || c.L1Ms != 0 || c.Time.Before(start) || !regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(c.RequestID) {
			t.Errorf("timings: %+v", c)
		}
	}
	if calls[0].RequestID == calls[1].RequestID {
		t.Error("two calls with one id")
	}
}
