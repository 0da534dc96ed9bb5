package config

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Check loads the configuration and looks for the files that CheckFiles looks for, so that the error is all that is wrong.
// What was loaded is valid only without an error; its File is named in any case.
func Check(opt Options) (*Loaded, error) {
	l := load(opt)
	l.checkFiles()
	if len(l.problems) > 0 {
		return &l.Loaded, l.faults()
	}
	return &l.Loaded, nil
}

// CheckFiles looks for the files with secrets that the daemon reads at its start. Load leaves them alone: clients share
// the configuration, and need not be able to read them.
func (l *Loaded) CheckFiles() error {
	at := &loader{Loaded: *l}
	at.checkFiles()
	if len(at.problems) > 0 {
		return at.faults()
	}
	return nil
}

func (l *loader) checkFiles() {
	c := &l.Config
	l.checkFile("ipc.token_file", c.IPC.TokenFile)
	if l.known("embedding.provider") && c.Embedding.Provider == ProviderOpenAI {
		l.checkFile("embedding.openai.api_key_file", c.Embedding.OpenAI.APIKeyFile)
	}
	if l.known("l1.backend") && c.L1.Backend == BackendMilvus {
		l.checkFile("l1.milvus.password_file", c.L1.Milvus.PasswordFile)
		l.checkFile("l1.milvus.token_file", c.L1.Milvus.TokenFile)
		l.checkFile("l1.milvus.ca_file", c.L1.Milvus.CAFile)
	}
}

func (l *loader) checkFile(setting, file string) {
	if file == "" || !l.known(setting) {
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
