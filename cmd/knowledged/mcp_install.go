package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"knowledged/config"
)

// serverName is what clients' settings call us.
const serverName = "knowledged"

func newMCPInstall(g *globals) *cobra.Command {
	var (
		client    string
		printOnly bool
	)
	c := &cobra.Command{
		Use:   "install",
		Short: "Write an MCP client's settings",
		Long: `Write an MCP client's settings so that it starts "knowledged mcp".

What else the file holds stays, comments too, and a copy of it is kept beside it. The base folder, the socket
and the state that are in force now are written down: a client starts it in any folder, without your environment.`,
		Example: `  knowledged mcp install --client claude-code --base ~/notes
  knowledged mcp install --client vscode --print`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if client == "" {
				return &exitError{code: exitUsage, err: errors.New("--client is missing: say which of " + strings.Join(mcpClientNames(), ", ")), hint: "knowledged mcp install --client claude-code"}
			}
			target, known := mcpClients[client]
			if !known {
				return &exitError{code: exitUsage, err: fmt.Errorf("--client %q is none of %s", client, strings.Join(mcpClientNames(), ", "))}
			}
			loaded, err := g.loadAll(nil)
			if err != nil {
				return err
			}
			entry := mcpEntry{Command: ownPath(), Args: mcpArgs(loaded)}
			file, err := target.file()
			if err != nil {
				return err
			}
			if printOnly {
				text, err := target.edit(nil, entry)
				if err == nil {
					fmt.Fprintf(g.io.err, "for %s:\n", file)
					_, err = g.io.out.Write(text)
				}
				return err
			}
			return installInto(g.io, file, target, entry)
		},
	}
	c.Flags().StringVar(&client, "client", "", "which `CLIENT`: "+strings.Join(mcpClientNames(), ", "))
	c.Flags().BoolVar(&printOnly, "print", false, "print the settings instead of writing them")
	choices(c, "client", mcpClientNames()...)
	return c
}

// mcpEntry is how a client starts us.
type mcpEntry struct {
	Command string
	Args    []string
}

// mcpClient is where a client keeps its servers and how.
type mcpClient struct {
	file func() (string, error)
	edit func(old []byte, entry mcpEntry) ([]byte, error)
}

var mcpClients = map[string]mcpClient{
	"claude-code": {inFolder("CLAUDE_CONFIG_DIR", "", ".claude.json"), jsonEditor("mcpServers", true)},
	"cursor":      {inFolder("", ".cursor", "mcp.json"), jsonEditor("mcpServers", false)},
	"vscode":      {vscodeFile, jsonEditor("servers", true)},
	"codex":       {inFolder("CODEX_HOME", ".codex", "config.toml"), editTOML},
	"gemini":      {inFolder("", ".gemini", "settings.json"), jsonEditor("mcpServers", false)},
}

func mcpClientNames() []string { return []string{"claude-code", "cursor", "vscode", "codex", "gemini"} }

// inFolder is a file in the folder that a variable names, else in one of the home folder.
func inFolder(variable, folder, name string) func() (string, error) {
	return func() (string, error) {
		if dir := os.Getenv(variable); variable != "" && dir != "" {
			return filepath.Join(dir, name), nil
		}
		home, err := os.UserHomeDir()
		return filepath.Join(home, folder, name), err
	}
}

// vscodeFile is the user's own profile; os.UserConfigDir knows the three platforms' places as VS Code does.
func vscodeFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "Code", "User", "mcp.json"), err
}

// ownPath is this program as a person would start it: by the name on PATH if that is this file, since an upgrade may move
// what it points to.
func ownPath() string {
	self, err := os.Executable()
	if err != nil {
		return serverName
	}
	if named, err := exec.LookPath(serverName); err == nil && sameFile(named, self) {
		if abs, err := filepath.Abs(named); err == nil {
			return abs
		}
	}
	return self
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// mcpArgs pins what depends on the folder or the environment of this process: the client has others. The socket's default
// hangs on XDG_RUNTIME_DIR, which many clients do not hand on.
func mcpArgs(l *config.Loaded) []string {
	args := []string{"mcp"}
	if l.File != "" {
		args = append(args, "--config", l.File)
	}
	for _, setting := range []struct{ key, flag, value string }{
		{"knowledge.base_path", "--base", l.Config.Knowledge.BasePath},
		{"ipc.socket", "--socket", l.Config.IPC.Socket},
		{"state_dir", "--state", l.Config.StateDir},
	} {
		kind := l.Origins[setting.key].Kind
		byDefault := kind == config.FromDefault && (setting.flag != "--state" || os.Getenv("XDG_STATE_HOME") != "")
		if kind == config.FromFlag || kind == config.FromEnv || byDefault {
			args = append(args, setting.flag, setting.value)
		}
	}
	return args
}

// installInto edits a settings file, keeping a copy of what it was.
func installInto(io streams, file string, target mcpClient, entry mcpEntry) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link into a folder of dot files stays one
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the client's settings: %w", err)
	}
	text, err := target.edit(old, entry)
	if err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("%s: %w; it is left as it was", file, err), hint: "mend it, or add by hand what --print prints"}
	}
	if slices.Equal(text, old) {
		fmt.Fprintf(io.out, "%s has it already\n", file)
		return nil
	}
	mode := fs.FileMode(0o600) // such files hold keys of other servers
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
		kept := file + ".backup-" + time.Now().Format("20060102-150405")
		if err := replaceFile(kept, old, mode); err != nil {
			return fmt.Errorf("keep a copy of the client's settings: %w", err)
		}
		fmt.Fprintf(io.out, "kept the old settings in %s\n", kept)
	} else if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder of the client's settings: %w", err)
	}
	if err := replaceFile(file, text, mode); err != nil {
		return fmt.Errorf("write the client's settings: %w", err)
	}
	fmt.Fprintf(io.out, "wrote %s: %s %s\nrestart the client, or have it load its MCP servers anew\n", file, entry.Command, strings.Join(entry.Args, " "))
	return nil
}

// replaceFile writes a file whole or not at all, on every platform.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	// A temporary file is our business: what goes wrong is told of the file that is meant.
	told := func(err error) error {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			return &fs.PathError{Op: pe.Op, Path: path, Err: pe.Err}
		}
		if le, ok := errors.AsType[*os.LinkError](err); ok {
			return &fs.PathError{Op: le.Op, Path: path, Err: le.Err}
		}
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".knowledged-*")
	if err != nil {
		return told(err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return told(err)
	}
	return nil
}
