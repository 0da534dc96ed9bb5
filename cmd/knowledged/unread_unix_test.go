//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"knowledged/ipc"
	"knowledged/lookup"
)

// A daemon, be it an agent's, goes on and ends while nobody reads its log and the pipe is full.
func TestDaemonGoesOnWhereNobodyReadsItsLog(t *testing.T) {
	for _, command := range []string{"run", "mcp"} {
		t.Run(command, func(t *testing.T) {
			f := newClientFolder(t)
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
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
			client := &ipc.Client{Socket: f.socket, Wait: patience}
			defer client.Close()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if _, err := waitFor(ctx, client, "l0", patience, &progress{}); err != nil {
				t.Fatal(err)
			}
			for i := range 400 { // twice what a pipe holds
				if _, err := client.Lookup(ctx, lookup.Request{Query: fmt.Sprint("ERR_TIMEOUT ", i)}); err != nil {
					t.Fatalf("lookup %d: %v", i, err)
				}
			}
			if command == "run" {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
			in.Close()
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if err := await(t, ended); err != nil {
				t.Error(err)
			}
		})
	}
}
