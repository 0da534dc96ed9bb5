//go:build linux

package ipc

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inheritedProbe is set in the process that stands for a daemon: file descriptors are passed to a new process only.
const inheritedProbe = "TEST_INHERITED_PROBE"

// TestInheritedProbe is no test of its own: it says what Inherited finds in a process that was given sockets.
func TestInheritedProbe(t *testing.T) {
	if os.Getenv(inheritedProbe) == "" {
		return
	}
	os.Setenv("LISTEN_PID", fmt.Sprint(os.Getpid())) // the manager knows it after the fork
	said := map[string]string{}
	l, err := Inherited()
	if err != nil {
		said["err"] = err.Error()
	}
	if l != nil {
		said["addr"] = l.Addr().String()
	}
	said["left"] = os.Getenv("LISTEN_FDS")
	data, _ := json.Marshal(said)
	fmt.Printf("PROBE %s\n", data)
}

// passed runs the probe with files as systemd would pass them.
func passed(t *testing.T, names string, files ...*os.File) map[string]string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestInheritedProbe$", "-test.v")
	cmd.Env = append(os.Environ(), inheritedProbe+"=1", fmt.Sprintf("LISTEN_FDS=%d", len(files)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = files
	out, err := cmd.CombinedOutput()
	_, line, found := strings.Cut(string(out), "PROBE ")
	if err != nil || !found {
		t.Fatalf("probe: %v\n%s", err, out)
	}
	line, _, _ = strings.Cut(line, "\n")
	var said map[string]string
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		t.Fatal(err)
	}
	return said
}

func listenerFile(t *testing.T, network, address string) *os.File {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	f, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestSocketOfServiceManager_7_3(t *testing.T) {
	dir := filepath.Dir(shortPath(t, "kd.sock"))
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	fa, fb := listenerFile(t, "unix", a), listenerFile(t, "unix", b)
	tcp := listenerFile(t, "tcp", "127.0.0.1:0")
	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	pair, err := net.Dial("unix", a)
	if err != nil {
		t.Fatal(err)
	}
	defer pair.Close()
	connected, err := pair.(*net.UnixConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	tests := []struct {
		name, names string
		files       []*os.File
		addr, err   string
	}{
		{"none", "", nil, "", ""},
		{"the only one, whatever its name", "knowledged.socket", []*os.File{fa}, a, ""},
		{"the one of its name", "other:api", []*os.File{fa, fb}, b, ""},
		{"two without the name", "one:two", []*os.File{fa, fb}, "", "FileDescriptorName=api"},
		{"a port", "api", []*os.File{tcp}, "", "not a Unix socket"},
		{"a file", "api", []*os.File{plain}, "", "socket operation on non-socket"},
		{"Accept=yes", "api", []*os.File{connected}, "", "does not listen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said := passed(t, tt.names, tt.files...)
			if said["addr"] != tt.addr || (said["err"] == "") != (tt.err == "") || !strings.Contains(said["err"], tt.err) {
				t.Errorf("got %q, want address %q and error %q", said, tt.addr, tt.err)
			}
			if said["left"] != "" {
				t.Error("LISTEN_FDS is still set: a process started by the daemon would take the sockets for its own")
			}
		})
	}
}
