package doctor

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"knowledged/config"
	"knowledged/ipc"
)

// Whoever hangs is told as such, and holds up nothing else.
func TestDoctorWaitsForNobody_6_4(t *testing.T) {
	p := newPatient(t)
	p.patience = 50 * time.Millisecond
	hung := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	defer server.Close()
	defer close(hung)
	p.loaded.Config.Embedding.Provider = config.ProviderOpenAI
	p.loaded.Config.Embedding.OpenAI.BaseURL = server.URL + "/v1"
	p.daemon = fakeDaemon{hangs: true, status: ipc.Status{BasePath: p.loaded.Config.Knowledge.BasePath, Version: "v1", Ready: true}}
	p.finds("embedding", Fail, server.URL+"/v1: no answer within 50ms")
	p.finds("indexes", Warn, "no answer within 50ms")
	p.daemon.deaf = true
	p.finds("daemon", Fail, "no answer within 50ms")
}

func TestDoctorWithoutADaemonReadsForIt_6_4(t *testing.T) {
	p := newPatient(t)
	p.finds("documents", OK, "2, all of them can be read")
	p.locked = "b.md"
	p.finds("documents", Warn, "1 of 2 cannot be read: sub/b.md (permission denied)")
	state := p.loaded.Config.StateDir
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "registry.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.finds("registry", Warn, "registry.db is empty")
}

// SPEC 6.2: a daemon without a port says why.
func TestDoctorSaysWhyThereIsNoPort_6_2(t *testing.T) {
	p := newPatient(t)
	p.loaded.Config.IPC.HTTP = "127.0.0.1:0"
	p.daemon = fakeDaemon{status: ipc.Status{BasePath: p.loaded.Config.Knowledge.BasePath, Version: "v1", Ready: true, HTTP: ipc.StatusHTTP{Address: "127.0.0.1:0", Reason: "it was taken"}}}
	p.finds("port", Warn, "does not listen on 127.0.0.1:0: it was taken")
	p.daemon.status.HTTP = ipc.StatusHTTP{Reason: "ipc.http is off"}
	p.finds("port", Warn, "has no port: its ipc.http is off")
}
