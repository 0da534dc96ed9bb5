package config

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// CheckFiles looks for the files with secrets that the daemon reads at its start. Load leaves them alone: clients share
// the configuration, and need not be able to read them.
func (l *Loaded) CheckFiles() error {
	at := &loader{Loaded: *l}
	at.settings = settings(&at.Config)
	c := &at.Config
	at.checkFile("ipc.token_file", c.IPC.TokenFile)
	if c.Embedding.Provider == "openai" {
		at.checkFile("embedding.openai.api_key_file", c.Embedding.OpenAI.APIKeyFile)
	}
	if c.L1.Backend == "milvus" {
		at.checkFile("l1.milvus.password_file", c.L1.Milvus.PasswordFile)
		at.checkFile("l1.milvus.token_file", c.L1.Milvus.TokenFile)
		at.checkFile("l1.milvus.ca_file", c.L1.Milvus.CAFile)
	}
	if len(at.problems) > 0 {
		return &Error{Problems: at.problems}
	}
	return nil
}

func (l *loader) checkFile(setting, file string) {
	if file == "" {
		return
	}
	data, err := os.ReadFile(file)
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		l.problem(setting, "%s: %v", file, pe.Err)
	case err != nil:
		l.problem(setting, "%s: %v", file, err)
	case strings.TrimSpace(string(data)) == "":
		l.problem(setting, "%s is empty", file)
	}
}
