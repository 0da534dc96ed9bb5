package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"knowledged/ipc"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"knowledged": main}) }

// patience is far beyond what anything here takes.
const patience = 90 * time.Second

// TestScripts runs testdata/*.txtar against the program as people run it (SPEC 6.4). Each script has $SOCK and $STATE of its
// own in the environment, and two commands of ours:
//
//	exits CODE PROGRAM [ARG]...   the program ends with this code
//	up                            the daemon answers and nothing is pending
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			short, err := os.MkdirTemp("", "kd") // a socket's path must be shorter than 108 bytes
			if err != nil {
				return err
			}
			env.Defer(func() { os.RemoveAll(short) })
			socket, state := filepath.Join(short, "s"), filepath.Join(env.WorkDir, ".state")
			env.Setenv("SOCK", socket)
			env.Setenv("STATE", state)
			env.Setenv("KNOWLEDGED_IPC_SOCKET", socket)
			env.Setenv("KNOWLEDGED_STATE_DIR", state)
			env.Setenv("KNOWLEDGED_IPC_HTTP", "off")
			env.Setenv("KNOWLEDGED_KNOWLEDGE_BASE_PATH", filepath.Join(env.WorkDir, "kb"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "systemd" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			_, err := os.Stat("/run/systemd/system") // it runs this machine
			return err == nil, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "up": up},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func up(ts *testscript.TestScript, neg bool, args []string) {
	client := &ipc.Client{Socket: ts.Getenv("SOCK"), Wait: patience}
	defer client.Close()
	if _, err := waitFor(context.Background(), client, "all", patience, &progress{}); err != nil {
		ts.Fatalf("the daemon is not up: %v", err)
	}
}
