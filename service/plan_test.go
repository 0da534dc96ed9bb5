package service

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"knowledged/config"
	"knowledged/packaging"
)

func systemInstall() *Config {
	c := Defaults(false, "/root", "/root/.config", "/run/user/0")
	c.Binary = "/usr/local/bin/knowledged"
	return &c
}

func userInstall() *Config {
	c := Defaults(true, "/home/ann", "/home/ann/.config", "/run/user/1000")
	c.Binary = "/home/ann/go/bin/knowledged"
	return &c
}

func (p *Plan) file(path string) string {
	for _, f := range append(p.Files, p.Unit) {
		if f.Path == path {
			return f.Text
		}
	}
	return ""
}

// SPEC 7.3: what packages ship and what the command writes is one text.
func TestInstallWritesThePackagedTexts_7_3(t *testing.T) {
	c := systemInstall()
	c.Binary = packagedBinary
	p := c.systemdPlan(252)
	for installed, packaged := range map[string]string{
		"/etc/systemd/system/knowledged.service": "systemd/system/knowledged.service",
		"/etc/systemd/system/knowledged.socket":  "systemd/system/knowledged.socket",
		"/etc/sysusers.d/knowledged.conf":        "sysusers.d/knowledged.conf",
		"/etc/tmpfiles.d/knowledged.conf":        "tmpfiles.d/knowledged.conf",
		"/etc/sysctl.d/60-knowledged.conf":       "sysctl.d/60-knowledged.conf",
	} {
		if got := p.file(installed); got != marker+text(packaged) {
			t.Errorf("%s is not %s:\n%s", installed, packaged, got)
		}
	}
	if got := p.file(systemConfig); got != text("config.yaml") {
		t.Errorf("configuration:\n%s", got)
	}
	if p.file("/etc/systemd/system/knowledged.service.d/20-folders.conf") != "" {
		t.Error("a drop-in for the default places")
	}
}

// The files name each other's places; nothing but this test holds them together.
func TestPackagedTextsAgree(t *testing.T) {
	loaded, err := config.Load(config.Options{File: packagedConfig(t), Env: []string{"HOME=/x"}, Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Config.Knowledge.BasePath != systemBase || loaded.Config.IPC.Socket != systemSocket || loaded.Config.IPC.HTTPAuth != config.AuthAll {
		t.Errorf("%+v", loaded.Config)
	}
	for file, parts := range map[string][]string{
		"systemd/system/knowledged.socket":  {"ListenStream=" + systemSocket + "\n", "FileDescriptorName=api\n", "SocketGroup=knowledged\n", "SocketMode=0660\n"},
		"systemd/user/knowledged.socket":    {"ListenStream=%t/knowledged/knowledged.sock\n", "FileDescriptorName=api\n", "SocketMode=0600\n"},
		"systemd/user/knowledged.service":   {"WantedBy=default.target\n", "Type=notify\n", "Also=knowledged.socket\n"},
		"systemd/system/knowledged.service": {"ReadWritePaths=-" + systemBase + "\n", "Type=notify\n", "GOTRACEBACK=crash\n", "RestartPreventExitStatus=2\n"},
		"tmpfiles.d/knowledged.conf":        {filepath.Dir(systemSocket) + " 0755 knowledged knowledged"},
	} {
		for _, part := range parts {
			if !strings.Contains(text(file), part) {
				t.Errorf("%s has no %q", file, part)
			}
		}
	}
}

func packagedConfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text("config.yaml")), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPlanOfOtherPlaces(t *testing.T) {
	c := systemInstall()
	c.ConfigFile, c.Base, c.StateDir, c.Socket = "/opt/my conf/a$b%c.yaml", "/home/ann/my notes", "/data/state", "/run/kd/s"
	p := c.systemdPlan(254)
	unit := p.file("/etc/systemd/system/knowledged.service")
	for _, part := range []string{
		`ExecStart=/usr/local/bin/knowledged run --config "/opt/my conf/a$$b%%c.yaml"` + "\n",
		`ExecReload=/usr/local/bin/knowledged config check --config "/opt/my conf/a$$b%%c.yaml"` + "\n",
	} {
		if !strings.Contains(unit, part) {
			t.Errorf("no %q in\n%s", part, unit)
		}
	}
	if got := p.file("/etc/systemd/system/knowledged.service.d/20-folders.conf"); got != marker+"[Service]\nProtectHome=tmpfs\nBindPaths=\"/home/ann/my notes\"\nReadWritePaths=/data/state\n" {
		t.Errorf("drop-in:\n%s", got)
	}
	if !strings.Contains(p.file("/etc/systemd/system/knowledged.service.d/10-backoff.conf"), "RestartMaxDelaySec=") {
		t.Error("no back-off for a systemd that knows it")
	}
	if got := systemInstall().systemdPlan(253).file("/etc/systemd/system/knowledged.service.d/10-backoff.conf"); got != "" {
		t.Error("a back-off that this systemd does not know")
	}
	if !strings.Contains(p.file("/etc/systemd/system/knowledged.socket"), "\nListenStream=/run/kd/s\n") {
		t.Error("the socket is not the configured one")
	}
	written := p.file(c.ConfigFile)
	if !strings.Contains(written, "base_path: '/home/ann/my notes'") || !strings.Contains(written, "socket: /run/kd/s") {
		t.Errorf("configuration:\n%s", written)
	}
}

func TestPlanOfAUser(t *testing.T) {
	c := userInstall()
	c.Root = t.TempDir()
	c.Base = "/home/ann/it's"
	p := c.systemdPlan(252)
	if !strings.Contains(p.file("/home/ann/.config/systemd/user/knowledged.service"), "ExecStart=/home/ann/go/bin/knowledged run --config /home/ann/.config/knowledged/config.yaml\n") {
		t.Errorf("%+v", p.Unit)
	}
	if got := p.file("/home/ann/.config/systemd/user/knowledged.socket"); got != marker+text("systemd/user/knowledged.socket") {
		t.Errorf("socket:\n%s", got)
	}
	if !strings.Contains(p.file("/home/ann/.config/knowledged/config.yaml"), "base_path: '/home/ann/it''s'\n") {
		t.Error("the folder is not in the configuration")
	}
	if p.Before != nil || p.After != nil {
		t.Errorf("a user's installation runs %v %v", p.Before, p.After)
	}
	// With a package's unit there, only the user's own part is left to do.
	packaged := filepath.Join(c.Root, "usr/lib/systemd/user")
	if err := os.MkdirAll(packaged, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(packaged, "knowledged.service"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p = c.systemdPlan(252)
	if p.Unit.Path != "" || len(p.Files) != 1 || !p.Files[0].Kept || len(p.After) != 1 {
		t.Errorf("%+v", p)
	}
	if err := c.check(p); err != nil {
		t.Error(err)
	}
}

func TestWhatInstallRefuses(t *testing.T) {
	c := systemInstall()
	c.Root = t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(c.Root+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.Root+path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := c.systemdPlan(252)
	if err := c.check(p); err != nil {
		t.Fatalf("an empty machine: %v", err)
	}
	c.Binary = "/home/ann/knowledged"
	var hidden *HiddenError
	if err := c.check(p); !errors.As(err, &hidden) || hidden.Folder != "/home" {
		t.Errorf("a program in /home: %v", err)
	}
	c.Binary = "/usr/local/bin/knowledged"
	put(p.Unit.Path, p.Unit.Text)
	if err := c.check(p); err != nil {
		t.Errorf("our own unit: %v", err)
	}
	put(p.Unit.Path, "[Service]\nExecStart=/bin/true\n")
	var foreign *ForeignError
	if err := c.check(p); !errors.As(err, &foreign) {
		t.Errorf("somebody's unit: %v", err)
	}
	put("/lib/systemd/system/knowledged.service", "")
	var packaged *PackagedError
	if err := c.check(p); !errors.As(err, &packaged) {
		t.Errorf("a package's unit: %v", err)
	}
}

func TestFilesAreWrittenOnce(t *testing.T) {
	c := &Config{Root: t.TempDir()}
	ours, kept := File{Path: "/etc/a/b.conf", Text: marker + "one\n"}, File{Path: "/etc/a/config.yaml", Text: "one\n", Kept: true}
	for _, step := range []struct {
		file File
		want string
	}{
		{ours, "written"},
		{ours, "unchanged"},
		{File{Path: ours.Path, Text: marker + "two\n"}, "updated"},
		{kept, "written"},
		{File{Path: kept.Path, Text: "two\n", Kept: true}, "kept"},
	} {
		if said, err := c.write(step.file); err != nil || said != step.want {
			t.Errorf("%s: %s, %v, want %s", step.file.Path, said, err, step.want)
		}
	}
	if info, err := os.Stat(c.Root + ours.Path); err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, f := range []File{ours, kept} {
		removed, err := c.remove(f)
		if err != nil || removed == f.Kept {
			t.Errorf("remove %s: %v, %v", f.Path, removed, err)
		}
	}
	if data, err := os.ReadFile(c.Root + kept.Path); err != nil || string(data) != "one\n" {
		t.Errorf("the operator's file: %q, %v", data, err)
	}
	if _, err := c.write(File{Path: "/etc/a/config.yaml/below", Text: "x"}); err == nil {
		t.Error("written below a file")
	}
	if made, err := c.mkdir(Folder{Path: "/srv/kb", Mode: 0o2770}); err != nil || !made {
		t.Errorf("made %v, %v", made, err)
	}
	if info, err := os.Stat(c.Root + "/srv/kb"); err != nil || info.Mode() != fs.ModeDir|fs.ModeSetgid|0o770 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if made, err := c.mkdir(Folder{Path: "/srv/kb", Mode: 0o700}); err != nil || made {
		t.Errorf("again: made %v, %v", made, err)
	}
}

// Every packaged text is embedded where it is looked for.
func TestEveryTextIsThere(t *testing.T) {
	n := 0
	err := fs.WalkDir(packaging.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		n++
		if strings.TrimSpace(text(path)) == "" {
			t.Errorf("%s is empty", path)
		}
		return nil
	})
	if err != nil || n < 10 {
		t.Errorf("%d files, %v", n, err)
	}
}
