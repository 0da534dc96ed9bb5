package service

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// plist is what launchd would read, as far as it matters here.
type plist struct {
	Label                string
	ProgramArguments     []string
	UserName             string
	EnvironmentVariables map[string]string
	RunAtLoad            bool
	KeepAlive            map[string]bool
	ThrottleInterval     int
	ExitTimeOut          int
	Umask                int
	StandardOutPath      string
	StandardErrorPath    string
}

// parsePlist has Python's plistlib read it: another reader of the format than the writer.
func parsePlist(t *testing.T, text string) (p plist) {
	t.Helper()
	cmd := exec.Command("python3", "-c", "import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("plistlib: %v\n%s\n%s", err, out, text)
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// SPEC 7.3: launchd. Read by plistlib, not by launchd: there was no Mac.
func TestPlists_7_3(t *testing.T) {
	daemon := Config{Binary: "/opt/a & b/knowledged", ConfigFile: "/usr/local/etc/<x>.yaml", Base: macBase, Socket: macSocket}
	agent := Config{User: true, Home: "/Users/ann", Binary: "/usr/local/bin/knowledged", ConfigFile: "/Users/ann/.config/knowledged/config.yaml", Base: "/Users/ann/notes"}
	for _, tt := range []struct {
		cfg        Config
		path, user string
		logs       string
		umask      int
	}{
		{daemon, "/Library/LaunchDaemons/knowledged.plist", "_knowledged", "/usr/local/var/log/knowledged/knowledged.log", 0o007},
		{agent, "/Users/ann/Library/LaunchAgents/knowledged.plist", "", "/Users/ann/Library/Logs/knowledged.log", 0o077},
	} {
		plan := tt.cfg.launchdPlan()
		if plan.Unit.Path != tt.path {
			t.Errorf("%s, want %s", plan.Unit.Path, tt.path)
		}
		p := parsePlist(t, plan.Unit.Text)
		if want := []string{tt.cfg.Binary, "run", "--config", tt.cfg.ConfigFile}; !slices.Equal(p.ProgramArguments, want) {
			t.Errorf("arguments %q, want %q", p.ProgramArguments, want)
		}
		if p.Label != name || p.UserName != tt.user || p.Umask != tt.umask || !p.RunAtLoad || p.ThrottleInterval < 10 || p.ExitTimeOut != 30 {
			t.Errorf("%+v", p)
		}
		if p.StandardErrorPath != tt.logs || p.StandardOutPath != tt.logs {
			t.Errorf("logs %s, %s", p.StandardOutPath, p.StandardErrorPath)
		}
		// A crash alone starts it again, and a panic must look like one.
		if len(p.KeepAlive) != 1 || !p.KeepAlive["Crashed"] || p.EnvironmentVariables["GOTRACEBACK"] != "crash" {
			t.Errorf("keep alive %v, environment %v", p.KeepAlive, p.EnvironmentVariables)
		}
		if err := tt.cfg.ours(plan); err != nil {
			t.Error(err)
		}
		if !strings.Contains(plan.Unit.Text, "Written by `knowledged service install`") {
			t.Error("not marked as ours")
		}
	}
}
