package lookup

import (
	"context"
	"slices"
	"time"
)

// An editor that saves by rename leaves the name without a file for a moment. A lookup that falls into it waits so long,
// once, before it believes that a document is gone.
const (
	presenceWait = 20 * time.Millisecond
	presenceStep = 2 * time.Millisecond

	// movedWait is how long a lookup waits for the index to notice a move, once: watch.settle and the update. What was
	// noticed already is waited for no more.
	movedWait = 80 * time.Millisecond
)

// presence remembers within one lookup which files are there.
type presence struct {
	exists   func(path string) bool
	known    map[string]bool
	deadline time.Time // of all waiting; zero until the first file is missed
}

// of reports which of the paths have a file. All missing ones are waited for together.
func (p *presence) of(ctx context.Context, paths ...string) {
	var missing []string
	for _, path := range paths {
		if _, ok := p.known[path]; ok {
			continue
		}
		if p.known[path] = p.exists(path); !p.known[path] {
			missing = append(missing, path)
		}
	}
	if len(missing) > 0 && p.deadline.IsZero() {
		p.deadline = time.Now().Add(presenceWait)
	}
	for len(missing) > 0 && time.Now().Before(p.deadline) && ctx.Err() == nil {
		time.Sleep(presenceStep)
		left := missing[:0]
		for _, path := range missing {
			if p.known[path] = p.exists(path); !p.known[path] {
				left = append(left, path)
			}
		}
		missing = left
	}
}

// agreed waits until folder and index agree on these paths, which one of them has and the other has not: a document that
// was moved is known at its new place then. It reports false if they don't within movedWait.
func (s *state) agreed(ctx context.Context, paths []string) bool {
	for deadline := time.Now().Add(movedWait); ; time.Sleep(presenceStep) {
		paths = slices.DeleteFunc(paths, func(path string) bool {
			_, known := s.e.deps.Documents.Doc(path)
			return known == s.here.exists(path)
		})
		if len(paths) == 0 || ctx.Err() != nil || time.Now().After(deadline) {
			return len(paths) == 0
		}
	}
}
