//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"knowledged/ipc"
)

// A daemon outlives the reader of its log, be it one of its own (`knowledged run 2>&1 | head -1`) or an agent's.
func TestDaemonOutlivesTheReaderOfItsLog(t *testing.T) {
	for _, command := range []string{"run", "mcp"} {
		t.Run(command, func(t *testing.T) {
			f := newClientFolder(t)
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(f.bin, append([]string{command}, f.flags...)...)
			cmd.Env = append(os.Environ(), "KNOWLEDGED_IPC_HTTP=off")
			cmd.Stderr = write
			in, err := cmd.StdinPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			write.Close()
			if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			read.Close()
			client := &ipc.Client{Socket: f.socket, Wait: patience}
			defer client.Close()
			f.write("news, which is logged")
			s, err := waitFor(context.Background(), client, "l0", patience, &progress{})
			if err != nil || s.PID != cmd.Process.Pid {
				t.Fatal(fmt.Errorf("pid %d: %w", s.PID, err))
			}
			if command == "run" {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
			in.Close()
			if err := cmd.Wait(); err != nil { // it logs that it stops
				t.Error(err)
			}
		})
	}
}
