//go:build unix

package main

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"knowledged/ipc"
)

// A daemon that comes back takes its place from the agent that stood in for it, and the agent's session goes on.
func TestAgentGivesWayToTheDaemon(t *testing.T) {
	f := newClientFolder(t)
	first, second := f.agent("2025-06-18"), f.agent("2025-06-18")
	first.ask(t)
	second.ask(t)
	client := &ipc.Client{Socket: f.socket, Wait: patience}
	defer client.Close()
	for range 2 {
		stderr := &lockedText{}
		cmd := exec.Command(f.bin, append([]string{"run", "--http", "off"}, f.flags...)...)
		cmd.Stderr = stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		defer func() { _ = cmd.Process.Kill() }()
		for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			if s, err := client.Status(context.Background()); err == nil && s.PID == cmd.Process.Pid {
				break
			}
			select {
			case err := <-ended:
				t.Fatalf("the daemon did not come back: %v\n%s", err, stderr)
			default:
			}
			if time.Since(begun) > patience {
				t.Fatalf("the daemon never came back\n%s", stderr)
			}
		}
		first.ask(t)
		second.ask(t)
		if marked(f.flags[5], standInMark) || marked(f.flags[5], daemonMark) {
			t.Error("a mark is left")
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := await(t, ended); err != nil {
			t.Error(errors.Join(err, errors.New(stderr.String())))
		}
		first.ask(t) // one of them stands in again
		second.ask(t)
	}
}
