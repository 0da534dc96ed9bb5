//go:build unix

package ipc

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// SPEC 6.1: mode 0600 whatever the umask, and from the moment it exists. The umask belongs to the process, so a child does
// this, and watches the folder as fast as it can meanwhile.
func TestSocketMode_6_1(t *testing.T) {
	if os.Getenv("IPC_TEST_UMASK") != "" {
		return // the child's own test is below
	}
	for _, mask := range []string{"0", "022", "0277"} {
		child := exec.Command(os.Args[0], "-test.run=^TestSocketModeChild$", "-test.v")
		child.Env = append(os.Environ(), "IPC_TEST_UMASK="+mask)
		if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestSocketModeChild") {
			t.Errorf("umask %s: %v\n%s", mask, err, out)
		}
	}
}

func TestSocketModeChild(t *testing.T) {
	mask := os.Getenv("IPC_TEST_UMASK")
	if mask == "" {
		return // run by TestSocketMode_6_1
	}
	path := shortPath(t, "new/kd.sock")
	syscall.Umask(map[string]int{"0": 0, "022": 0o022, "0277": 0o277}[mask])
	ended := make(chan struct{})
	var watch sync.WaitGroup
	var worst fs.FileMode
	watch.Go(func() {
		for {
			if info, err := os.Lstat(path); err == nil {
				worst |= info.Mode().Perm()
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	for range 200 {
		l, err := listenSocket(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		l.Close()
	}
	close(ended)
	watch.Wait()
	if worst&^0o600 != 0 {
		t.Errorf("it was open to others for a moment: %o", worst)
	}
	if mask == "0" {
		if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("folder: %v %v", info.Mode(), err)
		}
	}
}

func TestStaleSocketIsReplaced_6_1(t *testing.T) {
	path := shortPath(t, "kd.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close() // as kill -9 leaves it
	if err := CheckSocket(t.Context(), path); err != nil {
		t.Errorf("stale, yet %v", err)
	}
	l, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	l.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestLiveSocketIsRespected_6_1(t *testing.T) {
	h := openHouse(t, nil)
	for _, err := range []error{CheckSocket(t.Context(), h.sock), second(h.sock)} {
		var inUse *InUseError
		if !errors.As(err, &inUse) || inUse.Path != h.sock || inUse.PID != os.Getpid() || !strings.Contains(err.Error(), "in use") {
			t.Errorf("%v", err)
		}
	}
	if r := h.ask("GET", "/healthz", ""); r.status != 200 {
		t.Error("the first lost its socket")
	}
}

func second(path string) error {
	s, err := New(Config{Backend: newFake(), Socket: path}, nil)
	if err != nil {
		return err
	}
	return s.Listen()
}

// A stopped process still owns its socket: it does not answer, yet nobody may take its place.
func TestSilentSocketIsRespected(t *testing.T) {
	path := shortPath(t, "kd.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var inUse *InUseError
	if err := second(path); !errors.As(err, &inUse) {
		t.Errorf("%v", err)
	}
}

// Of daemons that start at once on a stale socket exactly one wins, and it can be reached.
func TestRaceForSocket(t *testing.T) {
	for range 20 {
		path := shortPath(t, "kd.sock")
		stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		stale.SetUnlinkOnClose(false)
		stale.Close()
		won := make(chan net.Listener, 8)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				l, err := listenSocket(path)
				var inUse *InUseError
				switch {
				case err == nil:
					won <- l
				case !errors.As(err, &inUse):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d winners", len(won))
		}
		l := <-won
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		l.Close()
	}
}

// A socket that somebody else has put in our place is not ours to remove.
func TestCloseLeavesAnothersSocket(t *testing.T) {
	path := shortPath(t, "kd.sock")
	l, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	other, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	l.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("removed: %v", err)
	}
}

func TestSocketPathFaults(t *testing.T) {
	dir := shortPath(t, "")
	long := filepath.Join(dir, strings.Repeat("d", 120), "kb.sock")
	file := filepath.Join(dir, "file")
	os.WriteFile(file, []byte("precious"), 0o600)
	open := filepath.Join(dir, "open")
	os.Mkdir(open, 0o700)
	os.Chmod(open, 0o777)
	link := filepath.Join(dir, "link.sock")
	os.Symlink(file, link)
	for path, words := range map[string][]string{
		long:                             {long, "bytes", "limit"},
		file:                             {"not a socket"},
		link:                             {"not a socket"},
		filepath.Join(open, "kb.sock"):   {"anyone can write"},
		filepath.Join(file, "x/kb.sock"): {"not a directory"},
	} {
		_, err := listenSocket(path)
		if err == nil {
			t.Errorf("%s: no error", path)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v, want %q", err, w)
			}
		}
	}
	if data, _ := os.ReadFile(file); string(data) != "precious" {
		t.Error("a file was taken for a socket")
	}
	if _, err := os.Stat(filepath.Dir(long)); err == nil {
		t.Error("a folder was made for nothing")
	}
}

// Another user's folder is where that user could put another socket.
func TestForeignFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a folder away")
	}
	dir := filepath.Dir(shortPath(t, "x"))
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(filepath.Join(dir, "kd.sock")); err == nil || !strings.Contains(err.Error(), "12345") {
		t.Errorf("%v", err)
	}
	os.Chmod(dir, 0o777|fs.ModeSticky) // sticky, like /tmp
	l, err := listenSocket(filepath.Join(dir, "kd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// The lock on the folder is a courtesy: who holds it for ever does not hold up the start for ever.
func TestLockedFolder(t *testing.T) {
	path := shortPath(t, "kd.sock")
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	l, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// The service manager's socket stays when the daemon stops: else nobody could connect after a restart.
func TestInheritedSocketStays(t *testing.T) {
	path := shortPath(t, "kd.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.File() // what the service manager passes
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	inherited, err := net.FileListener(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	h := openHouse(t, func(c *Config) { c.Socket, c.Inherited = "", inherited })
	h.sock = path
	if r := h.ask("GET", "/healthz", ""); r.status != 200 {
		t.Errorf("%+v", r)
	}
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("removed: %v", err)
	}
}

// SPEC 6.2: a taken port is a WARN, and the socket goes on.
func TestTakenPort_6_2(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := openHouse(t, func(c *Config) { c.HTTP = l.Addr().String() })
	if h.url != "http://" {
		t.Errorf("bound %s", h.url)
	}
	if r := h.ask("GET", "/healthz", ""); r.status != 200 {
		t.Errorf("%+v", r)
	}
	if strings.Count(h.logs.String(), `"level":"WARN"`) != 1 || !strings.Contains(h.logs.String(), l.Addr().String()) {
		t.Errorf("log: %s", h.logs)
	}
}

func TestSocketGoesWithTheServer(t *testing.T) {
	h := openHouse(t, nil)
	h.ask("GET", "/healthz", "")
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(h.sock); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

// What cleans temporary folders takes old sockets, with their folder or without. The daemon stays reachable, by who was connected
// as well, and its new file goes with it. A file that somebody put there is left alone.
func TestRemovedSocketIsMadeAnew_6_1(t *testing.T) {
	h := openHouse(t, func(c *Config) { c.SocketCheck = time.Millisecond })
	h.ask("GET", "/healthz", "")
	awaitSocket := func() {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			conn, err := net.Dial("unix", h.sock)
			if err == nil {
				conn.Close()
				break
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
		if info, err := os.Lstat(h.sock); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	for _, remove := range []string{h.sock, filepath.Dir(h.sock)} {
		if err := os.RemoveAll(remove); err != nil {
			t.Fatal(err)
		}
		awaitSocket()
		h.ask("GET", "/healthz", "")
	}
	if err := h.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(h.sock); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

// So does one that was made anew.
func TestBrokenDoorMadeAnew(t *testing.T) {
	s, err := New(Config{Backend: newFake(), Socket: shortPath(t, "kd.sock"), SocketCheck: time.Millisecond}, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	s.bind = func(path string) (net.Listener, error) {
		l, err := listenSocket(path)
		if err == nil {
			err = l.(*socketListener).UnixListener.Close() // and leaves the file
		}
		return l, err
	}
	if err := os.Remove(s.cfg.Socket); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Serve(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("%v", err)
	}
}

func TestKeepSocketLeavesOtherFiles(t *testing.T) {
	s := &Server{cfg: Config{Socket: shortPath(t, "kd.sock"), SocketCheck: time.Millisecond}, log: testLog(t)}
	if err := os.WriteFile(s.cfg.Socket, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s.keepSocket(ctx, func(net.Listener) { t.Error("bound") })
	if data, err := os.ReadFile(s.cfg.Socket); err != nil || string(data) != "precious" {
		t.Errorf("%q %v", data, err)
	}
}

// A door that breaks ends Serve with its error.
func TestBrokenDoor(t *testing.T) {
	s, err := New(Config{Backend: newFake(), Socket: shortPath(t, "kd.sock")}, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	s.socket.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Serve(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("%v", err)
	}
}
