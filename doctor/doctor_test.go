package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"knowledged/config"
	kd "knowledged/daemon"
	"knowledged/ipc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is a configuration to examine, and what the system says, which a test may change.
type patient struct {
	t      testing.TB
	loaded *config.Loaded
	daemon fakeDaemon
	limits limits
	free   int64
	locked string // a document that may not be read

	patience time.Duration
}

type fakeDaemon struct {
	status ipc.Status
	job    ipc.Job
	gone   bool
	hangs  bool // once it has told its status
	deaf   bool
}

func (f fakeDaemon) Status(ctx context.Context) (ipc.Status, error) {
	if f.deaf {
		<-ctx.Done()
		return ipc.Status{}, ctx.Err()
	}
	if f.gone {
		return ipc.Status{}, ipc.ErrNoDaemon
	}
	return f.status, nil
}

func (f fakeDaemon) Reconcile(ctx context.Context, _ bool) (ipc.Job, error) {
	if f.hangs {
		<-ctx.Done()
		return ipc.Job{}, ctx.Err()
	}
	return f.job, nil
}

func newPatient(t testing.TB) *patient {
	t.Helper()
	dir, err := os.MkdirTemp("", "kd") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &patient{t: t, loaded: &config.Loaded{Config: config.Default()}, daemon: fakeDaemon{gone: true}, limits: limits{watches: 8192, instances: 128}, free: 50e9}
	c := &p.loaded.Config
	c.Knowledge.BasePath, c.StateDir, c.IPC.Socket, c.IPC.HTTP = filepath.Join(dir, "kb"), filepath.Join(dir, "state"), filepath.Join(dir, "s"), config.HTTPOff
	p.write("a.md", "# A\n\nAbout the first thing.\n")
	p.write("sub/b.md", "# B\n\nAbout the second thing.\n")
	return p
}

func (p *patient) write(name, text string) string {
	p.t.Helper()
	file := filepath.Join(p.loaded.Config.Knowledge.BasePath, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// examine gives the checks by name.
func (p *patient) examine() map[string]Check {
	p.t.Helper()
	checks := map[string]Check{}
	x := &examination{
		Config: Config{Loaded: p.loaded, Daemon: p.daemon, Version: "v1"}, cfg: &p.loaded.Config,
		tell:   func(c Check) { checks[c.Name] = c },
		limits: func() (limits, bool) { return p.limits, true },
		free:   func(string) (int64, error) { return p.free, nil },
		open: func(file string) error {
			if filepath.Base(file) == p.locked {
				return &os.PathError{Op: "open", Path: file, Err: os.ErrPermission}
			}
			return openable(file)
		},
		patience: p.patience, comparePatience: p.patience,
	}
	x.run(p.t.Context())
	for name, c := range checks {
		if (c.State == OK) != (c.Remedy == "") || c.Message == "" {
			p.t.Errorf("%s: %+v: what is not ok has a remedy, and only that", name, c)
		}
	}
	return checks
}

// finds compares one check.
func (p *patient) finds(name, state, message string) {
	p.t.Helper()
	if c := p.examine()[name]; c.State != state || !strings.Contains(c.Message, message) {
		p.t.Errorf("%s: %+v, want %s with %q", name, c, state, message)
	}
}

// index runs a real daemon until everything is indexed.
func (p *patient) index() {
	p.t.Helper()
	d, err := kd.New(&p.loaded.Config, "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, nil) }()
	err = d.WaitIndexed(ctx, time.Minute)
	cancel()
	if err := errors.Join(err, <-ended, d.Close()); err != nil {
		p.t.Fatal(err)
	}
}

func TestDoctorWithoutADaemon_6_4(t *testing.T) {
	p := newPatient(t)
	for name, c := range p.examine() {
		if want := map[bool]string{true: Warn, false: OK}[name == "daemon"]; c.State != want {
			t.Errorf("%+v", c)
		}
	}
	p.index()
	p.finds("registry", OK, "2 documents")
	p.finds("vectors", OK, "4 records")
	p.finds("keyword index", OK, "whole")
	p.finds("embedding", OK, "256 dimensions")
}

func TestDoctorTellsDamage_2_10(t *testing.T) {
	p := newPatient(t)
	p.index()
	for name, part := range map[string]string{"registry": "registry.db", "keyword index": "l0", "vectors": "l1"} {
		damage(t, filepath.Join(p.loaded.Config.StateDir, part), name == "vectors")
		p.finds(name, Warn, "")
	}
	before := listing(t, p.loaded.Config.StateDir)
	p.examine()
	if after := listing(t, p.loaded.Config.StateDir); after != before {
		t.Errorf("the state was changed:\n%s\n%s", before, after)
	}
	p.index() // sets it aside
	p.finds("state folder", Warn, "set aside")
}

// damage overwrites the middle of every file; head: the beginning, as small files may end unfinished.
func damage(t *testing.T, at string, head bool) {
	t.Helper()
	err := filepath.WalkDir(at, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		from, to := len(data)/4, len(data)*3/4
		if head {
			from, to = 0, min(40, len(data))
		}
		for i := from; i < to; i++ {
			data[i] ^= 0x5a
		}
		return os.WriteFile(file, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			all.WriteString(file + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestDoctorJudgesFolders_6_4(t *testing.T) {
	p := newPatient(t)
	c := &p.loaded.Config
	future := p.write("late.md", "x")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(future, later, later); err != nil {
		t.Fatal(err)
	}
	p.finds("clock", Warn, "1 documents were saved in the future, such as late.md")
	p.free = 10 << 20
	p.finds("disk space", Fail, "0.0 GB")
	p.free = 500 << 20
	p.finds("disk space", Warn, "0.5 GB")

	if runtime.GOOS != "windows" {
		if err := os.MkdirAll(c.StateDir, 0o755); err != nil {
			t.Fatal(err)
		}
		p.finds("state folder", Warn, "mode 0755")
	}
	if err := os.Symlink("/nowhere", filepath.Join(c.Knowledge.BasePath, "dangling.md")); err != nil {
		t.Fatal(err)
	}
	c.Watch.FollowSymlinks = true
	p.finds("base folder", Warn, "dangling.md")
	base := c.Knowledge.BasePath
	c.Knowledge.BasePath = filepath.Join(base, "none")
	p.finds("base folder", Warn, "is not there")
	c.Knowledge.BasePath = filepath.Join(base, "a.md")
	p.finds("base folder", Fail, "is a file")
	c.StateDir = filepath.Join(base, "a.md")
	p.finds("state folder", Fail, "is a file")
}

func TestDoctorComparesFoldersWithTheLimitOfWatches_4_2(t *testing.T) {
	p := newPatient(t)
	p.finds("watches", OK, "2 folders")
	p.limits = limits{watches: 100, usedWatches: 99, instances: 128}
	p.finds("watches", Fail, "2 folders need a watch each, and 99 of 100 are taken")
	p.limits = limits{watches: 100, usedWatches: 60, instances: 128}
	p.finds("watches", Warn, "60 of 100")
	p.limits = limits{watches: 100, instances: 128, usedInstances: 128}
	p.finds("watches", Fail, "all 128 inotify instances")
	p.limits = limits{watches: 100, instances: 128}
	p.loaded.Config.Watch.Mode = "poll"
	p.finds("watches", OK, "watch.mode is poll")
}

func TestDoctorListensToTheDaemon_6_4(t *testing.T) {
	p := newPatient(t)
	p.daemon = fakeDaemon{status: ipc.Status{
		PID: 7, Version: "v1", Ready: true, BasePath: p.loaded.Config.Knowledge.BasePath,
		Documents: ipc.StatusDocuments{Total: 2}, L1: ipc.StatusL1{State: ipc.L1Ready, Chunks: 4},
	}}
	p.finds("daemon", OK, "pid 7")
	p.finds("state folder", OK, "not looked at: "+p.loaded.Config.StateDir+" is not there")
	p.finds("disk space", OK, "for "+p.loaded.Config.Knowledge.BasePath)
	p.finds("documents", OK, "2")
	p.finds("indexes", OK, "agree")
	p.finds("semantic index", OK, "ready")
	s := &p.daemon.status
	s.Version = "v0"
	p.finds("daemon", Warn, "version v0, this program is v1")
	s.Documents.Failed, s.Watch.PolledFolders, s.L1 = 1, 3, ipc.StatusL1{State: ipc.L1Down, LastError: "no disk"}
	p.finds("documents", Warn, "1 of 2 cannot be indexed")
	p.finds("watches", Warn, "3 of 0 folders have no watch")
	p.finds("semantic index", Fail, "no disk")
	p.daemon.job.Vectors.Missing = 5
	p.finds("indexes", Warn, "5 vectors differ")
	p.daemon.job.Problems = []string{"documents: the base folder is missing"}
	p.finds("indexes", Fail, "base folder is missing")
	s.BasePath = "/elsewhere"
	p.finds("daemon", Warn, "serves /elsewhere")
	p.finds("state folder", OK, "is made at the first start")
}

func TestDoctorKnocksAtTheDoors_6_1_6_2(t *testing.T) {
	p := newPatient(t)
	c := &p.loaded.Config
	if err := os.WriteFile(c.IPC.Socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.finds("socket", Fail, "is not a socket")
	c.IPC.Socket = "/" + strings.Repeat("x", 200)
	p.finds("socket", Fail, "too long")

	foreign := httptest.NewServer(http.NotFoundHandler())
	defer foreign.Close()
	c.IPC.HTTP = foreign.Listener.Addr().String()
	p.finds("port", Warn, "cannot be had")
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "1")
		if r.URL.Path == "/v1/status" {
			fmt.Fprint(w, `{"pid": 7}`)
		}
	}))
	defer ours.Close()
	c.IPC.HTTP = ours.Listener.Addr().String()
	p.finds("port", Warn, "another knowledged answers")
	p.daemon = fakeDaemon{status: ipc.Status{PID: 7, Version: "v1", Ready: true, BasePath: c.Knowledge.BasePath}}
	p.finds("port", OK, "answers")
	p.daemon.status.PID = 8
	p.finds("port", Warn, "the daemon of this folder has no port")
	p.daemon = fakeDaemon{gone: true}
	c.IPC.HTTP = "0.0.0.0:1"
	p.finds("configuration", Fail, "beyond loopback")
	c.IPC.TokenFile = filepath.Join(c.StateDir, "none")
	p.finds("configuration", Fail, "ipc.token_file")
}

func TestDoctorAsksTheServers_3_5_3_6(t *testing.T) {
	p := newPatient(t)
	c := &p.loaded.Config
	c.Embedding.Provider = config.ProviderOpenAI
	c.Embedding.OpenAI.BaseURL = "http://127.0.0.1:1/v1"
	c.L1.Backend = config.BackendMilvus
	c.L1.Milvus.Address = "127.0.0.1:1"
	p.finds("embedding", Fail, "127.0.0.1:1")
	p.finds("milvus", Fail, "127.0.0.1:1")
	c.L1.Backend = config.BackendOff
	p.finds("embedding", OK, "not used")
}
