package daemon

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// intent is a note in the state folder of the temporary files of an upload. Without it a crash would leave them in the
// user's folder for ever.
type intent struct {
	base, file string
	kept       string // other name of a file that is being replaced
	log        *slog.Logger
}

// note is best effort: an upload must not fail because a note could not be written.
func (i *intent) note(temp string) {
	if err := os.WriteFile(i.file, []byte(strings.TrimSpace(temp+"\n"+i.kept)), 0o600); err != nil {
		i.log.Debug("the upload note could not be written", "path", i.file, "err", err)
	}
}

// clear forgets the file being written.
func (i *intent) clear() {
	if i.kept != "" {
		i.note("")
		return
	}
	_ = os.Remove(i.file)
}

// held notes the other name of a file, empty if it has none any more.
func (i *intent) held(name string) {
	i.kept = name
	i.clear()
}

const tempPrefix, tempSuffix = ".knowledged-", ".tmp"

func isTemp(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// recover removes what an upload interrupted by a crash left.
func (i *intent) recover() {
	note, err := os.ReadFile(i.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	defer i.clear()
	root, err := os.OpenRoot(i.base)
	if err != nil {
		return
	}
	defer root.Close()
	for temp := range strings.Lines(string(note)) {
		temp = strings.TrimSuffix(temp, "\n")
		if isTemp(temp) && root.Remove(temp) == nil { // a damaged note must not delete a document
			i.log.Info("removed the temporary file of an interrupted upload", "path", filepath.ToSlash(temp))
		}
	}
}
