package state

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"knowledged/registry"
)

// Export writes a backup of the state in dir to file, which must not exist. A daemon may run meanwhile.
func Export(dir, base, version, file string) (m Manifest, err error) {
	if _, err := os.Stat(filepath.Join(dir, "registry.db")); err != nil {
		return m, fmt.Errorf("no state is in %s: %w", dir, err)
	}
	work, err := os.MkdirTemp(filepath.Dir(file), ".knowledged-export-")
	if err != nil {
		return m, fmt.Errorf("export to %s: %w", file, err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	m = Manifest{Format: archiveFormat, Version: version, Base: base, Made: time.Now().UTC().Truncate(time.Second)}
	copies := filepath.Join(work, "state")
	if m.Files, err = snapshot(dir, copies); err != nil {
		return m, fmt.Errorf("export %s: %w", dir, err)
	}
	if _, err := registry.Verify(copies); err != nil {
		return m, fmt.Errorf("export %s: %w", dir, err)
	}
	// Under its name only once it is complete.
	whole := filepath.Join(work, "archive")
	if err := write(whole, copies, &m); err != nil {
		return m, fmt.Errorf("export to %s: %w", file, err)
	}
	if err := os.Link(whole, file); err != nil { // unlike a rename, it never replaces
		return m, fmt.Errorf("export to %s: %w", file, err)
	}
	return m, nil
}

func write(file, copies string, m *Manifest) (err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	zip := gzip.NewWriter(out)
	w := tar.NewWriter(zip)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: m.Made}); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := w.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o600, Size: f.Size, ModTime: m.Made}); err != nil {
			return err
		}
		in, err := os.Open(filepath.Join(copies, filepath.FromSlash(f.Name)))
		if err != nil {
			return err
		}
		_, err = io.Copy(w, in)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), zip.Close(), out.Sync())
}
