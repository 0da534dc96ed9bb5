package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"knowledged/config"
)

// SPEC 7.1: who reads the log by machine knows the unit of every duration.
func TestDurationsInJSONLogsAreMilliseconds_7_1(t *testing.T) {
	var out bytes.Buffer
	log, _, err := newLogger(&out, config.Log{Level: "info", Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	log.With("read", 250*time.Microsecond).Info("done", "took", 1500*time.Millisecond, "documents", 3)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["took"] != 1500.0 || line["read"] != 0.25 || line["documents"] != 3.0 {
		t.Errorf("%s", &out)
	}
}
