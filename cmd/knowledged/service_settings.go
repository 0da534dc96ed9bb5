package main

import (
	"fmt"
	"os"
	"path/filepath"

	"knowledged/config"
	"knowledged/service"
)

// service describes the installation from the flags and from the configuration that the service reads. Whoever stops or
// removes a service may do so whatever that says: only with strict is a fault in it an error.
func (g *globals) service(user, strict bool) (*service.Config, error) {
	home, err := os.UserHomeDir()
	if err != nil && user {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("find your folder: %w", err)}
	}
	configHome := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(configHome) {
		configHome = filepath.Join(home, ".config")
	}
	s := service.Defaults(user, home, configHome, fmt.Sprintf("/run/user/%d", os.Getuid()))
	if s.Binary, err = os.Executable(); err != nil {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("find this program: %w", err)}
	}
	flags := map[string]string{"knowledge.base_path": g.base, "ipc.socket": g.socket, "state_dir": g.state}
	for key, value := range flags {
		if value == "" {
			delete(flags, key)
		}
	}
	if g.file != "" {
		if s.ConfigFile, err = filepath.Abs(g.file); err != nil {
			return nil, &exitError{code: exitFailed, err: fmt.Errorf("find the configuration: %w", err)}
		}
	}
	if _, err = os.Stat(s.ConfigFile); err == nil {
		err = serviceSettings(&s, flags)
	} else {
		err = newServiceSettings(&s, flags)
	}
	if err != nil && strict {
		return nil, err
	}
	return &s, nil
}

// serviceSettings takes the places from the configuration that is there. Flags may say the same only: a service reads one
// file.
func serviceSettings(s *service.Config, flags map[string]string) error {
	loaded, err := config.Load(config.Options{File: s.ConfigFile, Env: serviceEnv(s), Cwd: filepath.Dir(s.ConfigFile)})
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	cfg := &loaded.Config
	for key, value := range flags {
		abs, err := filepath.Abs(value)
		have := map[string]string{"knowledge.base_path": cfg.Knowledge.BasePath, "ipc.socket": cfg.IPC.Socket, "state_dir": cfg.StateDir}[key]
		if err != nil || abs != have {
			return &exitError{code: exitUsage, err: fmt.Errorf("the service's configuration is there already, and has %s: %s", key, have), hint: fmt.Sprintf("change it in %s, and leave the flag out", s.ConfigFile)}
		}
	}
	s.Base = cfg.Knowledge.BasePath
	if loaded.Origins["state_dir"].Kind != config.FromDefault {
		s.StateDir = cfg.StateDir
	}
	if loaded.Origins["ipc.socket"].Kind != config.FromDefault {
		s.Socket = cfg.IPC.Socket
	}
	return nil
}

// newServiceSettings are those of the configuration that install will make.
func newServiceSettings(s *service.Config, flags map[string]string) error {
	for key, value := range flags {
		abs, err := filepath.Abs(value)
		if err != nil {
			return &exitError{code: exitFailed, err: fmt.Errorf("find %s: %w", value, err)}
		}
		switch key {
		case "knowledge.base_path":
			s.Base = abs
		default:
			return &exitError{code: exitUsage, err: fmt.Errorf("the configuration that install makes takes the folder alone, not %s", key), hint: "write " + s.ConfigFile + " first, then install"}
		}
	}
	return nil
}

// serviceEnv is what the service will see of the environment, so far as paths depend on it.
func serviceEnv(s *service.Config) []string {
	if !s.User {
		return []string{"STATE_DIRECTORY=/var/lib/knowledged", "HOME=/var/lib/knowledged"}
	}
	return []string{"HOME=" + s.Home, fmt.Sprintf("XDG_RUNTIME_DIR=/run/user/%d", os.Getuid())}
}
