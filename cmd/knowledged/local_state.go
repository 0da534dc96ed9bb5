package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"knowledged/config"
	"knowledged/daemon"
)

// temporaryState gives the configuration of a state of this process alone, for a state folder that cannot be used. remove takes
// the folder away.
func temporaryState(cfg *config.Config) (temporary *config.Config, remove func(), err error) {
	dir, err := os.MkdirTemp("", "knowledged-state-")
	if err != nil {
		return nil, nil, err
	}
	mine := *cfg
	mine.StateDir = dir
	// Elsewhere only what changed is embedded: a server would be asked for every vector, and Milvus's rows are not ours to replace.
	if mine.Embedding.Provider != config.ProviderBuiltin || mine.L1.Backend != config.BackendEmbedded {
		mine.L1.Backend = config.BackendOff
	}
	keepIDs(cfg.StateDir, dir)
	return &mine, func() { _ = os.RemoveAll(dir) }, nil
}

// keepIDs copies the records, so that documents keep their docIds. Where they may not be read, documents get others; a copy
// that a writer spoiled is noticed when it is opened.
func keepIDs(from, to string) {
	const records = "registry.db"
	in, err := os.Open(filepath.Join(from, records))
	if err != nil {
		return
	}
	defer in.Close()
	name := filepath.Join(to, records)
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = io.Copy(out, in)
	if errors.Join(err, out.Close()) != nil {
		_ = os.Remove(name) // the space is needed for those read anew
	}
}

// noTemporary: neither the state nor a temporary one can be used.
func noTemporary(state *daemon.StateError, err error) error {
	return &exitError{
		code: exitFailed,
		err:  fmt.Errorf("%w; nor can a temporary state in %s: %w", state, os.TempDir(), err),
		hint: "name a folder that can be written, and has space, with --state or TMPDIR",
	}
}

// stateHint says what to do about a state folder that cannot be used; nothing of other errors.
func stateHint(err error) string {
	state, ok := errors.AsType[*daemon.StateError](err)
	switch {
	case !ok:
		return ""
	case state.NoSpace():
		return "the disk of the state folder is full: make space there, or name another folder with --state"
	case errors.Is(err, syscall.EROFS):
		return "the state folder cannot be written: mount its file system writable, or name another folder with --state"
	}
	return "this user may not use the state folder: give it the rights, run as the user whose folder it is, or name another with --state"
}
