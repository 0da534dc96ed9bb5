//go:build unix

package document

import (
	"syscall"
	"testing"
	"time"
)

// TestSections_3_1_LinearOnHostileText compares a text with one of twice the size, on both sides of the bound at which
// goldmark gives way to the scanner. Quadratic work takes four times as long, and minutes on megabytes. It counts processor
// time, not the clock: the machine may be busy.
func TestSections_3_1_LinearOnHostileText(t *testing.T) {
	bound := maxGoldmarkBytes
	maxGoldmarkBytes = 96 << 10 // enough: goldmark with inline parsing needs seconds for 60 KB of links
	defer func() { maxGoldmarkBytes = bound }()
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{maxGoldmarkBytes / 2, maxGoldmarkBytes + 10} {
				var small, large time.Duration
				for range 3 {
					if small, large = cost(t, text(size)), cost(t, text(2*size-10)); large < 3*small+time.Second/2 {
						break
					}
				}
				if large >= 3*small+time.Second/2 {
					t.Errorf("%d bytes cost %v, twice as many %v", size, small, large)
				}
			}
		})
	}
}

func cost(t *testing.T, text string) time.Duration {
	start := cpuTime(t)
	Sections(text, 1)
	for b := range Blocks(text) {
		Visible(b.Kind, text[b.Start:b.End])
	}
	return cpuTime(t) - start
}

// cpuTime is what this process has used of the processors.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
