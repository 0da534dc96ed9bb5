package service

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"knowledged/packaging"
)

// signature is in each file that Install writes and owns; marker is how systemd's files bear it.
const (
	signature = "Written by `knowledged service install`"
	marker    = "# " + signature + "; changes belong into a drop-in: systemctl edit knowledged.\n"
)

// backoffSince is the first systemd that knows RestartSteps=.
const backoffSince = 254

// systemdPlan is pure: version is systemd's.
func (c *Config) systemdPlan(version int) *Plan {
	p := &Plan{Scope: c.scope()}
	dir := "/etc/systemd/system"
	if c.User {
		dir = filepath.Join(c.Home, ".config/systemd/user") // where kardianos/service writes
	}
	if c.User && c.packaged() != "" {
		// Each user decides; the units are there.
		p.Files = []File{{Path: c.ConfigFile, Text: c.config(), Kept: true}}
		p.Folders = []Folder{{Path: c.Base, Mode: 0o755}}
		p.After = [][]string{{"systemctl", "--user", "enable", "knowledged.service"}}
		p.Leftover = []string{c.ConfigFile, c.Base, filepath.Join(c.Home, ".local/state/knowledged")}
		return p
	}
	p.Unit = File{Path: filepath.Join(dir, name+".service"), Text: c.unit(text("systemd/" + c.scope() + "/knowledged.service"))}
	socket := text("systemd/" + c.scope() + "/knowledged.socket")
	if d := Defaults(c.User, c.Home, "", ""); c.User && !isDefaultUserSocket(c.Socket) || !c.User && c.Socket != d.Socket {
		socket = regexp.MustCompile(`(?m)^ListenStream=.*$`).ReplaceAllLiteralString(socket, "ListenStream="+specifiers(c.Socket))
	}
	p.Files = append(p.Files, File{Path: filepath.Join(dir, name+".socket"), Text: marker + socket})
	dropIns := filepath.Join(dir, name+".service.d")
	if version >= backoffSince {
		p.Files = append(p.Files, File{Path: filepath.Join(dropIns, "10-backoff.conf"), Text: marker + text("systemd/backoff.conf")})
	}
	p.Files = append(p.Files, File{Path: c.ConfigFile, Text: c.config(), Kept: true})
	p.Leftover = append(p.Leftover, c.ConfigFile, c.Base)
	if c.User {
		p.Folders = append(p.Folders, Folder{Path: c.Base, Mode: 0o755})
		p.Leftover = append(p.Leftover, filepath.Join(c.Home, ".local/state/knowledged"))
		return p
	}
	if folder := c.folders(); folder != "" {
		p.Files = append(p.Files, File{Path: filepath.Join(dropIns, "20-folders.conf"), Text: marker + folder})
	}
	for _, file := range []string{"sysusers.d/knowledged.conf", "tmpfiles.d/knowledged.conf", "sysctl.d/60-knowledged.conf"} {
		p.Files = append(p.Files, File{Path: "/etc/" + file, Text: marker + text(file)})
	}
	p.Folders = append(p.Folders, Folder{Path: c.Base, Mode: 0o2770, Owner: name})
	p.Before = [][]string{{"systemd-sysusers", "/etc/sysusers.d/knowledged.conf"}}
	p.After = [][]string{
		{"systemd-tmpfiles", "--create", "/etc/tmpfiles.d/knowledged.conf"},
		{"/lib/systemd/systemd-sysctl", "/etc/sysctl.d/60-knowledged.conf"},
	}
	p.Leftover = append(p.Leftover, "/var/lib/knowledged")
	p.Notes = append(p.Notes, "who may ask is in the group knowledged: usermod -aG knowledged NAME, and a new login")
	return p
}

// unit makes the packaged text that of this installation.
func (c *Config) unit(unit string) string {
	unit = strings.ReplaceAll(unit, "="+packagedBinary+" ", "="+argument(c.Binary)+" ")
	for _, packaged := range []string{systemConfig, "%E/knowledged/config.yaml"} {
		unit = regexp.MustCompile(`--config `+regexp.QuoteMeta(packaged)+`\b`).ReplaceAllLiteralString(unit, "--config "+argument(c.ConfigFile))
	}
	return marker + unit
}

// config is that of a service nobody has configured.
func (c *Config) config() string {
	if c.User {
		return fmt.Sprintf("# knowledged, for %s. `knowledged config show` prints all settings.\n\nknowledge:\n  base_path: %s\n", c.Home, yamlText(c.Base))
	}
	out := strings.Replace(text("config.yaml"), "base_path: "+systemBase, "base_path: "+yamlText(c.Base), 1)
	return strings.Replace(out, "socket: "+systemSocket, "socket: "+yamlText(c.Socket), 1)
}

// folders is the drop-in for documents and state in other places than the unit expects: the lines of the examples with
// these paths in them.
func (c *Config) folders() string {
	var settings []string
	home := false
	for _, path := range []string{c.Base, c.StateDir} {
		switch {
		case path == "", below(path, systemBase), below(path, "/var/lib/knowledged"):
		case below(path, "/home"), below(path, "/root"), below(path, "/run/user"):
			if !home {
				home = true
				settings = append(settings, "ProtectHome=tmpfs")
			}
			settings = append(settings, "BindPaths="+word(path))
		default:
			settings = append(settings, "ReadWritePaths="+word(path))
		}
	}
	if settings == nil {
		return ""
	}
	return "[Service]\n" + strings.Join(settings, "\n") + "\n"
}

// specifiers writes a path so that systemd takes no part of it for one of its own.
func specifiers(path string) string { return strings.ReplaceAll(path, `%`, `%%`) }

// word writes a path as one word of a setting.
func word(path string) string {
	path = strings.NewReplacer(`%`, `%%`, `\`, `\\`, `"`, `\"`).Replace(path)
	if strings.ContainsAny(path, " \t'\";") {
		return `"` + path + `"`
	}
	return path
}

// argument writes a path as one word of a command line, where `$` starts a variable.
func argument(path string) string { return strings.ReplaceAll(word(path), `$`, `$$`) }

// yamlText is a path in YAML, in quotes where it needs them.
func yamlText(path string) string {
	if regexp.MustCompile(`^[\p{L}\p{N}_./~-]+$`).MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", "''") + "'"
}

// isDefaultUserSocket knows the user unit's own ListenStream=: %t/knowledged/knowledged.sock.
func isDefaultUserSocket(socket string) bool {
	ok, _ := filepath.Match("/run/user/*/knowledged/knowledged.sock", socket)
	return ok
}

// text is a packaged file; that it is there is known at compile time.
func text(file string) string {
	data, err := packaging.Files.ReadFile(file)
	if err != nil {
		panic("service: " + err.Error())
	}
	return string(data)
}
