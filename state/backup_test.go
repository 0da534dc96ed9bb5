package state_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"knowledged/daemon"
	"knowledged/registry"
	"knowledged/state"
)

func TestBackupComesBackAsItWas(t *testing.T) {
	cfg := newState(t)
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	d, err := daemon.New(cfg, "test", testLog(t)) // a backup needs no daemon to be stopped
	if err != nil {
		t.Fatal(err)
	}
	m, err := state.Export(cfg.StateDir, cfg.Knowledge.BasePath, "test", archive)
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) < 3 || m.Base != cfg.Knowledge.BasePath {
		t.Errorf("manifest: %+v", m)
	}
	if _, err := state.Export(cfg.StateDir, "", "test", archive); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second export to the same file: %v", err)
	}
	target := filepath.Join(t.TempDir(), "new", "state")
	if _, aside, err := state.Import(archive, target, false); err != nil || aside != "" {
		t.Fatalf("import: %v, aside %q", err, aside)
	}
	got := files(t, target)
	for _, f := range m.Files {
		if int64(len(got[filepath.Join(target, f.Name)])) != f.Size {
			t.Errorf("%s is not as it was", f.Name)
		}
	}
	if _, err := registry.Verify(target); err != nil {
		t.Error(err)
	}
}

func TestImportKeepsWhatIsThere(t *testing.T) {
	cfg := newState(t)
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	if _, err := state.Export(cfg.StateDir, "", "test", archive); err != nil {
		t.Fatal(err)
	}
	before := files(t, cfg.StateDir)
	if _, _, err := state.Import(archive, cfg.StateDir, false); !errors.Is(err, state.ErrNotEmpty) {
		t.Errorf("import over a state: %v", err)
	}
	d, err := daemon.New(cfg, "test", testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = state.Import(archive, cfg.StateDir, true)
	if closed := d.Close(); !errors.Is(err, registry.ErrLocked) || closed != nil {
		t.Errorf("import under a daemon: %v, %v", err, closed)
	}
	_, aside, err := state.Import(archive, cfg.StateDir, true)
	if err != nil || len(files(t, aside)) < len(before) {
		t.Errorf("import with force: %v, aside %s", err, aside)
	}
}

// A daemon commits while the file is copied.
func TestExportWhileItIsWrittenTo(t *testing.T) {
	cfg := newState(t)
	db, err := bolt.Open(filepath.Join(cfg.StateDir, "history.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := db.Update(func(tx *bolt.Tx) error {
				return tx.Bucket([]byte("lookups")).Put(fmt.Appendf(nil, "%08d", i%500), bytes.Repeat([]byte{byte(i)}, 900))
			}); err != nil {
				t.Error(err)
			}
		}
	})
	whole := 0
	for i := range 5 {
		archive := filepath.Join(t.TempDir(), fmt.Sprint(i))
		_, err := state.Export(cfg.StateDir, "", "test", archive)
		if err != nil {
			if strings.Contains(err.Error(), "written to all the time") {
				continue // honest, and the daemon pauses between commits
			}
			t.Fatal(err)
		}
		target := filepath.Join(t.TempDir(), "state")
		if _, _, err := state.Import(archive, target, false); err != nil {
			t.Fatal(err)
		}
		copied, err := bolt.Open(filepath.Join(target, "history.db"), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = copied.View(func(tx *bolt.Tx) error {
			for err := range tx.Check() {
				return err
			}
			return nil
		})
		if err := errors.Join(err, copied.Close()); err != nil {
			t.Fatalf("the copy is torn: %v", err)
		}
		whole++
	}
	if whole == 0 {
		t.Error("no export came about")
	}
	close(stop)
	writing.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

type entry struct {
	header tar.Header
	body   string
}

// pack makes an archive of any entries; a manifest is put in front for m.
func pack(t *testing.T, m *state.Manifest, entries ...entry) string {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	w := tar.NewWriter(zip)
	if m != nil {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		entries = append([]entry{{tar.Header{Name: "manifest.json"}, string(text)}}, entries...)
	}
	for _, e := range entries {
		e.header.Size = int64(len(e.body))
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(file, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestHostileArchivesAreRefused(t *testing.T) {
	const sum = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // of "x"
	registryFile := state.File{Name: "registry.db", Size: 1, SHA256: sum}
	with := func(more ...state.File) *state.Manifest {
		return &state.Manifest{Format: 1, Files: append([]state.File{registryFile}, more...)}
	}
	body := entry{tar.Header{Name: "registry.db"}, "x"}
	cut := pack(t, with(), body)
	data, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, data[:len(data)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no archive at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, want string }{
		"not an archive":    {plain, "no archive of"},
		"another's archive": {pack(t, nil, entry{tar.Header{Name: "etc/passwd"}, "x"}), "does not begin with a manifest"},
		"truncated":         {cut, ""},
		"path upwards":      {pack(t, with(state.File{Name: "l1/../../evil.vec", Size: 1, SHA256: sum}), body, entry{tar.Header{Name: "l1/../../evil.vec"}, "x"}), "no backup holds"},
		"absolute path":     {pack(t, with(state.File{Name: "/etc/cron.d/x", Size: 1, SHA256: sum})), "no backup holds"},
		"symbolic link":     {pack(t, with(), entry{tar.Header{Name: "registry.db", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}), "where its manifest lists"},
		"another file":      {pack(t, with(), entry{tar.Header{Name: "history.db"}, "x"}), "where its manifest lists"},
		"one too many":      {pack(t, with(), body, entry{tar.Header{Name: "../evil"}, "x"}), "goes on after"},
		"listed twice":      {pack(t, with(registryFile), body, body), "no backup holds"},
		"other bytes":       {pack(t, with(), entry{tar.Header{Name: "registry.db"}, "y"}), "checksum"},
		"bomb":              {pack(t, with(state.File{Name: "history.db", Size: 200 << 30, SHA256: sum}), body), "would unpack to"},
		"newer archive":     {pack(t, &state.Manifest{Format: 2, Files: []state.File{registryFile}}, body), "has format 2"},
		"no registry":       {pack(t, &state.Manifest{Format: 1}), "no registry.db"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "state")
			before := files(t, parent)
			if _, _, err := state.Import(c.file, dir, true); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("import: %v, want %q", err, c.want)
			}
			if !maps.Equal(before, files(t, parent)) {
				t.Error("something is left of it")
			}
		})
	}
}
