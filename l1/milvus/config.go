package milvus

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// Config says where the server is and what is kept there.
type Config struct {
	Address      string
	Username     string
	PasswordFile string // read anew for each connection
	TokenFile    string // instead of Username and PasswordFile; "user:password" or an API key
	Database     string
	Collection   string // an alias; the collections behind it and that of the claims start with it
	TLS          bool
	CAFile       string // PEM; trusted beside the system's
	Consistency  string // of searches: bounded, strong, session or eventually
	ReadOnly     bool   // never writes, nor makes anything

	Model string
	// Dimensions gives the length of the model's vectors, which may have to be asked for.
	Dimensions func(context.Context) (int, error)
	WriterFile string // keeps this daemon's name among the writers; made if there is none
}

var levels = map[string]entity.ConsistencyLevel{
	"": entity.ClBounded, "bounded": entity.ClBounded, "strong": entity.ClStrong,
	"session": entity.ClSession, "eventually": entity.ClEventually,
}

// credentials are never logged.
type credentials struct{ user, password, token string }

func (c *Config) credentials() (cr credentials, err error) {
	read := func(setting, path string) string {
		if path == "" || err != nil {
			return ""
		}
		data, e := os.ReadFile(path)
		if e != nil {
			err = fmt.Errorf("read l1.milvus.%s: %w", setting, e)
		}
		return strings.TrimRight(string(data), "\r\n")
	}
	cr = credentials{user: c.Username, password: read("password_file", c.PasswordFile), token: read("token_file", c.TokenFile)}
	if err == nil && c.TokenFile != "" && cr.token == "" {
		err = fmt.Errorf("l1.milvus.token_file %s is empty", c.TokenFile)
	}
	return cr, err
}

// tls gives nil for plain text.
func (c *Config) tls() (*tls.Config, error) {
	if !c.TLS {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read l1.milvus.ca_file: %w", err)
	}
	if t.RootCAs, err = x509.SystemCertPool(); err != nil {
		t.RootCAs = x509.NewCertPool() // a system without one
	}
	if !t.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("l1.milvus.ca_file %s holds no PEM certificate", c.CAFile)
	}
	return t, nil
}

var writerName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// writer gives this daemon's name among those who write: random, and kept with the state. A copy of the state on another
// machine would be the same writer.
func (c *Config) writer() (string, error) {
	data, err := os.ReadFile(c.WriterFile)
	if err == nil {
		name := strings.TrimSpace(string(data))
		if !writerName.MatchString(name) {
			return "", fmt.Errorf("%s does not hold a writer's name; remove it to get a new one", c.WriterFile)
		}
		return name, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the writer's name: %w", err)
	}
	var random [8]byte
	rand.Read(random[:]) // never fails
	name := hex.EncodeToString(random[:])
	if err := os.MkdirAll(filepath.Dir(c.WriterFile), 0o700); err != nil {
		return "", fmt.Errorf("keep the writer's name: %w", err)
	}
	part := c.WriterFile + ".part" // renamed, so that no crash leaves half a name
	if err := os.WriteFile(part, []byte(name+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the writer's name: %w", err)
	}
	if err := os.Rename(part, c.WriterFile); err != nil {
		return "", fmt.Errorf("keep the writer's name: %w", err)
	}
	return name, nil
}
