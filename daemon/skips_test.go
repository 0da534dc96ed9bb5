package daemon

import (
	"fmt"
	"log/slog"
	"testing"

	"knowledged/watcher"
)

// SPEC 1.3: of thousands of broken links some are named and the others counted, once; what was mended may be named again.
func TestSkipsAreSummedUp_1_3(t *testing.T) {
	const links = 20_000
	log := &logBook{}
	var b watcher.Batch
	for i := range links {
		b.Skipped = append(b.Skipped, watcher.Skipped{Path: fmt.Sprintf("%05d.md", i), Reason: "a broken link"})
	}
	b.All = true
	var s skipList
	for range 3 {
		s.replace(b, slog.New(slog.NewJSONHandler(log, nil)))
	}
	if lines := log.lines("WARN"); len(lines) != briefWarnings+1 || lines[briefWarnings]["more"] != float64(links-briefWarnings) {
		t.Errorf("%d lines", len(lines))
	}
	log.reset()
	s.replace(watcher.Batch{All: true}, slog.New(slog.NewJSONHandler(log, nil)))
	b.Skipped = b.Skipped[:1]
	s.replace(b, slog.New(slog.NewJSONHandler(log, nil)))
	if lines := log.lines("WARN"); len(lines) != 1 || lines[0]["path"] != "00000.md" {
		t.Errorf("log %v", lines)
	}
}
