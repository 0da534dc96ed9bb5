package state_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"knowledged/config"
	"knowledged/daemon"
	"knowledged/embedding/vecfile"
	"knowledged/registry"
	"knowledged/state"
)

func testLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// newState is what a daemon leaves that has worked and ended.
func newState(t *testing.T) *config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Knowledge.BasePath, cfg.StateDir = filepath.Join(t.TempDir(), "kb"), filepath.Join(t.TempDir(), "state")
	d, err := daemon.New(&cfg, "test", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return &cfg
}

// files is every file below dir with what is in it, and every folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = "folder"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func setFormat(t *testing.T, file string) {
	t.Helper()
	db, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("format")).Put([]byte("version"), []byte("99")) }); err != nil {
		t.Fatal(err)
	}
}

func vectors(t *testing.T, file, header string) {
	t.Helper()
	_ = os.Remove(file)
	f, err := vecfile.Open(file, header, func(func(func(vecfile.Record) bool)) error { return nil }, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNewerStateIsRefusedAndUntouched(t *testing.T) {
	for name, makeNewer := range map[string]func(dir string){
		"registry":      func(dir string) { setFormat(t, filepath.Join(dir, "registry.db")) },
		"history":       func(dir string) { setFormat(t, filepath.Join(dir, "history.db")) },
		"keyword index": func(dir string) { _ = os.MkdirAll(filepath.Join(dir, "l0", "v99"), 0o700) },
		"vectors": func(dir string) {
			vectors(t, filepath.Join(dir, "l1", "some-8.vec"), "knowledged vectors 99, 8 dimensions, some")
		},
		"embedding cache": func(dir string) {
			vectors(t, filepath.Join(dir, "l1", "embeddings.cache"), "knowledged embedding cache 99")
		},
		"file of dimensions":   func(dir string) { write(t, dir, "l1/dimensions.json", `{"format": 99, "models": {"m": 8}}`) },
		"calibration":          func(dir string) { write(t, dir, "l1/calibration.json", `{"format": 99}`) },
		"name in Milvus":       func(dir string) { write(t, dir, "l1/milvus-writer", "knowledged writer 99\n0123456789abcdef\n") },
		"note of an upload":    func(dir string) { write(t, dir, "upload-in-progress", "knowledged upload 99\n.knowledged-1.tmp\n") },
		"count past a machine": func(dir string) { write(t, dir, "l1/dimensions.json", `{"format": 99e99}`) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := newState(t)
			makeNewer(cfg.StateDir)
			before := files(t, cfg.StateDir)
			d, err := daemon.New(cfg, "test", testLog(t))
			if err == nil {
				_ = d.Close()
			}
			if !errors.Is(err, registry.ErrNewer) {
				t.Fatalf("the daemon's answer to a newer %s: %v", name, err)
			}
			if !strings.Contains(err.Error(), "99, this one reads up to ") && !strings.Contains(err.Error(), "format 99e99, this") || !strings.Contains(err.Error(), cfg.StateDir) || !strings.Contains(err.Error(), "install the newer version again, or name another state_dir") {
				t.Errorf("does not name file, versions and remedy: %v", err)
			}
			if !maps.Equal(before, files(t, cfg.StateDir)) {
				t.Errorf("the refusal has changed the state folder")
			}
		})
	}
}

func TestOwnAndMissingStateIsTaken(t *testing.T) {
	cfg := newState(t)
	if err := state.CheckFormats(cfg.StateDir); err != nil {
		t.Error(err)
	}
	if err := state.CheckFormats(filepath.Join(cfg.StateDir, "none")); err != nil {
		t.Error(err)
	}
}

func TestStateInUseIsSaid(t *testing.T) {
	cfg := newState(t)
	d, err := daemon.New(cfg, "test", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := state.CheckFormats(cfg.StateDir); !errors.Is(err, registry.ErrLocked) {
		t.Errorf("CheckFormats: %v, want ErrLocked", err)
	}
}
