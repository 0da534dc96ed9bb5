package daemon

import (
	"context"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"knowledged/config"
	"knowledged/ipc"
)

// manager is the service manager's end of sd_notify.
type manager struct {
	mu   sync.Mutex
	said []string // guarded by mu
}

// supervise makes the process a service with a watchdog and runs the daemon with its doors open.
func (w *world) supervise(watchdog time.Duration) *manager {
	w.t.Helper()
	dir, err := os.MkdirTemp("", "kd") // a socket's path must be short
	w.must(err)
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	ears, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(dir, "notify")})
	w.must(err)
	w.t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "notify"))
	w.t.Setenv("WATCHDOG_USEC", strconv.FormatInt(watchdog.Microseconds(), 10))
	m := &manager{}
	var listening sync.WaitGroup
	listening.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := ears.Read(buf)
			if err != nil {
				return // closed
			}
			m.mu.Lock()
			m.said = append(m.said, string(buf[:n]))
			m.mu.Unlock()
		}
	})
	w.cfg.IPC.Socket = filepath.Join(dir, "s")
	w.cfg.IPC.HTTP = config.HTTPOff
	if w.Daemon == nil {
		w.open()
	}
	w.Daemon.cfg.IPC = w.cfg.IPC
	serve, err := w.Doors(nil)
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.Run(ctx, serve) })
	g.Go(func() error { return w.Supervise(ctx, w.Daemon.log) })
	w.stop = func() {
		cancel()
		if err := g.Wait(); err != nil {
			w.t.Errorf("Run: %v", err)
		}
		w.must(w.Close())
		ears.Close()
		listening.Wait()
	}
	return m
}

// count is how many messages have this among their lines, or a line that begins so.
func (m *manager) count(line string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, message := range m.said {
		for _, l := range strings.Split(message, "\n") {
			if strings.HasPrefix(l, line) {
				n++
			}
		}
	}
	return n
}

// SPEC 7.3: a folder of any size cannot run into the start timeout: the service is ready once the doors answer.
func TestReadyBeforeTheFirstScan_7_3(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.open()
	scan := make(chan struct{})
	read := w.pipeline.read
	w.pipeline.read = func(abs string, limit int64) ([]byte, fs.FileInfo, error) {
		<-scan
		return read(abs, limit)
	}
	m := w.supervise(time.Hour)
	w.eventually("ready", func() bool { return m.count("READY=1") == 1 })
	client := &ipc.Client{Socket: w.cfg.IPC.Socket}
	defer client.Close()
	if ready, err := client.Ready(context.Background()); ready || err != nil {
		t.Errorf("while the scan stands: ready %v, %v", ready, err)
	}
	if m.count("STATUS=first scan under way") != 1 {
		t.Errorf("said %q", m.said)
	}
	close(scan)
	w.eventually("scanned", func() bool { ready, err := client.Ready(context.Background()); return ready && err == nil })
	w.halt()
	if m.count("STOPPING=1") != 1 || m.count("READY=1") != 1 {
		t.Errorf("said %q", m.said)
	}
}

// SPEC 7.3: the watchdog hears of a daemon that works, and nothing of one whose indexing hangs.
func TestWatchdog_7_3(t *testing.T) {
	w := newWorld(t)
	m := w.supervise(200 * time.Millisecond)
	w.eventually("signs of life", func() bool { return m.count("WATCHDOG=1") > 2 })
	hung, release := make(chan struct{}), make(chan struct{})
	blocked := make(chan bool)
	go func() {
		blocked <- w.pipeline.do(context.Background(), func() { close(hung); <-release })
	}()
	<-hung
	w.eventually("told", func() bool { return len(w.log.lines("indexing does not get on")) == 1 })
	before := m.count("WATCHDOG=1")
	gone := time.Now()
	w.eventually("three beats pass", func() bool { return time.Since(gone) > 150*time.Millisecond })
	if n := m.count("WATCHDOG=1"); n != before {
		t.Errorf("%d signs of life of a daemon that hangs", n-before)
	}
	if n := len(w.log.lines("indexing does not get on")); n != 1 {
		t.Errorf("told %d times", n)
	}
	close(release)
	if !<-blocked {
		t.Error("the job was not run")
	}
	w.eventually("signs of life again", func() bool { return m.count("WATCHDOG=1") > before })
}

// A long batch is no hang as long as it gets on.
func TestAliveInALongBatch(t *testing.T) {
	w := newWorld(t).open()
	defer func() { w.must(w.Close()) }()
	p := w.pipeline // its loop does not run: nobody takes the pulse
	if p.alive(context.Background(), time.Millisecond) {
		t.Error("alive without its loop")
	}
	stop := make(chan struct{})
	var scanning sync.WaitGroup
	scanning.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				p.progress.Add(1)
			}
		}
	})
	if !p.alive(context.Background(), 50*time.Millisecond) {
		t.Error("not alive though it gets on")
	}
	close(stop)
	scanning.Wait()
}

func TestNoServiceManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	w := newWorld(t).open()
	defer func() { w.must(w.Close()) }()
	if err := w.Supervise(context.Background(), slog.New(slog.DiscardHandler)); err != nil { // returns at once
		t.Error(err)
	}
	w.Reloading(slog.New(slog.DiscardHandler))()
}

// SPEC 7.3: systemd is told when a reload begins, by its own clock, and when it is over.
func TestReloadIsAnnounced_7_3(t *testing.T) {
	w := newWorld(t)
	m := w.supervise(time.Hour)
	w.eventually("ready", func() bool { return m.count("READY=1") == 1 })
	done := w.Reloading(w.Daemon.log)
	w.eventually("reloading", func() bool { return m.count("RELOADING=1") == 1 && m.count("MONOTONIC_USEC=") == 1 })
	if m.count("READY=1") != 1 {
		t.Error("ready before the reload was done")
	}
	done()
	w.eventually("ready again", func() bool { return m.count("READY=1") == 2 })
}
