package watcher

import (
	"strings"
	"testing"
	"time"
)

func (b *bench) besides() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, batch := range b.batches {
		if batch.Beside {
			n++
		}
	}
	return n
}

// SPEC 4.1: a setting kept beside the documents is as hot as they are, and is none of them.
func TestWatch_4_1_Beside(t *testing.T) {
	all(t, func(t *testing.T, cfg Config) {
		cfg.Beside = ".words.yaml"
		b := newBench(t, cfg, "ops/a.md", "1").start()
		seen := 0
		told := func(what string) {
			t.Helper()
			b.await(what, func() bool { return b.besides() > seen })
			b.idle()
			seen = b.besides()
		}
		b.put(".words.yaml", "- [a, b]")
		told("a new file")
		b.put(".words.yaml", "- [a, b, c]")
		told("a changed file")
		b.mv(".words.yaml", ".words.old")
		told("a file that went")
		b.put("ops/.words.yaml", "elsewhere")
		b.put("ops/a.md", "2")
		b.index("ops/a.md", "2")
		if n := b.besides(); n != seen {
			t.Errorf("told %d times of a file elsewhere", n-seen)
		}
	})
}

func TestWatch_BesideUnset(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour}, "ops/a.md", "1").start()
	b.put(".words.yaml", "x")
	b.put("ops/a.md", "2")
	b.index("ops/a.md", "2")
	if n := b.besides(); n != 0 {
		t.Errorf("told %d times of no file", n)
	}
}

// A document that goes in the same moment as the file beside changes is told with it.
func TestWatch_4_1_BesideWithDeletion(t *testing.T) {
	b := newBench(t, Config{PollInterval: time.Hour, Beside: ".words.yaml", Settle: 50 * time.Millisecond}, "ops/a.md", "1", "ops/b.md", "2").start()
	for round := range 5 {
		b.put(".words.yaml", strings.Repeat("- [a, b]\n", round+1))
		b.put(".knowledgeignore", strings.Repeat("#\n", round)+"ops/a.md\n")
		b.index("ops/b.md", "2")
		b.rm(".knowledgeignore")
		b.index("ops/a.md", "1", "ops/b.md", "2")
	}
	b.rm("ops/a.md")
	b.put(".words.yaml", "")
	b.index("ops/b.md", "2")
}
