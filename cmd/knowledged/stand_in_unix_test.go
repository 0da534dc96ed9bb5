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
		d := f.daemon()
		d.answers(client)
		first.ask(t)
		second.ask(t)
		if marked(f.flags[5], standInMark) || marked(f.flags[5], daemonMark) {
			t.Error("a mark is left")
		}
		d.end()
		first.ask(t) // one of them stands in again
		second.ask(t)
	}
}

// Whoever is first by a moment, the daemon gets the place when it starts together with an agent.
func TestAgentAndDaemonStartTogether(t *testing.T) {
	for n := range 8 {
		f := newClientFolder(t)
		client := &ipc.Client{Socket: f.socket, Wait: patience}
		started := make(chan *runningDaemon, 1)
		time.AfterFunc(time.Duration(n)*30*time.Millisecond, func() { started <- f.daemon() })
		a := f.agent("2025-06-18")
		d := <-started
		d.answers(client)
		a.ask(t)
		d.end()
		client.Close()
	}
}

// runningDaemon is `knowledged run` in a process of its own.
type runningDaemon struct {
	f      *clientFolder
	cmd    *exec.Cmd
	stderr *lockedText
	ended  chan error
}

func (f *clientFolder) daemon() *runningDaemon {
	d := &runningDaemon{f: f, stderr: &lockedText{}, ended: make(chan error, 1)}
	d.cmd = exec.Command(f.bin, append([]string{"run", "--http", "off"}, f.flags...)...)
	d.cmd.Stderr = d.stderr
	if err := d.cmd.Start(); err != nil {
		f.t.Error(err)
		d.ended <- err
		return d
	}
	go func() { d.ended <- d.cmd.Wait() }()
	f.t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	return d
}

// answers waits until this very process does.
func (d *runningDaemon) answers(client *ipc.Client) {
	d.f.t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if s, err := client.Status(context.Background()); err == nil && s.PID == d.cmd.Process.Pid {
			return
		}
		select {
		case err := <-d.ended:
			d.f.t.Fatalf("the daemon got no place: %v\n%s", err, d.stderr)
		default:
		}
		if time.Since(begun) > patience {
			d.f.t.Fatalf("the daemon never answered\n%s", d.stderr)
		}
	}
}

func (d *runningDaemon) end() {
	d.f.t.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if err := await(d.f.t, d.ended); err != nil {
		d.f.t.Error(errors.Join(err, errors.New(d.stderr.String())))
	}
}
