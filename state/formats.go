// Package state is the state folder as a whole: whether this version may work on it, and its backup as one archive.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"knowledged/embedding"
	"knowledged/embedding/vecfile"
	"knowledged/l0"
	"knowledged/l1/embedded"
	"knowledged/registry"
)

// headers of vector files carry a version of their own.
var headers = []struct {
	pattern *regexp.Regexp
	format  int
}{
	{regexp.MustCompile(`^knowledged vectors (\d+),`), embedded.Format},
	{regexp.MustCompile(`^knowledged embedding cache (\d+)$`), embedding.CacheFormat},
}

// CheckFormats refuses a folder in which anything was written by a newer version, as registry.ErrNewer, before anything in
// it is touched. registry.ErrLocked: another process works on it.
func CheckFormats(dir string) error {
	if err := registry.CheckFormats(dir); err != nil {
		return err
	}
	newer, err := l0.Newer(filepath.Join(dir, "l0"))
	if err != nil {
		return err
	}
	if newer != "" {
		return newerError(newer, filepath.Base(newer), l0.Version)
	}
	for _, name := range small {
		if err := checkSmall(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "l1"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list vectors: %w", err)
	}
	for _, e := range entries {
		file := filepath.Join(dir, "l1", e.Name())
		if ext := filepath.Ext(file); ext != ".vec" && ext != ".cache" {
			continue
		}
		header, err := vecfile.Header(file)
		if err != nil {
			continue // damage is set aside by who opens it
		}
		for _, h := range headers {
			m := h.pattern.FindStringSubmatch(header)
			if m == nil {
				continue
			}
			if n, err := strconv.Atoi(m[1]); err != nil || n > h.format {
				return newerError(file, m[1], strconv.Itoa(h.format))
			}
		}
	}
	return nil
}

// small are the files beside indexes and vectors. All are of the first format: those in JSON say so in "format", or not at all as
// the first versions did; the others have no version. A later format of them begins with a line "knowledged … N".
var small = []string{"upload-in-progress", "l1/dimensions.json", "l1/calibration.json", "l1/milvus-writer"}

const smallFormat = 1

// maxSmall is more than any of these files has, in bytes.
const maxSmall = 4 << 20

var smallHeader = regexp.MustCompile(`^knowledged [a-z ]+ (\d+)\r?\n`)

// checkSmall refuses a small file of a later format. Damage is for who reads it.
func checkSmall(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall))
	if err != nil {
		return nil
	}
	var found string
	if m := smallHeader.FindSubmatch(text); m != nil {
		found = string(m[1])
	}
	var said struct {
		Format json.Number `json:"format"`
	}
	if json.Unmarshal(text, &said) == nil {
		found = said.Format.String()
	}
	if n, err := strconv.Atoi(found); found != "" && (err != nil || n > smallFormat) {
		return newerError(file, found, strconv.Itoa(smallFormat))
	}
	return nil
}

// newerError has the words of the registry's.
func newerError(file, found, known string) error {
	return fmt.Errorf("open %s: %w: format %s, this one reads up to %s; install the newer version again, or name another state_dir", file, registry.ErrNewer, found, known)
}
