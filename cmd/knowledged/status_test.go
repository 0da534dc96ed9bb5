package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"knowledged/ipc"
)

// SPEC 6.2, 6.4: status says whether there is a port, and why there is none.
func TestStatusSaysWhyHTTPIsOff_6_2(t *testing.T) {
	for want, h := range map[string]ipc.StatusHTTP{
		"http       http://127.0.0.1:7420/\n":    {On: true, Address: "127.0.0.1:7420"},
		"http       off: ipc.http is off\n":      {Reason: "ipc.http is off"},
		"off: it was taken\n           free the": {Address: "127.0.0.1:7420", Reason: "it was taken"},
	} {
		var b strings.Builder
		printStatus(&b, ipc.Status{HTTP: h})
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	var b strings.Builder
	if printStatus(&b, ipc.Status{}); strings.Contains(b.String(), "http") {
		t.Errorf("an older daemon's status says\n%s", &b)
	}
}

// A daemon that was stopped (kill -STOP) cannot be reached, and --timeout holds for it, too.
func TestStatusTimeoutHoldsForADaemonThatHangs(t *testing.T) {
	short, err := os.MkdirTemp("", "kd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	socket := filepath.Join(short, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, args := range [][]string{{"status", "--wait", "--timeout", "10ms"}, {"status", "--timeout", "10ms"}} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append(args, "--socket", socket), streams{out: &out, err: &errs})
		if code != exitNoDaemon || !strings.Contains(errs.String(), "the daemon does not answer: no answer within 1s") {
			t.Errorf("%v: exit code %d, %s", args, code, &errs)
		}
	}
}
