package daemon

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// intent is a note in the state folder of the temporary file that an upload is writing. Without it a crash would leave
// that file in the user's folder for ever.
type intent struct {
	base, file string
	log        *slog.Logger
}

// note is best effort: an upload must not fail because a note could not be written.
func (i *intent) note(temp string) {
	if err := os.WriteFile(i.file, []byte(temp), 0o600); err != nil {
		i.log.Debug("the upload note could not be written", "path", i.file, "err", err)
	}
}

func (i *intent) clear() { _ = os.Remove(i.file) }

const tempPrefix, tempSuffix = ".knowledged-", ".tmp"

func isTemp(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// recover removes what an upload interrupted by a crash left.
func (i *intent) recover() {
	temp, err := os.ReadFile(i.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	defer i.clear()
	if !isTemp(string(temp)) {
		return // a damaged note must not delete a document
	}
	if root, err := os.OpenRoot(i.base); err == nil {
		defer root.Close()
		if root.Remove(string(temp)) == nil {
			i.log.Info("removed the temporary file of an interrupted upload", "path", filepath.ToSlash(string(temp)))
		}
	}
}
