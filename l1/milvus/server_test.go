package milvus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"knowledged/l1"
	"knowledged/l1/l1test"
)

// server is a Milvus of the test's own.
type server struct {
	t   testing.TB
	env []string
}

// ownServer starts one on another port than that of `make milvus-test`, with these settings of scripts/milvus.sh.
func ownServer(t testing.TB, settings ...string) (srv *server, addr string) {
	t.Helper()
	address(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	data := filepath.Join(t.TempDir(), "milvus")
	srv = &server{t: t, env: append([]string{"MILVUS_PORT=" + port, "MILVUS_DATA=" + data}, settings...)}
	t.Cleanup(func() { srv.do("kill"); srv.do("wipe") })
	return srv, srv.do("start")
}

func (s *server) do(command string) string {
	s.t.Helper()
	cmd := exec.Command("../../scripts/milvus.sh", command)
	cmd.Env = append(os.Environ(), s.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("milvus.sh %s: %v\n%s", command, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes a CA and a certificate of 127.0.0.1 by it, as PEM files.
func certificate(t testing.TB) (ca, cert, key string) {
	t.Helper()
	make := func(name string, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, string) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: parent == nil, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		}
		if parent == nil {
			parent, signer = c, k
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &k.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return c, k, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	authority, signer, caPEM := make("test CA", nil, nil)
	_, k, certPEM := make("milvus", authority, signer)
	der, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "ca.pem", caPEM), write(t, "cert.pem", certPEM), write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
}

// TLS with a private CA, passwords and tokens from files that are read anew, and what is said when something is wrong.
func TestTLSAndLogin(t *testing.T) {
	ca, cert, key := certificate(t)
	_, addr := ownServer(t, "MILVUS_AUTH=1", "MILVUS_TLS_CERT="+cert, "MILVUS_TLS_KEY="+key)
	good := Config{
		Address: addr, Username: "root", PasswordFile: write(t, "password", "Milvus\n"), Database: "default", Collection: "tls",
		TLS: true, CAFile: ca, Model: "m", Dimensions: fixed(l1test.Dims), WriterFile: filepath.Join(t.TempDir(), "writer"),
	}
	ids := func(c Config) (string, error) {
		var log logBuffer
		s, err := Open(c, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, err = s.IDs(t.Context())
		return log.String(), err
	}
	if _, err := ids(good); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), good); err != nil {
		t.Errorf("Check: %v", err)
	}
	token := good
	token.Username, token.PasswordFile, token.TokenFile = "", "", write(t, "token", "root:Milvus")
	if _, err := ids(token); err != nil {
		t.Errorf("by token: %v", err)
	}
	if err := dialed(t, good).CreateCredential(t.Context(), "ann", "Annette1"); err != nil {
		t.Fatal(err)
	}
	otherCA, _, _ := certificate(t)
	for _, tc := range []struct {
		name, want string
		spoil      func(*Config)
	}{
		{"wrong password", `does not accept user "root"`, func(c *Config) { c.PasswordFile = write(t, "password", "hunter2-secret") }},
		{"a user whose role lacks the privileges", `user "ann" with the password of l1.milvus.password_file may not do this`, func(c *Config) { c.Username, c.PasswordFile = "ann", write(t, "ann", "Annette1") }},
		{"no password file", "read l1.milvus.password_file", func(c *Config) { c.PasswordFile += ".gone" }},
		{"nobody", "does not accept a client without user", func(c *Config) { c.Username, c.PasswordFile = "", "" }},
		{"wrong token", "does not accept the token", func(c *Config) { *c = token; c.TokenFile = write(t, "token", "root:hunter2-secret") }},
		{"empty token", "is empty", func(c *Config) { *c = token; c.TokenFile = write(t, "token", "\n") }},
		{"plain text against TLS", "wants TLS (l1.milvus.tls)", func(c *Config) { c.TLS = false }},
		{"unknown CA", "is not trusted (l1.milvus.ca_file)", func(c *Config) { c.CAFile = "" }},
		{"another CA", "is not trusted (l1.milvus.ca_file)", func(c *Config) { c.CAFile = otherCA }},
		{"no CA file", "read l1.milvus.ca_file", func(c *Config) { c.CAFile += ".gone" }},
		{"CA file of something else", "holds no PEM certificate", func(c *Config) { c.CAFile = c.PasswordFile }},
		{"TLS against plain text", "speaks plain text", func(c *Config) { c.Address = address(t) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := good
			tc.spoil(&c)
			start := time.Now()
			log, err := ids(c)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			if err := Check(t.Context(), c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Check: %v", err)
			}
			if took := time.Since(start); took > dialTimeout+2*time.Second {
				t.Errorf("took %s", took)
			}
			if strings.Contains(log+fmt.Sprint(err), "hunter2") {
				t.Errorf("the password is told: %v\n%s", err, log)
			}
		})
	}
	// A new password is taken from the file without a restart of the daemon.
	s := opened(t, good)
	if _, err := s.IDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	cl := dialed(t, good)
	if err := cl.UpdateCredential(t.Context(), "root", "Milvus", "Milvus2"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(good.PasswordFile, []byte("Milvus2"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the new password to be used", func() bool {
		s.IDs(t.Context())
		_, err := s.IDs(t.Context())
		return err == nil
	})
}

// A server that limits the rate of writes is waited for; this is no outage.
func TestRateLimit(t *testing.T) {
	_, addr := ownServer(t, "MILVUS_SET=quotaAndLimits.dml.enabled=true\nquotaAndLimits.dml.upsertRate.max=0.2\nquotaAndLimits.dml.insertRate.max=0.2")
	c := Config{Address: addr, Database: "default", Collection: "slow", Model: "m", Dimensions: fixed(l1test.Dims), WriterFile: filepath.Join(t.TempDir(), "writer")}
	s := opened(t, c)
	var rows []l1.Row
	for i := range 400 {
		row := l1test.Row(fmt.Sprint(i), i, "")
		row.Text = strings.Repeat("x", 1000)
		rows = append(rows, row)
	}
	if _, err := s.IDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	ses := s.session.Load()
	for _, part := range [][]l1.Row{rows[:100], rows[100:200], rows[200:300], rows[300:]} {
		if err := s.Upsert(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.IDs(t.Context()); err != nil || len(got) != len(rows) {
		t.Errorf("%d rows, %v", len(got), err)
	}
	if s.session.Load() != ses {
		t.Error("the connection was given up")
	}
}

// SPEC 3.6: a server without room says so, and is filled when there is room again; nothing is lost.
func TestNoRoom_3_6(t *testing.T) {
	srv, addr := ownServer(t)
	c := Config{Address: addr, Database: "default", Collection: "small", Model: "m", WriterFile: filepath.Join(t.TempDir(), "writer")}
	d := start(t, c, documentsOf("alpha"))
	d.idle()
	d.stop()
	srv.do("stop")
	const memory = "quotaAndLimits.limitWriting.memProtection.queryNodeMemory"
	srv.env = append(srv.env, "MILVUS_SET="+memory+"LowWaterLevel=0.000001\n"+memory+"HighWaterLevel=0.000002")
	srv.do("start")
	d.docs.add("beta")
	d = start(t, c, d.docs)
	eventually(t, 90*time.Second, "the state to say that there is no room", func() bool {
		st := d.Status()
		if st.State != l1.StateDown { // it takes the server a few seconds to look at its memory
			d.Changed(d.docs.add(fmt.Sprint(time.Now().UnixNano())), nil)
		}
		return st.State == l1.StateDown && strings.Contains(st.LastError, "takes no more writes")
	})
	d.stop()
	srv.do("stop")
	srv.env = srv.env[:len(srv.env)-1]
	srv.do("start")
	d = start(t, c, d.docs)
	d.idle()
	if got := len(d.rows()); got != len(d.docs.texts) {
		t.Errorf("%d rows of %d chunks", got, len(d.docs.texts))
	}
}
