// Package service installs the daemon as a service of the machine or of a user, under systemd or launchd, and controls it.
package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// name is that of units, plists and of the account.
const name = "knowledged"

// Config says what is to be installed. Paths are absolute.
type Config struct {
	User       bool   // for the user who asks, not for the machine
	Binary     string // what the service runs
	ConfigFile string // what it reads; made if it is missing
	Base       string // the documents, as that configuration has them or shall have them
	StateDir   string // as that configuration has it, if it is not left to the service
	Socket     string // as that configuration has it

	Home string // the user's folder
	Root string // tests put everything below this
}

// Default places. Package files name the same.
const (
	packagedBinary = "/usr/bin/knowledged"
	systemConfig   = "/etc/knowledged/config.yaml"
	systemBase     = "/srv/knowledge_base"
	systemSocket   = "/run/knowledged/knowledged.sock"
	macConfig      = "/usr/local/etc/knowledged/config.yaml"
	macBase        = "/usr/local/var/knowledged/knowledge_base"
	macSocket      = "/usr/local/var/knowledged/knowledged.sock"
)

// Defaults are the places of a service nobody has configured yet. configHome and runtimeDir are the user's.
func Defaults(user bool, home, configHome, runtimeDir string) Config {
	c := Config{User: user, Home: home}
	switch {
	case user:
		c.ConfigFile = filepath.Join(configHome, name, "config.yaml")
		c.Base = filepath.Join(home, "knowledge_base")
		c.Socket = filepath.Join(runtimeDir, name, name+".sock")
	case runtime.GOOS == "darwin":
		c.ConfigFile, c.Base, c.Socket = macConfig, macBase, macSocket
	default:
		c.ConfigFile, c.Base, c.Socket = systemConfig, systemBase, systemSocket
	}
	return c
}

// File is one that an installation writes.
type File struct {
	Path string
	Text string
	Kept bool // it is the operator's once it is there: neither written over nor removed
}

// Plan is what an installation does, in order: folders, files, commands.
type Plan struct {
	Scope    string // system or user
	Folders  []Folder
	Files    []File
	Unit     File       // written by kardianos/service, which enables it as well; empty: a package's is there
	Before   [][]string // commands once the files are there and before the folders: accounts
	After    [][]string // commands at the end; what they do the next boot does anyway
	Leftover []string   // what an uninstallation leaves, if it is there
	Notes    []string   // what the operator should know
}

// Folder is made if it is missing.
type Folder struct {
	Path  string
	Mode  fs.FileMode
	Owner string // account and group; empty: whoever installs
}

// ErrNoManager says that neither systemd nor launchd runs here.
var ErrNoManager = errors.New("no service manager that knowledged knows runs this machine (systemd or launchd)")

// PackagedError says that a package has installed the service.
type PackagedError struct{ Unit string }

func (e *PackagedError) Error() string {
	return fmt.Sprintf("a package has installed the service already: %s", e.Unit)
}

// ForeignError says that somebody else has written a unit of this name.
type ForeignError struct{ Unit string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is there and was not written by `knowledged service install`", e.Unit)
}

// HiddenError says that the service, which sees little of the machine, would not find its program.
type HiddenError struct{ Binary, Folder string }

func (e *HiddenError) Error() string {
	return fmt.Sprintf("the service cannot run %s: it sees nothing below %s", e.Binary, e.Folder)
}

// check refuses what cannot work before anything is written.
func (c *Config) check(p *Plan) error {
	if unit := c.packaged(); unit != "" && !c.User {
		return &PackagedError{Unit: unit}
	}
	if err := c.ours(p); err != nil {
		return err
	}
	if c.User {
		return nil
	}
	for _, hidden := range []string{"/home", "/root", "/tmp", "/var/tmp", "/run/user"} {
		if below(c.Binary, hidden) {
			return &HiddenError{Binary: c.Binary, Folder: hidden}
		}
	}
	return nil
}

// ours says whether the unit that is there is one that Install wrote, or none.
func (c *Config) ours(p *Plan) error {
	if p.Unit.Path == "" {
		return nil
	}
	if data, err := os.ReadFile(c.Root + p.Unit.Path); err == nil && !strings.Contains(string(data), signature) {
		return &ForeignError{Unit: p.Unit.Path}
	}
	return nil
}

// packaged is the unit that a package has put there, or "".
func (c *Config) packaged() string {
	for _, dir := range []string{"/usr/lib/systemd", "/lib/systemd"} {
		unit := filepath.Join(dir, c.scope(), name+".service")
		if _, err := os.Stat(c.Root + unit); err == nil {
			return unit
		}
	}
	return ""
}

func (c *Config) scope() string {
	if c.User {
		return "user"
	}
	return "system"
}

// below reports whether path is dir or lies in it.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
