package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"knowledged/ipc"
)

// progress shows on a terminal how far the semantic index is. The zero value shows nothing.
type progress struct {
	bar  *progressbar.ProgressBar
	most int // pending at its highest: what the bar counts down from
}

// newProgress draws on w if that is a terminal.
func newProgress(w io.Writer) *progress {
	if !terminal(w) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions(1,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionEnableColorCodes(colour(w)))}
}

func (p *progress) show(s ipc.Status) {
	if p.bar == nil || s.Pending.L1 == 0 {
		return
	}
	p.most = max(p.most, s.Pending.L1)
	p.bar.ChangeMax(p.most)
	p.bar.Describe(describe(s))
	_ = p.bar.Set(p.most - s.Pending.L1) // drawing is a courtesy
}

func describe(s ipc.Status) string {
	text := fmt.Sprintf("%d documents, %d chunks to go", s.Documents.Total, s.Pending.L1)
	if s.L1.EtaSeconds > 0 {
		text += fmt.Sprintf(", %.0f a second, %s", s.L1.ChunksPerSecond, time.Duration(s.L1.EtaSeconds*float64(time.Second)).Round(time.Second))
	}
	return text
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
