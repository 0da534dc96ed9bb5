package state

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"knowledged/registry"
)

// ErrNotEmpty says that a state is there already.
var ErrNotEmpty = errors.New("there is a state already")

// Import puts a backup in the place of dir, which must be empty or missing; with force, what is there is renamed to aside.
// Nothing of it is touched before the archive has been read to its end and found whole. No daemon may work on dir.
func Import(file, dir string, force bool) (m Manifest, aside string, err error) {
	if err := CheckFormats(dir); errors.Is(err, registry.ErrLocked) || err != nil && !force {
		return m, "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, "", fmt.Errorf("import into %s: %w", dir, err)
	}
	if len(entries) > 0 && !force {
		return m, "", fmt.Errorf("import into %s: %w", dir, ErrNotEmpty)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return m, "", fmt.Errorf("import into %s: %w", dir, err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".knowledged-import-")
	if err != nil {
		return m, "", fmt.Errorf("import into %s: %w", dir, err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	fresh := filepath.Join(work, "state")
	if m, err = unpack(file, fresh); err != nil {
		return m, "", fmt.Errorf("import %s: %w", file, err)
	}
	if err := CheckFormats(fresh); err != nil {
		return m, "", fmt.Errorf("import %s: %w", file, err)
	}
	if len(entries) > 0 {
		aside = dir + ".before-import-" + time.Now().UTC().Format("20060102T150405.000")
		err = os.Rename(dir, aside)
	} else if err = os.Remove(dir); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return m, "", fmt.Errorf("import into %s: %w", dir, err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if aside != "" {
			err = errors.Join(err, os.Rename(aside, dir))
		}
		return m, "", fmt.Errorf("import into %s: %w", dir, err)
	}
	return m, aside, nil
}

// unpack writes an archive's files below dir and compares them with its manifest.
func unpack(file, dir string) (m Manifest, err error) {
	in, err := os.Open(file)
	if err != nil {
		return m, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return m, err
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return m, fmt.Errorf("no archive of `knowledged state export`: %w", err)
	}
	r := tar.NewReader(zip)
	header, err := r.Next()
	if err != nil || header.Name != manifestName || header.Size > maxManifest {
		return m, errors.Join(errors.New("no archive of `knowledged state export`: it does not begin with a manifest"), err)
	}
	if err := json.NewDecoder(r).Decode(&m); err != nil {
		return m, fmt.Errorf("read the manifest: %w", err)
	}
	if err := m.check(info.Size()); err != nil {
		return m, err
	}
	for _, f := range m.Files {
		header, err := r.Next()
		if err != nil {
			return m, fmt.Errorf("the archive ends before %s: %w", f.Name, err)
		}
		if header.Typeflag != tar.TypeReg || header.Name != f.Name || header.Size != f.Size {
			return m, fmt.Errorf("the archive has %q where its manifest lists the file %s", header.Name, f.Name)
		}
		if err := writeChecked(r, f, filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return m, err
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		return m, errors.Join(errors.New("the archive goes on after what its manifest lists"), err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(zip, maxManifest)); err != nil || n == maxManifest { // gzip's own checksum is at the end
		return m, errors.Join(errors.New("the end of the archive is damaged"), err)
	}
	return m, nil
}

func writeChecked(r io.Reader, f File, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.CopyN(io.MultiWriter(out, h), r, f.Size)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("unpack %s: %w", f.Name, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%s does not have its checksum: the archive is damaged", f.Name)
	}
	return nil
}
