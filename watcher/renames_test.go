package watcher

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// A folder rename that no event told of: the next comparison finds the folder and mends the watches.
func TestTrouble_4_2_MissedRename(t *testing.T) {
	b := newBench(t, Config{PollInterval: 50 * ms}, "x/in/a.md", "1")
	var closed atomic.Bool
	open := b.w.open
	b.w.open = func() (*fsnotify.Watcher, error) {
		fsw, err := open()
		in, out := fsw.Events, make(chan fsnotify.Event, 100)
		go func() {
			defer close(out)
			for ev := range in {
				if !closed.Load() {
					out <- ev
				}
			}
		}()
		fsw.Events = out
		return fsw, err
	}
	b.start()
	closed.Store(true)
	b.mv("x", "y")
	b.index("y/in/a.md", "1")
	b.await("a walk after the watches were mended", func() bool { return b.w.Status().PolledFolders == 0 })
	b.idle()
	closed.Store(false)
	b.put("y/in/a.md", "2")
	b.index("y/in/a.md", "2")
}

// A folder turns up under its new name before the event comes that it left its old one: until then the system reports what
// happens in it under the old name, and the end of that watch must not be the end of the new one.
func TestTrouble_4_1_RenameToldLate(t *testing.T) {
	b := newBench(t, Config{Mode: ModeFsnotify}, "z/in/a.md", "1")
	release := make(chan struct{})
	open := b.w.open
	b.w.open = func() (*fsnotify.Watcher, error) {
		fsw, err := open()
		in, out := fsw.Events, make(chan fsnotify.Event, 100)
		go func() {
			defer close(out)
			var late []fsnotify.Event
			free := release
			for {
				select {
				case ev, ok := <-in:
					if !ok {
						return
					}
					if free != nil && strings.Contains(ev.Name, "/z") {
						late = append(late, ev)
						continue
					}
					out <- ev
				case <-free:
					free = nil
					for _, ev := range late {
						out <- ev
					}
				}
			}
		}()
		fsw.Events = out
		return fsw, err
	}
	b.start()
	b.mv("z", "a")
	b.index("a/in/a.md", "1")
	close(release)
	b.put("last.md", "2")
	b.index("a/in/a.md", "1", "last.md", "2")
	b.put("a/in/a.md", "3")
	b.put("a/b.md", "4")
	b.index("a/in/a.md", "3", "a/b.md", "4", "last.md", "2")
	if st := b.w.Status(); st.PolledFolders != 0 {
		t.Errorf("status %+v", st)
	}
}
