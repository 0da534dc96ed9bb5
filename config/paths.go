package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// systemFile is the last place a configuration is looked for.
const systemFile = "/etc/knowledged/config.yaml"

// resolve makes all paths absolute and fills in those that have a place of their own by default.
func (l *loader) resolve() {
	for _, s := range l.settings {
		if !s.file || l.unread[s.path] || s.value.String() == "" {
			continue
		}
		path := s.value.String()
		if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) && runtime.GOOS == "windows" {
			home := l.home()
			if home == "" {
				l.problem(s.path, "%s: the home folder is not known (HOME is not set)", path)
				l.unread[s.path] = true
				continue
			}
			path = filepath.Join(home, path[1:])
		}
		s.value.SetString(l.absolute(path, l.folderOf(s)))
	}
	if l.Config.StateDir == "" {
		if dir := l.stateHome(); dir != "" {
			l.Config.StateDir = filepath.Join(dir, stateName(l.Config.Knowledge.BasePath))
		} else if l.known("state_dir") {
			l.problem("state_dir", "no place for it is known (neither XDG_STATE_HOME nor HOME is set); name one")
		}
	}
	if l.Config.IPC.Socket == "" {
		l.Config.IPC.Socket = filepath.Join(l.runtimeDir(), "knowledged.sock")
	}
}

// folderOf is what a relative path is relative to. The defaults count as written in the file.
func (l *loader) folderOf(s *setting) string {
	kind := l.Origins[s.path].Kind
	if l.File != "" && (kind == FromFile || kind == FromDefault) {
		return filepath.Dir(l.File)
	}
	return l.opt.Cwd
}

func (l *loader) absolute(path, folder string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// home asks the environment, then the user database, which a service or `env -i` leaves.
func (l *loader) home() string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if dir := l.folder(name); dir != "" {
		return dir
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}

// folder is a variable that names a folder. The XDG specification has relative ones ignored.
func (l *loader) folder(name string) string {
	if dir := l.env[name]; filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

func (l *loader) configHome() string { return l.base("XDG_CONFIG_HOME", "APPDATA", ".config") }

// stateHome is the folder that holds one state folder a base path. systemd gives a service STATE_DIRECTORY.
func (l *loader) stateHome() string {
	if dir, _, _ := strings.Cut(l.env["STATE_DIRECTORY"], ":"); filepath.IsAbs(dir) {
		return dir
	}
	if dir := l.base("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state"); dir != "" {
		return filepath.Join(dir, "knowledged")
	}
	return ""
}

func (l *loader) base(xdg, windows, below string) string {
	if dir := l.folder(xdg); dir != "" {
		return dir
	}
	if runtime.GOOS == "windows" {
		return l.folder(windows)
	}
	if home := l.home(); home != "" {
		return filepath.Join(home, below)
	}
	return ""
}

// runtimeDir holds the socket. ipc makes it, mode 0700.
func (l *loader) runtimeDir() string {
	if dir := l.folder("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "knowledged")
	}
	temp := l.folder("TMPDIR")
	if temp == "" {
		temp = os.TempDir()
	}
	if uid := os.Getuid(); uid >= 0 {
		return filepath.Join(temp, fmt.Sprintf("knowledged-%d", uid))
	}
	return filepath.Join(temp, "knowledged") // Windows: the folder for temporary files is the user's own
}

// stateName names the state folder of a base path: its last part, for people, and a hash, for there may be several of
// that name.
func stateName(base string) string {
	sum := sha256.Sum256([]byte(base))
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, filepath.Base(base))
	for len(name) > 60 {
		name = string([]rune(name)[:len([]rune(name))-1])
	}
	return name + "-" + hex.EncodeToString(sum[:4])
}
