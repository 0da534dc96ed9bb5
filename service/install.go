package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	kardianos "github.com/kardianos/service"
)

// Plan is what Install would do here.
func (c *Config) Plan() *Plan {
	if runtime.GOOS == "darwin" {
		return c.launchdPlan()
	}
	return c.systemdPlan(systemdVersion())
}

// Install does what the plan says and tells on out what came of each step. What is as it should be is left alone.
func (c *Config) Install(out io.Writer) error {
	if err := managerRuns(c.User); err != nil {
		return err
	}
	p := c.Plan()
	if err := c.check(p); err != nil {
		return err
	}
	for _, f := range p.Files {
		said, err := c.write(f)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-10s %s\n", said, f.Path)
	}
	for _, args := range p.Before {
		if err := command(args...); err != nil {
			return err
		}
	}
	for _, f := range p.Folders {
		made, err := c.mkdir(f)
		if err != nil {
			return err
		}
		if made {
			fmt.Fprintf(out, "%-10s %s/\n", "made", f.Path)
		}
	}
	if p.Unit.Path != "" {
		said, err := c.writeUnit(p)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-10s %s\n", said, p.Unit.Path)
	}
	for _, args := range p.After {
		if err := command(args...); err != nil { // the next boot does it
			fmt.Fprintf(out, "note: %v\n", err)
		}
	}
	for _, note := range p.Notes {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	return nil
}

// write says what it did: written, updated, unchanged, or kept.
func (c *Config) write(f File) (string, error) {
	old, err := os.ReadFile(c.Root + f.Path)
	switch {
	case err == nil && f.Kept:
		return "kept", nil
	case err == nil && string(old) == f.Text:
		return "unchanged", nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("look at what is installed: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.Root+f.Path), 0o755); err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	if err := os.WriteFile(c.Root+f.Path, []byte(f.Text), 0o644); err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	if err := os.Chmod(c.Root+f.Path, 0o644); err != nil { // whatever the umask
		return "", fmt.Errorf("install: %w", err)
	}
	if old == nil {
		return "written", nil
	}
	return "updated", nil
}

// writeUnit leaves writing and enabling to kardianos/service, which refuses to touch a unit that is there.
func (c *Config) writeUnit(p *Plan) (string, error) {
	said := "written"
	if old, err := os.ReadFile(p.Unit.Path); err == nil {
		said = "updated"
		if string(old) == p.Unit.Text {
			said = "unchanged"
		}
		if err := os.Remove(p.Unit.Path); err != nil {
			return "", fmt.Errorf("install: %w", err)
		}
	}
	s, err := c.manager(p.Unit.Text)
	if err != nil {
		return "", err
	}
	if err := s.Install(); err != nil {
		return "", fmt.Errorf("install %s: %w", p.Unit.Path, err)
	}
	if err := os.Chmod(p.Unit.Path, 0o644); err != nil { // whatever the umask
		return "", fmt.Errorf("install: %w", err)
	}
	return said, nil
}

func (c *Config) mkdir(f Folder) (made bool, err error) {
	if _, err := os.Stat(c.Root + f.Path); err == nil {
		return false, nil // whose it is was somebody's decision
	}
	if err := os.MkdirAll(c.Root+f.Path, 0o755); err != nil {
		return false, fmt.Errorf("make folder: %w", err)
	}
	if f.Owner != "" {
		account, err := user.Lookup(f.Owner)
		if err != nil {
			return false, fmt.Errorf("make folder %s: %w", f.Path, err)
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		if err := os.Chown(c.Root+f.Path, uid, gid); err != nil {
			return false, fmt.Errorf("make folder: %w", err)
		}
	}
	mode := f.Mode.Perm()
	if f.Mode&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	if err := os.Chmod(c.Root+f.Path, mode); err != nil {
		return false, fmt.Errorf("make folder: %w", err)
	}
	return true, nil
}

// Uninstall stops the service, takes away what Install has written, and tells what stays.
func (c *Config) Uninstall(out io.Writer) error {
	if err := managerRuns(c.User); err != nil {
		return err
	}
	p := c.Plan()
	if unit := c.packaged(); unit != "" && !c.User {
		return &PackagedError{Unit: unit}
	}
	installed := false
	if p.Unit.Path == "" { // a package's unit of a user
		if err := c.Stop(); err != nil {
			return err
		}
		installed = true
		if err := command("systemctl", "--user", "disable", name+".service"); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-10s %s, which stays: it is a package's\n", "disabled", c.packaged())
	} else if _, err := os.Stat(p.Unit.Path); err == nil {
		if err := c.ours(p); err != nil {
			return err
		}
		if err := c.Stop(); err != nil {
			return err
		}
		s, err := c.manager("")
		if err != nil {
			return err
		}
		if err := s.Uninstall(); err != nil {
			return fmt.Errorf("uninstall %s: %w", p.Unit.Path, err)
		}
		installed = true
		fmt.Fprintf(out, "%-10s %s\n", "removed", p.Unit.Path)
	}
	for _, f := range p.Files {
		removed, err := c.remove(f)
		if err != nil {
			return err
		}
		if removed {
			installed = true
			fmt.Fprintf(out, "%-10s %s\n", "removed", f.Path)
		}
	}
	if !installed {
		fmt.Fprintln(out, "nothing was installed")
	} else if runtime.GOOS == "linux" {
		if err := c.systemctl("daemon-reload"); err != nil {
			return err
		}
	}
	for _, path := range p.Leftover {
		if _, err := os.Stat(c.Root + path); err == nil {
			fmt.Fprintf(out, "%-10s %s\n", "left", path)
		}
	}
	return nil
}

// remove takes away a file that Install has written; a folder of drop-ins with it, if it was the last.
func (c *Config) remove(f File) (bool, error) {
	data, _ := os.ReadFile(c.Root + f.Path)
	if f.Kept || !strings.HasPrefix(string(data), marker) { // or it is not there
		return false, nil
	}
	if err := os.Remove(c.Root + f.Path); err != nil {
		return false, fmt.Errorf("uninstall: %w", err)
	}
	if dir := filepath.Dir(c.Root + f.Path); strings.HasSuffix(dir, name+".service.d") {
		_ = os.Remove(dir) // others may have drop-ins there
	}
	return true, nil
}

// command runs a program of the system. Its own words are the error.
func command(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// program is what kardianos/service would run; `knowledged run` needs no help from it.
type program struct{}

func (program) Start(kardianos.Service) error { return nil }
func (program) Stop(kardianos.Service) error  { return nil }

// manager is the machine's service manager with our own text for its unit.
func (c *Config) manager(unit string) (kardianos.Service, error) {
	return kardianos.New(program{}, &kardianos.Config{
		Name:       name,
		Executable: c.Binary,
		Option:     kardianos.KeyValue{"UserService": c.User, "SystemdScript": unit, "LaunchdConfig": unit},
	})
}
