package watcher

import "time"

// barrierPatience bounds how long Status waits for the loop, which may hang in a listing on a dead network drive.
const barrierPatience = 200 * time.Millisecond

// Status tells the state of the watching. Pending is 0 only if the events of all changes made before the
// call were seen to (on Linux; elsewhere, all events that have arrived).
func (w *Watcher) Status() Status {
	st := w.snapshot()
	if st.Pending > 0 || !w.running.Load() {
		return st
	}
	// An event may be in the kernel's queue or in the loop's hands, not counted yet: only the loop can confirm 0.
	patience := time.NewTimer(barrierPatience)
	defer patience.Stop()
	answer := make(chan struct{})
	barrier := w.barrier
	for {
		select {
		case barrier <- answer:
			barrier = nil
		case <-answer:
			return w.snapshot()
		case <-patience.C:
			if w.running.Load() {
				st.Pending = 1
			}
			return st
		}
	}
}

// BaseMissing tells whether the base folder was not there when it was last looked for. Unlike Status it never waits.
func (w *Watcher) BaseMissing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status.BaseMissing
}

// snapshot adds up the work in sight. Work moves between asked, the loop and outstanding under mu only, so that none is
// missed on its way.
func (w *Watcher) snapshot() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.status
	st.Pending = w.pending + len(w.asked.touched)
	if w.asked.rescan {
		st.Pending++
	}
	for _, count := range w.outstanding {
		st.Pending += count
	}
	return st
}
