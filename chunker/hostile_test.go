//go:build unix

package chunker

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSplit_3_1_LinearOnHostileText compares a text with one of twice the size, as the parser's own test does. It counts
// processor time, not the clock: the machine may be busy. Quadratic work takes four times as long.
func TestSplit_3_1_LinearOnHostileText(t *testing.T) {
	const size = 256 << 10
	for _, unit := range []string{"[](", "*a ", ">", "- ", "`", "a", "字。", "e\u0301", "\u0301", "。", "| a\n|---\n", "```\n```\n", "    a\n", "> a\n>\n"} {
		t.Run(fmt.Sprintf("%q", unit), func(t *testing.T) {
			cost := func(size int) time.Duration {
				d := parse(t, "a.md", []byte(strings.Repeat(unit, size/len(unit))))
				start := cpuTime(t)
				Split(d, Options{})
				return cpuTime(t) - start
			}
			var small, large time.Duration
			for range 3 {
				if small, large = cost(size), cost(2*size); large < 3*small+time.Second/2 {
					return
				}
			}
			t.Errorf("%d bytes cost %v, twice as many %v", size, small, large)
		})
	}
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
