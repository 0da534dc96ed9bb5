package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"knowledged/ipc"
)

// progress shows on a terminal how far a long command is. The zero value shows nothing.
type progress struct {
	bar  *progressbar.ProgressBar
	most int // pending at its highest: what the bar counts down from
}

// newProgress draws on w if that is a terminal.
func newProgress(w io.Writer) *progress {
	if !terminal(w) || os.Getenv("TERM") == "dumb" {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions(1,
		progressbar.OptionSetWriter(obeyed(w)), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
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

// count shows that done of all is done.
func (p *progress) count(what string, done, all int) {
	if p.bar == nil {
		return
	}
	p.bar.ChangeMax(all)
	p.bar.Describe(what)
	_ = p.bar.Set(done)
}

// pause clears the bar's line for others; the next step draws it anew.
func (p *progress) pause() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func describe(s ipc.Status) string {
	text := fmt.Sprintf("%d documents, %d chunks to go", s.Documents.Total, s.Pending.L1)
	if s.L1.EtaSeconds > 0 {
		text += fmt.Sprintf(", %.0f a second, %s", s.L1.ChunksPerSecond, time.Duration(s.L1.EtaSeconds*float64(time.Second)).Round(time.Second))
	}
	return text
}

func (p *progress) end() { p.pause() }
