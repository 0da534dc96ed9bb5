package main

import (
	"context"
	"errors"
	"os"
	"time"

	"knowledged/config"
	"knowledged/ipc"
)

// An agent's `mcp` without a daemon is one itself, until `run` wants to be. They agree by files in the state folder, as lookups
// without a daemon do: who may write there may ask. What a killed one has left counts for markAge.
const (
	standInMark = "agent-stands-in-"
	daemonMark  = "daemon-waits-"

	standInLook = 300 * time.Millisecond
	// givingWay is how long a stand-in may take to end what it is asked, and to close the state.
	givingWay = 10 * time.Second
)

// succeed has an agent's stand-in give way, and waits for that. answers is to be called once the daemon does, or fails:
// until then no agent stands in.
func succeed(ctx context.Context, cfg *config.Config) (asked bool, answers func()) {
	if !marked(cfg.StateDir, standInMark) {
		return false, func() {}
	}
	answers = mark(cfg.StateDir, daemonMark)
	ctx, cancel := context.WithTimeout(ctx, givingWay)
	defer cancel()
	tick := time.NewTicker(dialPause)
	defer tick.Stop()
	for marked(cfg.StateDir, standInMark) {
		var inUse *ipc.InUseError
		if err := ipc.CheckSocket(ctx, cfg.IPC.Socket); !errors.As(err, &inUse) {
			break // it was killed, or closes the state
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return true, answers
		}
	}
	return true, answers
}

// stand is an agent's mark that it has the state, or is about to.
type stand struct {
	stateDir, file string
	unmark         func()
	watching       chan struct{} // closed when watch has ended; nil before
}

// standIn leaves the mark, before anything is taken: a daemon that starts at the same time sees whom to ask. It stays until end.
func standIn(stateDir string) *stand {
	s := &stand{stateDir: stateDir}
	s.file, s.unmark = markFile(stateDir, standInMark)
	return s
}

// watch keeps the mark young until ctx ends, and calls giveWay when a daemon wants the place.
func (s *stand) watch(ctx context.Context, giveWay func()) {
	if s.file == "" { // there was no state folder yet
		s.file, s.unmark = markFile(s.stateDir, standInMark)
	}
	s.watching = make(chan struct{})
	go func() {
		defer close(s.watching)
		tick := time.NewTicker(standInLook)
		defer tick.Stop()
		for renewed := time.Now(); ; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if marked(s.stateDir, daemonMark) {
				giveWay()
				return
			}
			if now := time.Now(); now.Sub(renewed) > markAge/4 {
				renewed = now
				if os.Chtimes(s.file, now, now) != nil { // the machine slept, and somebody took it for an old one
					s.file, s.unmark = markFile(s.stateDir, standInMark)
				}
			}
		}
	}()
}

// end waits for the watching, whose ctx has ended, and takes the mark away.
func (s *stand) end() {
	if s.watching != nil {
		<-s.watching
	}
	s.unmark()
}
