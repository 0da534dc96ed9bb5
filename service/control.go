package service

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	kardianos "github.com/kardianos/service"
)

// State is what the service manager knows of the service.
type State struct {
	Installed  bool   `json:"installed"`
	Running    bool   `json:"running"`
	Enabled    bool   `json:"enabled"`    // starts with the machine, or with the user's session
	Listening  bool   `json:"listening"`  // the service manager holds the socket: a lookup starts the daemon
	State      string `json:"state"`      // active (running), failed (exit-code), …
	StatusText string `json:"statusText"` // the daemon's own words
	PID        int    `json:"pid"`
	Since      string `json:"since"`
	Restarts   int    `json:"restarts"` // by the service manager, since it was started by hand
	Unit       string `json:"unit"`
}

// UnreachableError says that the user's systemd does not answer.
type UnreachableError struct{ Said string }

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("your systemd cannot be reached: %s", e.Said)
}

// managerRuns returns ErrNoManager, or an *UnreachableError.
func managerRuns(user bool) error {
	switch runtime.GOOS {
	case "darwin":
		return nil
	case "linux":
		if _, err := os.Stat("/run/systemd/system"); err != nil {
			return ErrNoManager
		}
	default:
		return ErrNoManager
	}
	if !user {
		return nil
	}
	out, err := exec.Command("systemctl", "--user", "show", "--property=Version").CombinedOutput()
	if err != nil {
		return &UnreachableError{Said: strings.TrimSpace(string(out))}
	}
	return nil
}

// systemdVersion is 0 where there is none.
func systemdVersion() int {
	out, err := exec.Command("systemctl", "--version").Output()
	if err != nil {
		return 0
	}
	if m := regexp.MustCompile(`^systemd (\d+)`).FindSubmatch(out); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	return 0
}

func (c *Config) systemctl(args ...string) error {
	if c.User {
		args = append([]string{"--user"}, args...)
	}
	return command(append([]string{"systemctl"}, args...)...)
}

// Start starts socket and daemon, also after too many failures, and returns once lookups are answered.
func (c *Config) Start() error { return c.control(kardianos.Service.Start) }

// Restart is Start for a service that may run.
func (c *Config) Restart() error { return c.control(kardianos.Service.Restart) }

func (c *Config) control(do func(kardianos.Service) error) error {
	s, err := c.running()
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" {
		_ = c.systemctl("reset-failed", name+".service", name+".socket") // none is loaded: nothing to clear
		if err := c.systemctl("start", name+".socket"); err != nil {
			return fmt.Errorf("start the socket: %w", err)
		}
	}
	if err := do(s); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return nil
}

// Stop stops the daemon and the socket, which would start it again with the next lookup.
func (c *Config) Stop() error {
	s, err := c.running()
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" {
		if err := c.systemctl("stop", name+".socket"); err != nil {
			return fmt.Errorf("stop the socket: %w", err)
		}
	}
	if err := s.Stop(); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

func (c *Config) running() (kardianos.Service, error) {
	if err := managerRuns(c.User); err != nil {
		return nil, err
	}
	return c.manager("")
}

// Status asks the service manager.
func (c *Config) Status() (State, error) {
	s, err := c.running()
	if err != nil {
		return State{}, err
	}
	if runtime.GOOS != "linux" {
		status, err := s.Status()
		if errors.Is(err, kardianos.ErrNotInstalled) {
			return State{State: "not installed"}, nil
		}
		running := status == kardianos.StatusRunning
		return State{Installed: true, Enabled: true, Running: running, State: map[bool]string{true: "running", false: "stopped"}[running], Unit: c.Plan().Unit.Path}, err
	}
	show, err := c.show(name + ".service")
	if err != nil {
		return State{}, err
	}
	socket, err := c.show(name + ".socket")
	if err != nil {
		return State{}, err
	}
	st := State{
		Installed: show["LoadState"] == "loaded", Running: show["ActiveState"] == "active" || show["ActiveState"] == "reloading",
		Enabled: show["UnitFileState"] == "enabled", Listening: socket["ActiveState"] == "active",
		State: show["ActiveState"] + " (" + show["SubState"] + ")", StatusText: show["StatusText"], Since: show["StateChangeTimestamp"], Unit: show["FragmentPath"],
	}
	st.PID, _ = strconv.Atoi(show["MainPID"])
	st.Restarts, _ = strconv.Atoi(show["NRestarts"])
	if show["ActiveState"] == "failed" {
		st.State = "failed (" + show["Result"] + ")"
	}
	if !st.Installed {
		st.State = "not installed"
	}
	return st, nil
}

func (c *Config) show(unit string) (map[string]string, error) {
	args := []string{"show", unit, "--property=LoadState,ActiveState,SubState,UnitFileState,FragmentPath,MainPID,NRestarts,StatusText,Result,StateChangeTimestamp"}
	if c.User {
		args = append([]string{"--user"}, args...)
	}
	cmd := exec.Command("systemctl", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask systemd for %s: %w: %s", unit, err, strings.TrimSpace(errs.String()))
	}
	props := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		props[key] = value
	}
	return props, nil
}
