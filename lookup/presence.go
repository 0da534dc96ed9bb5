package lookup

import (
	"context"
	"maps"
	"slices"
	"sync"
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

	// vainFor is how long a path that was waited for in vain holds up no other lookup: of a folder that is gone, say.
	vainFor = 5 * time.Second
)

// presence remembers within one lookup which files are there.
type presence struct {
	exists   func(path string) bool
	vain     *vain
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
		p.known[path] = p.exists(path)
		switch {
		case p.known[path]:
			p.vain.drop(path)
		case !p.vain.has(path):
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

// settled waits until folder and index agree on these paths, which one of them has and the other has not: a document that
// was moved is known at its new place then. It reports whether that came true of any of them within movedWait.
func (s *state) settled(ctx context.Context, paths []string) bool {
	left := slices.DeleteFunc(slices.Clone(paths), s.e.vain.has)
	waited := len(left)
	for deadline := time.Now().Add(movedWait); ; time.Sleep(presenceStep) {
		left = slices.DeleteFunc(left, func(path string) bool {
			_, known := s.e.deps.Documents.Doc(path)
			return known == s.here.exists(path)
		})
		if len(left) == 0 || ctx.Err() != nil {
			break
		}
		if time.Now().After(deadline) {
			s.e.vain.add(left)
			break
		}
	}
	return len(left) < waited
}

// vain holds the paths that were waited for in vain.
type vain struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (v *vain) has(path string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	until, ok := v.until[path]
	return ok && time.Now().Before(until)
}

func (v *vain) drop(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.until, path)
}

func (v *vain) add(paths []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(v.until, func(_ string, until time.Time) bool { return now.After(until) })
	if v.until == nil {
		v.until = make(map[string]time.Time, len(paths))
	}
	for _, path := range paths {
		v.until[path] = now.Add(vainFor)
	}
}
